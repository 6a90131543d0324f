"""The cells and the experiment that a command line asks for, shared by the verbs."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.verbs import completion

if TYPE_CHECKING:
    from pathlib import Path

    from nalu_bench.plan.compose import Plan
    from nalu_bench.plan.experiment import Experiment
    from nalu_bench.store.reader import Store

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """Let a verb take an experiment and overrides."""
    action = parser.add_argument("overrides", nargs="*", metavar="key=value", help="what to choose and to set")
    action.completer = completion.overrides  # type: ignore[attr-defined]


def experiment_name(arguments: Sequence[str], sign: str = "/") -> tuple[str | None, list[str]]:
    """The experiment that a command names, as `experiment=` or as a word such as madsen2020/table1; and the rest.

    Args:
        arguments: of the command. sign: what such a word holds; empty for a verb to which every word is a name.

    Raises:
        UsageError for two experiments.
    """
    names = [text for text in arguments if text.startswith("experiment=") or (sign in text and "=" not in text)]
    named = [text.removeprefix("experiment=") for text in names]
    if len(named) > 1 or any("," in name for name in named):
        raise UsageError(
            f"one experiment at a time, got {', '.join(named)}; name one, and write everything else as key=value."
        )
    return (named[0] if named else None), [text for text in arguments if text not in names]


def plan(options: argparse.Namespace) -> "tuple[Plan, Experiment | None]":
    """The cells that the overrides ask for."""
    from nalu_bench.plan import compose, experiment

    name, others = experiment_name(options.overrides)
    if name is None:
        return compose.plan_cells(others, options.multirun), None
    if options.multirun:
        raise UsageError("an experiment is a sweep already: leave -m out.")
    chosen = experiment.load(name)
    return compose.plan_experiment(chosen, others), chosen


def check(experiment: "Experiment", plan: "Plan") -> None:
    """Refuse an experiment that cannot be reported, before anything is trained."""
    from nalu_bench.analysis import results
    from nalu_bench.plan import compose

    whole = compose.plan_experiment(experiment, [f"budget={plan.budget}"]) if plan.overrides else plan
    results.check(experiment, plan.cells, whole.cells)


def store(
    committed: bool = True, experiment: "Experiment | None" = None, results: "Path | None" = None, hashed: bool = False
) -> "Store":
    """The run store; with `committed`, the runs of committed results count as finished, those of one experiment or all.

    An experiment's own results are those that its report can take. `results` is another folder of them than the user's.
    With `hashed`, stored parts count only with the hashes of their manifests.
    """
    from nalu_bench.store.reader import Store

    name = experiment.name if experiment else None
    return Store(paths.runs_dir(), (results or paths.results_dir()) if committed else None, name, hashed)
