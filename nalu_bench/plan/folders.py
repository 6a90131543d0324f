"""Folders of configurations and experiments: the shipped ones, those inside installed packages, and the user's own.

An installed package brings a folder of the layout of `conf/` by an entry point, whose value is the folder's dotted
name::

    [project.entry-points."nalu_bench.conf"]
    my_unit = "my_unit.conf"

The package is found, but not imported, so that looking at names stays fast. The variable NALU_BENCH_CONF names one more
such folder. The subfolder `experiments/` of each holds experiments. Folders add names; none takes another's place.
"""

import functools
import importlib.util
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import yaml

from nalu_bench import errors, paths, registry
from nalu_bench.errors import UsageError, taken
from nalu_bench.files import read_text

ENTRY_POINTS = "nalu_bench.conf"
"""The group of entry points that name folders inside packages."""

EXPERIMENTS = "experiments"

PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's where it is there: it takes a tenth of the time."""

MOST_VALUES = 1_000_000
"""Keys and values of a YAML file; the largest that are shipped have some thousands."""


@dataclass(frozen=True)
class Installed:
    """What installed packages bring.

    Attributes:
        folders: their folders of configurations.
        lost: a sentence for each package whose folder cannot be found; only its own names are lost.
    """

    folders: tuple[Path, ...]
    lost: tuple[str, ...]


def of_configurations() -> tuple[Path, ...]:
    """The shipped folder, those of installed packages, and the user's, each once.

    Raises:
        UsageError if two of them hold a file of one name: one would be ignored, and it might be the base of another.
    """
    found = (paths.conf_dir(), *_others())
    _refuse_one_name(found)
    return found


def of_experiments() -> tuple[Path, ...]:
    """The shipped folder of experiments, and those in the other folders of configurations."""
    return (paths.experiments_dir(), *(folder / EXPERIMENTS for folder in _others()))


@functools.cache
def installed() -> Installed:
    """What the packages bring that are installed now, in the order of the names of their entry points."""
    folders: list[Path] = []
    points = registry.installed(ENTRY_POINTS)
    lost = [*points.lost]
    for point in sorted(points.points, key=lambda point: (point.name, point.value)):
        try:
            folders += _inside_package(point.value)
        except (Exception, SystemExit) as error:  # another package's way to be imported may raise anything
            lost.append(_without(point, error))
    return Installed(tuple(folders), tuple(lost))


def files(group: str) -> dict[str, Path]:
    """Name -> YAML file of all that a group offers: shipped, of installed packages and the user's."""
    found = {path.stem: path for folder in of_configurations() for path in (folder / group).glob("*.yaml")}
    return dict(sorted(found.items()))


@functools.cache
def values(path: Path) -> dict[str, Any]:
    """The keys and values of a YAML file; raises UsageError if it cannot be read."""
    content = text(path)
    try:
        found = yaml.safe_load(content)
    except (ValueError, yaml.YAMLError) as error:  # ValueError: no date, such as 2026-02-30
        raise UsageError(f"{path} must be YAML in UTF-8: {error}.") from None
    return found if isinstance(found, dict) else {}


def text(path: Path) -> str:
    """The text of a YAML file; raises UsageError if it cannot be read, or if its aliases stand for too much."""
    try:
        found = read_text(path)
        count = _count(yaml.compose(found, PARSER), {})
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:  # the latter for one that is nested too deep
        raise UsageError(f"{path} must be YAML in UTF-8: {error}.") from None
    if count > MOST_VALUES:
        raise UsageError(
            f"{path} must hold at most {MOST_VALUES:,} keys and values, and with what its aliases (*name) stand for it "
            f"has {count:,}; write out what is needed."
        )
    return found


def _count(node: Any, seen: dict[int, int]) -> int:
    """Keys and values below a node of YAML; one that has several places counts at each of them."""
    if id(node) not in seen:
        seen[id(node)] = 0  # one that holds itself would be counted for ever
        inner = getattr(node, "value", ())
        below = itertools.chain.from_iterable(inner) if isinstance(node, yaml.MappingNode) else inner
        seen[id(node)] = 1 + (0 if isinstance(inner, str) else sum(_count(one, seen) for one in below))
    return seen[id(node)]


def stated(path: Path) -> dict[str, Any]:
    """The keys and values of a YAML file that nobody has chosen; none if it cannot be read."""
    try:
        return values(path)
    except UsageError:
        return {}


def unknown(what: str, given: str, known: Iterable[str]) -> UsageError:
    """The error for an unknown name, with the packages that may have brought it and cannot be found."""
    return UsageError(" ".join([str(errors.unknown(what, given, known)), *installed().lost]))


def _others() -> tuple[Path, ...]:
    """All folders of configurations but the shipped one, each once."""
    user = paths.user_conf_dir()
    found = [folder.resolve() for folder in (*installed().folders, *([user] if user else []))]
    return tuple(folder for folder in dict.fromkeys(found) if folder != paths.conf_dir().resolve())


def _inside_package(name: str) -> list[Path]:
    """The folder of this dotted name; several if the package is spread over several places."""
    package, *inner = name.split(".")
    spec = importlib.util.find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        raise UsageError(f"there is no package {package}")
    places = [Path(place, *inner) for place in spec.submodule_search_locations]
    found = [place for place in places if next(place.rglob("*.yaml"), None)]
    if not found:
        raise UsageError(f"there is no YAML file in {' or '.join(map(str, places))}")
    return found


def _without(point: EntryPoint, error: BaseException) -> str:
    package = point.dist.name if point.dist else point.name
    why = error if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
    return (
        f"The configurations of the package {package} cannot be found: the entry point {point.name} of the group "
        f"{ENTRY_POINTS} must name a folder inside a package, such as my_unit.conf, got {point.value}: {why}; "
        f"mend {package}, or uninstall it."
    )


@functools.cache
def _refuse_one_name(folders: tuple[Path, ...]) -> None:
    first: dict[Path, Path] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*.yaml")):
            name = path.relative_to(folder)
            if name.parts[0] != EXPERIMENTS and first.setdefault(name, path) != path:
                raise taken(name.parent.name or "configuration", name.stem, first[name], path)
