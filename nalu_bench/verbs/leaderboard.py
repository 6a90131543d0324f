"""nalu-bench leaderboard: units ranked, with a unit of one's own among them."""

import argparse
from typing import TYPE_CHECKING

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.verbs import asked
from nalu_bench.verbs import run as training

if TYPE_CHECKING:
    from pathlib import Path

    from nalu_bench.plan.compose import Plan

NAME = "mistry2022/single_module"

ABOUT = """Which unit for which operation? One unit alone, one operation on two of its inputs, nine ranges.

examples:
  nalu-bench leaderboard                                the committed ranking
  nalu-bench leaderboard unit=my_unit budget=short      trains my_unit on the same cells and ranks it among the others

A unit of your own has a file of a few lines, unit/<name>.yaml: see examples/my_unit.
"""


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "leaderboard", help="rank units; with unit=NAME, a unit of your own among them", description=ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="nalu-bench leaderboard [unit=NAME] [budget=short] [seeds=25] [device.workers=2]",
    )  # fmt: skip
    training.add_choices(parser)
    asked.add_overrides(parser)
    parser.set_defaults(command=leaderboard)


def leaderboard(options: argparse.Namespace) -> int:
    """Print the ranking; with a unit of one's own, train its cells first."""
    from nalu_bench.analysis.loaded import load

    if not any(text.startswith("unit=") for text in options.overrides):
        if given := [*options.overrides, *training.choices(options)]:
            raise UsageError(f"the committed ranking has no settings, got {' '.join(given)}; with unit=NAME it has.")
        print(load(NAME).report.terminal())
        return 0
    return training.train_missing(lambda: _plan(options.overrides), options, ["leaderboard"], _report, _ranked())


def _ranked() -> "Path":
    """The folder of all results that holds the ranking: the user's own, or the one that was installed."""
    from nalu_bench.analysis import folders

    first = next(folders.committed(paths.results_dir(), NAME), None)
    return first.parents[NAME.count("/")] if first else paths.results_dir()


def _plan(arguments: list[str]) -> "Plan":
    """The cells of the ranking and those of more units."""
    from nalu_bench.plan import experiment, ranking

    return ranking.plan(experiment.load(NAME), arguments)


def _report(plan: "Plan") -> None:
    from nalu_bench.analysis import results
    from nalu_bench.analysis.loaded import Loaded
    from nalu_bench.verbs import report

    written = results.write(plan, asked.store(), paths.results_dir(), beside=[_ranked() / NAME])
    report.tell(Loaded(plan.experiment, *written), full=True)
