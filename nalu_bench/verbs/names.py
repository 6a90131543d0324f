"""nalu-bench list: what configurations can name, a line each."""

import argparse
import sys
import textwrap
from collections.abc import Iterable

from nalu_bench import paths, registry
from nalu_bench.errors import in_a_line, unknown
from nalu_bench.verbs import asked

NAME, WIDTH = 26, 100
"""Columns of a name, and of the whole page."""


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    others = ", ".join(registry.LISTED)
    parser = verbs.add_parser("list", help="show what tasks, models, experiments ... there are")
    parser.add_argument("kind", nargs="?", help=f"task, model, recipe, budget, device, unit, experiment, {others}")
    parser.set_defaults(command=names)


def names(options: argparse.Namespace) -> int:
    """Print every name of a kind, or of all kinds, with a description."""
    from nalu_bench.plan import compose, folders

    kinds = [*compose.GROUPS, "unit", "experiment", *registry.LISTED]
    if options.kind is not None and options.kind not in kinds:
        raise unknown("kind", options.kind, kinds)
    for kind in [options.kind] if options.kind else kinds:
        told = [_entry(name, lines) for name, lines in _described(kind).items()]
        print(f"{kind}:", *told, sep="\n", flush=True)
    for reason in folders.installed().lost:
        print(f"warning: {in_a_line(reason)}", file=sys.stderr)
    return 0


def _described(kind: str) -> dict[str, list[str]]:
    """Name -> lines of all that a kind offers."""
    from nalu_bench.plan import compose, described, experiment

    if kind == "experiment":
        return {name: _experiment(name) for name in experiment.names()}
    if kind in registry.LISTED:
        return {name: [entry.about()] for name, entry in sorted(registry.LISTED[kind].entries.items())}
    return {name: [described.about(kind, name)] for name in compose.group_names(kind)}


def _experiment(name: str) -> list[str]:
    """What it is, what it cost and what it found."""
    from nalu_bench.analysis import folders, outcome
    from nalu_bench.plan import experiment

    found = [outcome.told(folder) for folder in folders.committed(paths.results_dir(), name)]
    return [experiment.about(name), *(found[:1] or ["no results yet"])]


def _entry(name: str, lines: Iterable[str]) -> str:
    """A name, and beside it its lines, each wrapped."""
    wrapped = [part for line in map(in_a_line, lines) for part in textwrap.wrap(line, WIDTH - NAME - 3) or [""]]
    name = in_a_line(name)
    first = f"  {name:{NAME}} "
    if len(name) > NAME:
        wrapped, first = ["", *wrapped], f"  {name}"
    return "\n".join([f"{first}{wrapped[0]}".rstrip(), *(f"  {'':{NAME}} {line}" for line in wrapped[1:])])
