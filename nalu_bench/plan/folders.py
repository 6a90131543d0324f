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
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, ClassVar

import yaml

from nalu_bench import errors, paths, registry
from nalu_bench.errors import UsageError, named, taken
from nalu_bench.files import read_text, require_file

ENTRY_POINTS = "nalu_bench.conf"
"""The group of entry points that name folders inside packages."""

GROUPS = ("task", "model", "recipe", "budget", "device")
"""The groups of which a configuration has one file each."""

EXPERIMENTS = "experiments"

TAG = "tag:yaml.org,2002:"
NUMBERS = {f"{TAG}int", f"{TAG}float"}
TAGS = NUMBERS | {f"{TAG}{kind}" for kind in ("map", "seq", "str", "bool", "null", "merge")}
"""What YAML may hold here; others are sets, dates by a tag, bytes, and objects of programs."""

PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's where it is there: it takes a tenth of the time."""


class Parser(PARSER):  # type: ignore[misc]
    """YAML's safe loader, which leaves dates as texts, as OmegaConf does."""

    yaml_implicit_resolvers: ClassVar = {
        sign: [one for one in known if one[0] != f"{TAG}timestamp"]
        for sign, known in PARSER.yaml_implicit_resolvers.items()
    }


MOST_VALUES = 1_000_000
"""Keys and values of a YAML file; the largest that are shipped have some thousands."""

MOST_LEVELS, LONG = 1_000, 10_000
"""Levels of a YAML file: libyaml ends the program if there are some ten thousands, which takes a long text."""


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


def file(group: str, name: str) -> Path | None:
    """The YAML file of one name of a group, as in `files`; None if there is none."""
    if Path(name).name != name:
        return None
    paths = (folder / group / f"{name}.yaml" for folder in of_configurations())
    return next(filter(Path.exists, paths), None)


@functools.cache
def values(path: Path) -> dict[str, Any]:
    """The keys and values of a YAML file; raises UsageError if it cannot be read."""
    content = text(path)
    try:
        found = parsed(content)
    except (ValueError, yaml.YAMLError) as error:
        raise UsageError(f"{path} must be YAML in UTF-8: {error}.") from None
    return found if isinstance(found, dict) else {}


def parsed(content: str) -> Any:
    """The values of a YAML text."""
    return Parser(content).get_single_data()


def text(path: Path) -> str:
    """The text of a YAML file.

    Raises:
        UsageError if it cannot be read, if its aliases stand for too much, or if a value is not what it seems to be.
    """
    try:
        found = read_text(require_file(path))
        _refuse_deep(found)
        root = yaml.compose(found, Parser)
        count, nodes = _count(root, {}), list(_nodes(root, set()))
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:  # the latter for one that is nested too deep
        raise UsageError(f"{path} must be YAML in UTF-8: {error}.") from None
    if _loops(root, set(), set()):
        raise UsageError(f"{path} must hold values that end, and an alias (*name) stands inside of what it names.")
    if count > MOST_VALUES:
        raise UsageError(
            f"{path} must hold at most {MOST_VALUES:,} keys and values, and with what its aliases (*name) stand for it "
            f"has {count:,}; write out what is needed."
        )
    for node in nodes:
        if why := _surprise(node):
            raise UsageError(f"{path}, line {node.start_mark.line + 1}: {why}.")
    return found


def _refuse_deep(found: str) -> None:
    """Raise ValueError for a text of too many levels."""
    level = 0
    for event in yaml.parse(found, Parser) if len(found) > LONG else ():
        level += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if level > MOST_LEVELS:
            raise ValueError(f"it must have at most {MOST_LEVELS:,} levels")


def _nodes(node: Any, seen: set[int]) -> Iterator[Any]:
    """A node of YAML and all below it, each once."""
    if node is None or id(node) in seen:
        return
    seen.add(id(node))
    yield node
    if not isinstance(node, yaml.ScalarNode):
        inner = itertools.chain.from_iterable(node.value) if isinstance(node, yaml.MappingNode) else node.value
        for one in inner:
            yield from _nodes(one, seen)


def _surprise(node: Any) -> str:
    """Why a value is not what it seems to be: a number in base 60 or 8, or something that files here do not hold."""
    if node.tag not in TAGS:
        tag = node.tag.replace(TAG, "!!")
        return f"values must be texts, numbers, truth values, null, lists and mappings, got {tag}; leave the tag out"
    if node.tag in NUMBERS and (":" in node.value or re.fullmatch(r"[-+]?0[0-7_]+", node.value)):
        return (
            f"YAML takes {node.value} for {parsed(node.value)}, as of base {60 if ':' in node.value else 8}; "
            "write the number that is meant, or a text in quotes"
        )
    return ""


def _loops(node: Any, above: set[int], done: set[int]) -> bool:
    """Whether a node of YAML holds itself. `above`: those that hold it; `done`: those that are known not to."""
    if node is None or isinstance(node, yaml.ScalarNode) or id(node) in done:
        return False
    if id(node) in above:
        return True
    inner = itertools.chain.from_iterable(node.value) if isinstance(node, yaml.MappingNode) else node.value
    found = any(_loops(one, above | {id(node)}, done) for one in inner)
    done.add(id(node))
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
    why = error if isinstance(error, UsageError) else named(error)
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
