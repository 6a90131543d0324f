"""An experiment: the cells of one published table or figure, and their report.

`experiments/<paper>/<artifact>.yaml` holds the keys of `File`. An experiment without cells (`cells: []`) trains
nothing: its report is computed from what the `report` block says. Printed numbers stand beside the experiment, in
`<artifact>.published.csv`; an experiment without that file gets no verdicts.
"""

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from nalu_bench import paths
from nalu_bench.errors import UsageError, taken, unknown
from nalu_bench.plan import folders, grammar
from nalu_bench.plan.names import NAME, check_name, check_texts
from nalu_bench.plan.schemas import filled

DEFAULT_BUDGET = "short"
"""The budget if none is given."""

UNREADABLE = "cannot be read, see nalu-bench status"

LONGEST = 300
"""Letters of a title or a source, which stand above every table."""

TAKEN = ("task", "setting", "operation", "model", "split", "metric", "seed", "status")
"""Columns of tables and runs, which no word of a setting may have."""

LEAST_SHARE = 0.2
"""The share of the steps of the full scale from which on anything is compared (our choice)."""

COMMANDS = ("budget", "experiment")
"""Keys that are the command's to choose, and no cell's."""

OWN_WIDTH = "device.width"
"""The setting of a machine that is among the words of results: blocks of another width have other bits."""


@dataclass
class Budget:
    """An explicit scale: how many seeds and steps, how often to evaluate, how far to shorten the penalties' ramps."""

    seeds: int
    steps: int
    log_every: int
    ramp_scale: float


@dataclass
class OwnBudget(Budget):
    """A budget of an experiment's own.

    Attributes:
        overrides: further values of its cells, as on the command line, such as smaller data.
    """

    overrides: list[str] = field(default_factory=list)


@dataclass
class CellGroup:
    """Cells that share overrides.

    Attributes:
        overrides: as on the command line, common to all cells.
        grid: key -> values; one cell for every combination.
        cases: further overrides of values that go together; one cell for every case and combination.
        role: "cell", or another use that the report makes of it, such as "baseline".
        seeds: number of seeds; None for the budget's.
        share: factor on the budget's steps, for cells that were published with another length.
        fixed: whether the group's values win over the command line, as those of a baseline must.
    """

    overrides: list[str]
    grid: dict[str, list[Any]] = field(default_factory=dict)
    cases: list[list[str]] = field(default_factory=lambda: [[]])
    role: str = "cell"
    seeds: int | None = None
    share: float = 1.0
    fixed: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.share, bool) or not isinstance(self.share, int | float) or not 0 < self.share < math.inf:
            raise UsageError(f"share of a cell group must be a number above 0, got {self.share}.")
        if empty := [key for key, values in self.grid.items() if not values]:
            raise UsageError(f"grid of a cell group must list values for {', '.join(empty)}, got none.")
        if not self.cases:
            raise UsageError("cases of a cell group must hold a list of overrides, got none; leave cases out.")

    def swept(self) -> dict[str, set[str]]:
        """Key -> its values, for the keys of the grid and those of which the cases have several."""
        found = {key: set(map(str, values)) for key, values in self.grid.items()}
        for key, value in (pair for case in self.cases for pair in grammar.pairs(case)):
            found.setdefault(key, set()).add(str(value))
        return {key: values for key, values in found.items() if key in self.grid or len(values) > 1}

    def expand(self, only: Mapping[str, Collection[str]]) -> Iterator[list[str]]:
        """Yield the overrides of every cell whose values are among those in `only`, where it names them.

        What a baseline or a reference sets outside of its grid and cases leaves none out: these belong to all cells.
        """
        axes = [
            [f"{key}={_written(value)}" for value in values if _is_among([(key, value)], only)]
            for key, values in self.grid.items()
        ]
        common = grammar.pairs(self.overrides) if self.role == "cell" else []
        cases = [case for case in self.cases if _is_among([*common, *grammar.pairs(case)], only)]
        return ([*self.overrides, *case, *choice] for case in cases for choice in itertools.product(*axes))


def _is_among(pairs: Iterable[grammar.Pair], only: Mapping[str, Collection[str]]) -> bool:
    """Whether each value is one of those that `only` has for its key, or `only` has none for it."""
    return all(str(value) in only.get(key, [str(value)]) for key, value in pairs)


def _written(value: Any, inner: bool = False) -> str:
    """A value of a grid as it is written on the command line; a text inside of a list stands in quotes."""
    if isinstance(value, list):
        return f"[{', '.join(_written(each, inner=True) for each in value)}]"
    return "null" if value is None else repr(value) if inner else str(value)


PLACES = ("{number}", "{percent}", "{points}")
"""Where a sentence in plain words has our number."""

PLACE = "{place}"
"""Where it names the places on which the tests of a claim on several are decided."""

EVERYWHERE = "{everywhere}"
"""Where a sentence has the number of each place of a claim on several, or the range of its numbers in several tests."""


@dataclass
class Plain:
    """A claim for readers who do not know the paper.

    Attributes:
        asks: the question that it helps to answer, the same text for all claims about one thing.
        says: the claim in a sentence.
        found: a sentence with our number in it: `{number}`, `{percent}` for a share, or `{points}` for a difference of
            shares. For a claim on several places `{place}` names those whose numbers decide. It says nothing that
            another number would make false.
        places: for a claim on several places, a further sentence with the number of each, `{everywhere}`. A picture
            has no room for it.
        over: where its tests are, if there are several, in words such as `on distributions of inputs`.
    """

    asks: str
    says: str
    found: str
    places: str = ""
    over: str = "in tests"

    def __post_init__(self) -> None:
        left = self.found.replace(PLACE, "", 1)
        length = len(left)
        for place in PLACES:
            left = left.replace(place, "", 1)
        if length - len(left) not in map(len, PLACES) or "{" in left or "}" in left:
            raise UsageError(f"found of a claim must hold one of {', '.join(PLACES)}, once, got {self.found!r:.200}.")
        if self.places and self.places.count(EVERYWHERE) != 1:
            raise UsageError(f"places of a claim must hold {EVERYWHERE}, once, got {self.places!r:.200}.")
        if len(self.over.split()) < 2:
            raise UsageError(f"over of a claim must be words such as in tests, got {self.over!r:.200}.")


@dataclass
class File:
    """The keys of an experiment's file.

    Attributes:
        title, source: of the table or figure that is reproduced, for headings.
        budgets: by name; `paper` is the published protocol where it is known.
        cells: groups of cells.
        report: a registered kind of report and its settings.
        settings: word -> dotted key of a value that distinguishes cells, beside those of their tasks.
        usual: word of the settings -> the value that goes without saying. A cell with this value leaves the word out.
        remarks: what a reader of the report must know, each a sentence without its full stop.
        least_share: the share of the steps of the full scale from which on anything is compared.
        excerpt: the experiments that have all of its cells and printed numbers, if there are such. Its results are
            never committed, so that no printed number counts twice.
        plain: metric of a claim in words -> the claim in plain ones, for the index.
    """

    title: str = field(metadata={"must": "a text"})
    source: str = field(metadata={"must": "a text"})
    budgets: dict[str, OwnBudget] = field(
        metadata={"must": "a mapping of names to {seeds, steps, log_every, ramp_scale, overrides}"}
    )
    cells: list[CellGroup] = field(
        metadata={"must": "a list of {overrides, grid, cases, role, seeds, share, fixed}, grid a mapping of lists"}
    )
    report: dict[str, Any] = field(metadata={"must": "a mapping with a kind and its settings"})
    settings: dict[str, str] = field(
        default_factory=dict, metadata={"must": "a mapping of words to dotted keys of a cell"}
    )
    usual: dict[str, Any] = field(default_factory=dict, metadata={"must": "a mapping of words of settings to values"})
    remarks: list[str] = field(default_factory=list, metadata={"must": "a list of texts"})
    least_share: float = field(default=LEAST_SHARE, metadata={"must": "a number"})
    excerpt: list[str] = field(default_factory=list, metadata={"must": "a list of experiments"})
    plain: dict[str, Plain] = field(
        default_factory=dict, metadata={"must": "a mapping of claims to {asks, says, found}"}
    )


@dataclass(frozen=True)
class Experiment:
    """One experiment, with the contents of its file; `local` if it has none, and its results are never committed."""

    name: str
    folder: Path
    title: str
    source: str
    budgets: dict[str, dict[str, Any]]
    cells: list[CellGroup]
    report: dict[str, Any]
    settings: dict[str, str] = field(default_factory=dict)
    usual: dict[str, Any] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    least_share: float = LEAST_SHARE
    excerpt: list[str] = field(default_factory=list)
    plain: dict[str, Plain] = field(default_factory=dict)
    local: bool = False

    @property
    def heading(self) -> str:
        """What is reproduced and where it stands, for the headings of tables: `Title (Paper, Table 1)`."""
        return f"{self.title} ({self.source})"

    @property
    def about(self) -> str:
        """The same for lists: `Paper, Table 1: Title`."""
        return f"{self.source}: {self.title}"

    @property
    def artifact(self) -> str:
        """`table1` of `madsen2020/table1`."""
        return self.name.rpartition("/")[2]

    @property
    def published(self) -> Path:
        """The file of the printed numbers, beside the experiment; it need not exist."""
        return self.folder / f"{self.artifact}.published.csv"

    @property
    def recomputed(self) -> Path:
        """The file with replacements of miscomputed printed numbers, beside the experiment; it need not exist."""
        return self.folder / f"{self.artifact}.recomputed.csv"

    @property
    def seeds(self) -> Path:
        """The file with every seed behind the printed numbers, beside the experiment; it need not exist."""
        return self.folder / f"{self.artifact}.seeds.csv"

    @property
    def page(self) -> Path:
        """What the source leaves open, what was chosen and what came out: a page of its own, or that of the paper."""
        own = self.folder / f"{self.artifact}.md"
        return own if own.exists() else self.folder / "README.md"

    @property
    def criterion(self) -> str:
        """The name of the task's threshold by which a run counts as solved."""
        return str(self.report.get("criterion", "task"))

    @property
    def printed_steps(self) -> int:
        """Steps of the published protocol: those of the budget `paper`, else of the largest budget."""
        largest = max(self.budgets, key=self.work)
        return int(self.budgets["paper" if "paper" in self.budgets else largest]["steps"])

    @property
    def printed_lengths(self) -> frozenset[int]:
        """Steps of its cells in the published protocol: those of a group with a `share` are others."""
        return frozenset(round(self.printed_steps * group.share) for group in self.cells)

    def swept(self) -> dict[str, set[str]]:
        """Key -> the values that its cells have there; an override of such a key chooses among them."""
        found: dict[str, set[str]] = {}
        for key, values in (pair for group in self.cells for pair in group.swept().items()):
            found.setdefault(key, set()).update(values)
        return found

    def changes(self, overrides: Iterable[str]) -> list[str]:
        """The overrides that change its cells: those that neither choose among them nor set seeds or their blocks."""
        kept = {*self.swept(), "seeds", "first_seed", OWN_WIDTH}
        return [text for text in overrides if text.partition("=")[0].strip(" +") not in kept]

    def work(self, budget: str) -> int:
        """Steps of one of its budgets, over all seeds."""
        return int(self.budgets[budget]["seeds"] * self.budgets[budget]["steps"])

    def budget(self, given: object) -> str:
        """The budget called `given`, or the default for None; raises UsageError if there is none of that name."""
        if given is None and DEFAULT_BUDGET not in self.budgets:
            names = ", ".join(sorted(self.budgets)) or "(none)"
            raise UsageError(f"{self.name} has no budget {DEFAULT_BUDGET}: choose budget= one of {names}.")
        name = DEFAULT_BUDGET if given is None else str(given)
        if name not in self.budgets:
            raise unknown(f"budget of {self.name}", name, self.budgets)
        return name


def names() -> list[str]:
    """All experiments that can be run, as `<paper>/<artifact>`."""
    return sorted(_named(_files()))


def shipped() -> set[str]:
    """The names of this project's own experiments."""
    return {name for name, path in _files().items() if path.is_relative_to(paths.experiments_dir())}


def about(name: str) -> str:
    """Title and source of an experiment in a line; its file is not checked."""
    try:
        content = folders.parsed(folders.text(_files()[name]))
        title, source = content["title"], content["source"]
    except (UsageError, yaml.YAMLError, ValueError, KeyError, TypeError):
        return UNREADABLE
    return f"{title} ({source})" if isinstance(title, str) and isinstance(source, str) else UNREADABLE


def load(name: str) -> Experiment:
    """The experiment called `name`.

    Raises:
        UsageError for an unknown name, for a file that cannot be read, and for wrong or missing keys.
    """
    files = _files()
    if name not in files:
        raise folders.unknown("experiment", name, _named(files))
    for part in name.split("/"):
        check_name(part)
    where = f"experiments/{name}.yaml"
    try:
        folders.text(files[name])
        content = OmegaConf.to_container(OmegaConf.load(files[name]))
    except (yaml.YAMLError, OmegaConfBaseException, UsageError, OSError, ValueError, RecursionError) as error:
        raise UsageError(f"cannot read {where}, which must be YAML in UTF-8 with keys and values: {error}") from None
    check_texts(where, content)
    read = filled(File, content, where)
    if not read.budgets:
        raise UsageError(f"{where} must set at least one budget.")
    if not isinstance(read.report.get("kind"), str):
        raise UsageError(f"{where}: report must be a mapping with a kind and its settings, got {read.report}.")
    if not 0 < len(read.title) <= LONGEST or not 0 < len(read.source) <= LONGEST:
        raise UsageError(f"{where}: title and source must have 1 to {LONGEST} letters.")
    if not 0 < read.least_share <= 1:
        raise UsageError(f"{where}: least_share must be above 0 and at most 1, got {read.least_share:g}.")
    for group in read.cells:
        check_name(group.role)
        texts = [*group.overrides, *group.grid, *(str(text) for case in group.cases for text in case)]
        if chosen := [text for text in texts if text.partition("=")[0].partition(".")[0] in COMMANDS]:
            raise UsageError(f"{where}: a cell cannot choose its budget, which the command does, got {chosen[0]}.")
    for word, key in read.settings.items():
        check_name(word)
        if word in TAKEN:
            raise UsageError(f"{where}: settings must have words of their own, and {word} is a column of every table.")
        if not isinstance(key, str):
            raise UsageError(f"{where}: settings must name a dotted key of a cell for {word}, got {key}.")
    for word in read.usual:
        if word not in read.settings:
            raise unknown(f"word of usual in {where}", word, read.settings)
    for other in read.excerpt:
        if other not in files or other == name:
            raise unknown(f"experiment of excerpt in {where}", str(other), [each for each in files if each != name])
    budgets = {budget: _stated(values) for budget, values in read.budgets.items()}
    return Experiment(
        name, files[name].parent, read.title, read.source, budgets, read.cells, read.report, read.settings, read.usual,
        read.remarks, read.least_share, read.excerpt, read.plain,
    )  # fmt: skip


def _stated(budget: OwnBudget) -> dict[str, Any]:
    """The values of a budget, without `overrides` if it has none."""
    return {key: value for key, value in asdict(budget).items() if key != "overrides" or value}


def _named(names: Iterable[str]) -> list[str]:
    """Those of the names that commands can say."""
    return [name for name in names if all(NAME.fullmatch(part) for part in name.split("/"))]


def _files() -> dict[str, Path]:
    """Name -> file of every experiment.

    Raises:
        UsageError if two experiments have one name: both would write to one folder in `results/`.
    """
    found: dict[str, Path] = {}
    for root in folders.of_experiments():
        for path in root.glob("*/*.yaml"):
            name = path.relative_to(root).with_suffix("").as_posix()
            if found.setdefault(name, path) != path:
                raise taken("experiment", name, found[name], path)
    return found
