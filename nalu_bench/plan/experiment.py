"""An experiment: the cells of one published table or figure, and how they are reported.

`experiments/<paper>/<artifact>.yaml` holds these keys:

    title, source      what is reproduced, for headings
    budgets            name -> {seeds, steps, log_every, ramp_scale}: the scales, written out
    cells              groups of cells: {overrides, grid, role, seeds, share, fixed}; a grid is expanded to all
                       combinations
    settings           word -> dotted key of a cell's values: what tells cells apart beyond their tasks (optional)
    report             {kind, ...}: a registered kind of report and its settings

An experiment without cells (`cells: []`) trains nothing: its report is computed from what the `report` block says.
"""

import itertools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from nalu_bench import paths
from nalu_bench.errors import UsageError, unknown

SCALE = {"seeds", "steps", "log_every", "ramp_scale"}


@dataclass(frozen=True)
class CellGroup:
    """Cells that share overrides.

    Attributes:
        overrides: as on the command line, common to all cells.
        grid: key -> values; one cell for every combination.
        role: "cell", or what else the report needs it for ("baseline").
        seeds: how many, where it is not the budget's number.
        share: steps as a multiple of the budget's, where some cells are published with other lengths.
        fixed: whether what the group says also holds against the command line, as a baseline must.
    """

    overrides: list[str]
    grid: dict[str, list[Any]] = field(default_factory=dict)
    role: str = "cell"
    seeds: int | None = None
    share: float = 1.0
    fixed: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.share, bool) or not isinstance(self.share, int | float) or not 0 < self.share < math.inf:
            raise UsageError(f"share of a cell group must be a number above 0, got {self.share}.")

    def expand(self, only: Mapping[str, Collection[str]]) -> list[list[str]]:
        """The overrides of every cell whose grid values are among those in `only`, where it names them."""
        axes = [
            [f"{key}={value}" for value in values if str(value) in only.get(key, [str(value)])]
            for key, values in self.grid.items()
        ]
        return [[*self.overrides, *choice] for choice in itertools.product(*axes)]


@dataclass(frozen=True)
class Experiment:
    """One experiment, as its file says."""

    name: str
    folder: Path
    title: str
    source: str
    budgets: dict[str, dict[str, Any]]
    cells: list[CellGroup]
    report: dict[str, Any]
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def artifact(self) -> str:
        """`table1` of `madsen2020/table1`."""
        return self.name.rpartition("/")[2]

    @property
    def published(self) -> Path:
        """The printed numbers, beside the experiment."""
        return self.folder / f"{self.artifact}.published.csv"

    @property
    def recomputed(self) -> Path:
        """What replaces printed numbers that are miscomputed, beside the experiment; need not exist."""
        return self.folder / f"{self.artifact}.recomputed.csv"


def names() -> list[str]:
    """All experiments, as `<paper>/<artifact>`."""
    return sorted(_files())


def load(name: str) -> Experiment:
    """The experiment called `name`; raises UsageError for an unknown name or key."""
    files = _files()
    if name not in files:
        raise unknown("experiment", name, files)
    try:
        content: Any = OmegaConf.to_container(OmegaConf.load(files[name]))
    except (yaml.YAMLError, OmegaConfBaseException) as error:
        raise UsageError(f"cannot read experiments/{name}.yaml: {error}") from None
    known = [entry.name for entry in fields(Experiment) if entry.name not in ("name", "folder")]
    _check_keys(f"key of experiments/{name}.yaml", content, known)
    for budget, scale in content["budgets"].items():
        if set(scale) != SCALE:
            raise UsageError(f"budget {budget} of {name} must have {', '.join(sorted(SCALE))}, got {', '.join(scale)}.")
    groups = content.pop("cells")
    for group in groups:
        _check_keys(
            f"key of a cell group in experiments/{name}.yaml", group, [entry.name for entry in fields(CellGroup)]
        )
    try:
        return Experiment(name, files[name].parent, cells=[CellGroup(**group) for group in groups], **content)
    except TypeError as error:
        raise UsageError(f"experiments/{name}.yaml must have the keys {', '.join(known)}: {error}.") from None


def _files() -> dict[str, Path]:
    user = paths.user_conf_dir()
    roots = [paths.experiments_dir(), *([user / "experiments"] if user else [])]
    return {path.relative_to(root).with_suffix("").as_posix(): path for root in roots for path in root.glob("*/*.yaml")}


def _check_keys(what: str, given: dict[str, Any], known: list[str]) -> None:
    for key in given:
        if key not in known:
            raise unknown(what, key, known)
