"""nalu-bench list: what configurations can name, a page of all kinds, or everything of one."""

import argparse
import sys
import textwrap
from collections.abc import Iterable, Sequence

from nalu_bench import paths, registry
from nalu_bench.errors import UsageError, in_a_line, unknown
from nalu_bench.verbs import asked
from nalu_bench.verbs.families import folded

NAME, WIDTH = 26, 100
"""Columns of a name, and of the whole page."""

LINES = 60
"""Lines of the page of all kinds."""

FEWEST, MOST = 3, 12
"""The fewest names that are folded: as small as the page allows."""

FURTHER = "every name, and what it is: nalu-bench list KIND, such as nalu-bench list model"

Names = dict[str, bool]
"""Name -> whether this project ships it."""


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    others = ", ".join(registry.LISTED)
    parser = verbs.add_parser("list", help="show what tasks, models, experiments ... there are")
    parser.add_argument("kind", nargs="?", help=f"task, model, recipe, budget, device, unit, experiment, {others}")
    parser.set_defaults(command=names)


def names(options: argparse.Namespace) -> int:
    """Print every name of a kind with a description; of all kinds a page, with families of names folded."""
    from nalu_bench.plan import folders

    kinds = [*folders.GROUPS, "unit", "experiment", *registry.LISTED]
    if options.kind is not None and options.kind not in kinds:
        raise unknown("kind", options.kind, kinds)
    lines = _all_of(options.kind) if options.kind else page({kind: _names(kind) for kind in kinds})
    print(*lines, sep="\n", flush=True)
    for reason in folders.installed().lost:
        print(f"warning: {in_a_line(reason)}", file=sys.stderr)
    return 0


def page(kinds: dict[str, Names], most: int = LINES) -> list[str]:
    """The lines of all kinds: those of the least folding that leaves no more than so many, else the shortest."""
    found: list[list[str]] = []
    for own_lines in (True, False):
        for fewest in range(FEWEST, MOST):
            lines = [line for kind, each in kinds.items() for line in _folded(kind, each, fewest, own_lines)]
            if len(lines) < most:
                return [*lines, FURTHER]
            found.append(lines)
    return [*min(found, key=len), FURTHER]


def _folded(kind: str, names: Names, fewest: int, own_lines: bool) -> list[str]:
    """A kind: names alone, a line for each family, and a line for each name of a user's own, or these among the others.

    A user's own names are in no family.
    """
    own = [name for name, shipped in names.items() if not shipped]
    alone, families = folded([name for name, shipped in names.items() if shipped], fewest)
    among = alone if own_lines else [*own, *alone]
    lines = textwrap.wrap(
        f"{f'{kind}:':12} {', '.join(map(in_a_line, among))}", WIDTH, subsequent_indent=" " * 13,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    for family in families:
        told = f"{len(family.members)}, such as {family.members[0]}: {_about(kind, family.members[0])}"
        lines.append(_line(family.pattern, told))
    return [*lines, *(_line(name, _about(kind, name)) for name in (own if own_lines else []))]


def _names(kind: str) -> Names:
    from nalu_bench.plan import experiment, folders

    if kind == "experiment":
        shipped = experiment.shipped()
        return {name: name in shipped for name in experiment.names()}
    if kind in registry.LISTED:
        return {name: entry.version is not None for name, entry in sorted(registry.LISTED[kind].entries.items())}
    return {name: path.is_relative_to(paths.conf_dir()) for name, path in folders.files(kind).items()}


def _about(kind: str, name: str) -> str:
    """What a name is, in a line."""
    from nalu_bench.plan import described, experiment

    if kind == "experiment":
        return experiment.about(name)
    return registry.LISTED[kind].entries[name].about() if kind in registry.LISTED else described.about(kind, name)


def _all_of(kind: str) -> list[str]:
    """Every name of a kind, with all that is told of it."""
    found = {name: [_about(kind, name), *(_outcome(name) if kind == "experiment" else [])] for name in _names(kind)}
    return [f"{kind}:", *(_entry(name, lines) for name, lines in found.items())]


def _outcome(name: str) -> Sequence[str]:
    """What an experiment cost and what it found; results that are damaged are named, and cost no other its line."""
    from nalu_bench.analysis import folders, outcome

    try:
        found = [outcome.told(folder) for folder in folders.committed(paths.results_dir(), name)]
    except UsageError as error:
        return [str(error)]
    return found[:1] or ["no results yet"]


def _entry(name: str, lines: Iterable[str]) -> str:
    """A name, and beside it its lines, each wrapped."""
    wrapped = [part for line in map(in_a_line, lines) for part in textwrap.wrap(line, WIDTH - NAME - 3) or [""]]
    name = in_a_line(name)
    first = f"  {name:{NAME}} "
    if len(name) > NAME:
        wrapped, first = ["", *wrapped], f"  {name}"
    return "\n".join([f"{first}{wrapped[0]}".rstrip(), *(f"  {'':{NAME}} {line}" for line in wrapped[1:])])


def _line(name: str, about: str) -> str:
    """A name, and what is told of it as far as it fits beside it."""
    whole = f"  {in_a_line(name):{NAME}} {in_a_line(about)}".rstrip()
    return whole if len(whole) <= WIDTH else f"{whole[: WIDTH - 1].rpartition(' ')[0]} …"
