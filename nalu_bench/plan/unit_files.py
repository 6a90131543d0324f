"""Units as configurations: `conf/unit/<name>.yaml` says what a unit is called, how it is built and what penalises it.

A model refers to them by name, as `of: nau`, or `of: [nau, nmu]` for one at each of its places. A model with `of: []`
is a shape, such as `two_layer`; `unit=` on the command line fills it.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from nalu_bench.errors import UsageError
from nalu_bench.models.model import Penalty
from nalu_bench.plan import folders
from nalu_bench.plan.names import check_texts
from nalu_bench.plan.schemas import filled

GROUP = "unit"

SHAPE = "two_layer"
"""The shape of `unit=` alone."""


@dataclass
class UnitFile:
    """The keys of a unit's file.

    Attributes:
        unit: the registered name of the class. options: arguments of its constructor other than the two sizes.
        label, look: as in a model's file; they are those of a model of this unit alone.
        penalties: the authors' factor for each of its regularisers.
    """

    unit: str
    options: dict[str, Any] = field(default_factory=dict)
    label: str = ""
    look: int = -1
    penalties: dict[str, Penalty] = field(default_factory=dict)


def files() -> dict[str, Path]:
    """Name -> file of every unit: shipped, of installed packages and the user's."""
    return folders.files(GROUP)


def load(name: str) -> UnitFile:
    """The unit called `name`.

    Raises:
        UsageError for an unknown name, and for a file with wrong or missing keys.
    """
    path = folders.file(GROUP, name)
    if path is None:
        raise folders.unknown(GROUP, name, files())
    return _read(path)


@functools.cache
def _read(path: Path) -> UnitFile:
    where = f"unit/{path.name}"
    try:
        folders.text(path)
        content = OmegaConf.to_container(OmegaConf.load(path))
    except (yaml.YAMLError, OmegaConfBaseException, UsageError, OSError, ValueError) as error:
        raise UsageError(f"cannot read {where}, which must be YAML in UTF-8 with keys and values: {error}") from None
    check_texts(where, content)
    return filled(UnitFile, content, where)


def names_of(of: Any) -> list[str]:
    """The names in the key `of`, or behind `unit=`."""
    return [str(of)] if isinstance(of, str) or not isinstance(of, Sequence) else [str(name) for name in of]


def placed(places: Mapping[str, int], names: Sequence[str]) -> dict[str, Any]:
    """Key of a model -> its value, with these units there; `penalties` are those of all units, the last one's first.

    Args:
        places: see `Model.places`. names: one unit for all places, or one for each.

    Raises:
        UsageError for another number of units.
    """
    count = sum(places.values())
    if len(names) not in (1, count):
        told = f"one unit, or {count} as [NAME,...] for {' and '.join(places)}" if count > 1 else "one unit"
        raise UsageError(f"unit= must name {told}, got {', '.join(names)}.")
    units = [load(name) for name in (names if len(names) == count else [*names] * count)]
    layers = iter([{"unit": unit.unit, "options": dict(unit.options)} for unit in units])
    penalties = {name: asdict(penalty) for unit in units for name, penalty in unit.penalties.items()}
    found = {key: [next(layers) for _ in range(number)] for key, number in places.items()}
    return {key: value if places[key] > 1 else value[0] for key, value in found.items()} | {"penalties": penalties}


def differing(names: Sequence[str]) -> dict[str, str]:
    """Penalty -> a sentence, for those of which the files of these units state several factors: the last one holds."""
    told = {}
    for penalty, last in ((one, unit) for unit in names for one in load(unit).penalties):
        factors = {unit: load(unit).penalties[penalty] for unit in names if penalty in load(unit).penalties}
        if any(factor != factors[last] for factor in factors.values()):
            weights = ", ".join(f"{unit} {factor.weight:g}" for unit, factor in factors.items())
            told[penalty] = (
                f"the factor of a penalty holds for all units of a model, and they state several for {penalty} "
                f"(weight: {weights}; start and end may differ, too); it is that of {last}. To choose it, set "
                f"model.penalties.{penalty}.weight=..., or state it in a file of conf/model."
            )
    return told


def called(shape: str, names: Sequence[str]) -> str:
    """The name of a shape with these units: that of the model file which says just this, else `two_layer-nac-nmu`.

    The file may also state the factors in which its units differ.
    """
    short = {"defaults", "name", "label", "look", "of", "penalties"}
    differ = set(differing(names))
    for name, path in folders.files("model").items():
        values = folders.stated(path)
        same = values.get("defaults") in ([shape], [shape, "_self_"]) and values.keys() <= short
        same = same and set(values.get("penalties") or {}) <= differ
        if same and "of" in values and names_of(values["of"]) == list(names):
            return name
    return "-".join([shape, *names])
