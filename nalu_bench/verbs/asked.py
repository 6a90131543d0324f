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
    from nalu_bench.store.reader import Store

    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """Let a verb take an experiment and overrides."""
    action = parser.add_argument(
        "overrides", nargs="*", default=[], metavar="key=value", help="what to choose and to set"
    )
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


def sweep_name(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """The name that a command gives its sweep, as `name=`, empty if none; and the rest."""
    names = [text.removeprefix("name=") for text in arguments if text.startswith("name=")]
    if len(names) > 1 or names == [""]:
        raise UsageError(f"name must be given once and not be empty, got {', '.join(names) or 'nothing'}.")
    return "".join(names), [text for text in arguments if not text.startswith("name=")]


def sweep_by_name(name: str | None, arguments: Sequence[str]) -> "Plan | None":
    """The plan of a sweep that was reported: that of `sweeps/NAME`, or of `name=NAME` alone; None for all else.

    Args:
        name: the experiment that a command names. arguments: the rest of its words.

    Raises:
        UsageError if there is no such sweep.
    """
    from nalu_bench.analysis import folders
    from nalu_bench.plan import compose, sweep

    called, words = sweep_name(arguments)
    if name is None and called and not words:
        name = f"{sweep.FOLDER}/{called}"
    if name is None or not name.startswith(f"{sweep.FOLDER}/"):
        return None
    held = folders.sweep_words(paths.results_dir(), name)
    return compose.plan_cells([*held, *words], True, name.partition("/")[2])


def plan(options: argparse.Namespace) -> "Plan":
    """The cells that the overrides ask for."""
    from nalu_bench.plan import compose, experiment

    name, others = experiment_name(options.overrides)
    called, words = sweep_name(others)
    if name is None:
        return compose.plan_cells(words, options.multirun, called)
    if called:
        raise UsageError(f"name= must be left out: {name} has a name already.")
    if options.multirun:
        raise UsageError("an experiment is a sweep already: leave -m out.")
    return compose.plan_experiment(experiment.load(name), others)


def check(plan: "Plan") -> None:
    """Refuse what cannot be reported, before anything is trained."""
    from nalu_bench.analysis import folders, results
    from nalu_bench.plan import compose

    if plan.experiment.local:
        folders.refuse_other(paths.results_dir(), plan.experiment.name, plan.budget, plan.overrides)

    part = plan.overrides and not plan.experiment.local
    whole = compose.plan_experiment(plan.experiment, [f"budget={plan.budget}"]) if part else plan
    results.check(plan, whole.cells)


def check_launcher(plan: "Plan") -> None:
    """Refuse a launcher that is not installed."""
    if plan.hydra:
        from nalu_bench.plan import launch

        launch.check(plan.hydra)


def store(plan: "Plan | None" = None, results: "Path | None" = None, hashed: bool = False) -> "Store":
    """The run store; the runs of those committed results count as finished that the plan's report can take.

    Args:
        plan: None for the store alone. results: another folder of all results than the user's.
        hashed: whether stored parts count only with the hashes of their manifests.
    """
    from nalu_bench.analysis.folders import usable
    from nalu_bench.store.reader import Store

    if plan is None or not plan.committed:
        return Store(paths.runs_dir(), hashed=hashed)
    home, names = results or paths.results_dir(), [plan.experiment.name]
    if plan.experiment.local:
        names = [folder.relative_to(home).as_posix() for folder in usable(plan.cells, home)]
    return Store(paths.runs_dir(), home, names, hashed)
