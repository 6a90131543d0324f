"""nalu-bench status: show which runs are done, running, failed and missing."""

import argparse
import contextlib
from typing import TYPE_CHECKING

from nalu_bench import paths
from nalu_bench.verbs import asked

if TYPE_CHECKING:
    from nalu_bench.plan.experiment import Experiment


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "status",
        help="show which runs are done, running, failed and missing",
        usage="nalu-bench status [options] [PAPER/ARTIFACT] [key=value ...]",
    )
    parser.add_argument("--watch", action="store_true", help="draw it again every few seconds until all is done")
    parser.add_argument("-m", "--multirun", action="store_true", help="sweep over lists: model=nac,nalu")
    asked.add_overrides(parser)
    parser.set_defaults(command=status)


def status(options: argparse.Namespace) -> int:
    """Print one line a cell and a total."""
    from nalu_bench.store import status as found

    plan = asked.sweep_by_name(*asked.experiment_name(options.overrides)) or asked.plan(options)
    asked.check(plan)
    asked.check_launcher(plan)
    store, width = asked.store(plan), plan.machine.width
    if options.watch:
        with contextlib.suppress(KeyboardInterrupt):  # the usual end of it
            found.watch(store, plan.cells, width)
    else:
        if not plan.experiment.local:
            experiment = plan.experiment
            print(f"{experiment.name} budget={plan.budget}{_other_budget(experiment, plan.budget)}")
        print("\n".join(found.read(store, plan.cells, width).lines()))
    return 0


def _other_budget(experiment: "Experiment", budget: str) -> str:
    """Which other budget the results of an experiment have; empty if there are none."""
    from nalu_bench.analysis.folders import committed, held_budget

    held = next(map(held_budget, committed(paths.results_dir(), experiment.name)), budget)
    return "" if held == budget else f" (results/ has budget={held})"
