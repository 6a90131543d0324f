"""nalu-bench report: write an experiment's tables, figures, verdicts and page."""

import argparse
from typing import TYPE_CHECKING

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.verbs import asked

if TYPE_CHECKING:
    from pathlib import Path

    from nalu_bench.analysis.report import Report
    from nalu_bench.plan.compose import Plan
    from nalu_bench.plan.experiment import Experiment


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "report", help="write an experiment's tables, figures, verdicts and page to results/",
        usage="nalu-bench report PAPER/ARTIFACT [key=value ...]\n       nalu-bench report --all",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="every experiment with committed results")
    parser.add_argument("--no-page", action="store_true", help="leave out the page of HTML")
    asked.add_overrides(parser)
    parser.set_defaults(command=report)


def report(options: argparse.Namespace) -> int:
    """Bring folders of results up to date, with their pages and the index, and print what is in them."""
    from nalu_bench.analysis import results
    from nalu_bench.analysis.loaded import Loaded
    from nalu_bench.analysis.pages import build
    from nalu_bench.plan import experiment

    if options.all:
        return _report_all()
    name, overrides = asked.experiment_name(options.overrides, sign="")
    if name is None:
        raise UsageError(f"report needs the name of an experiment, one of {', '.join(experiment.names())}; or --all.")
    chosen = experiment.load(name)
    folder, made = _write(chosen, overrides)
    loaded = Loaded(chosen, folder, made)
    print(made.terminal())
    print(f"\nwritten to {paths.short(folder)}/: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    if not options.no_page:
        page, index = build.report(loaded), build.index(paths.results_dir())
        beside = "" if results.is_local(folder) else f", and all experiments in {paths.short(index)}"
        print(f"to look at:         {paths.short(page)}{beside}")
    if any(line.printed and line.printed.text for line in made.lines):
        budget = f" budget={loaded.manifest['budget']['name']}" if results.is_local(folder) else ""
        print(f"why each verdict:   nalu-bench explain {name}{budget}")
    print(f"what the paper says, what we chose, what came out:   {paths.short(chosen.folder / 'README.md')}")
    return 0


def _report_all() -> int:
    from nalu_bench.analysis import outcome
    from nalu_bench.analysis.loaded import Loaded
    from nalu_bench.analysis.pages import build

    for loaded in build.reported(paths.results_dir()):
        page = build.report(Loaded(loaded.experiment, *_write(loaded.experiment, [])))
        print(f"{loaded.experiment.name:26} {paths.short(page)}  {outcome.read(page.parent).describe()}", flush=True)
    print(f"{'all':26} {paths.short(build.index(paths.results_dir()))}")
    return 0


def _write(chosen: "Experiment", overrides: list[str]) -> "tuple[Path, Report]":
    """Write the results of an experiment."""
    from nalu_bench.analysis import results
    from nalu_bench.plan import compose

    if any(text.startswith("budget=") for text in overrides):
        plan = compose.plan_experiment(chosen, overrides)
    else:
        plan = _largest(chosen, overrides)
    asked.check(chosen, plan)
    scope = results.Scope(chosen, plan.budget, plan.cells, plan.overrides)
    return results.write(scope, asked.store(), paths.results_dir())


def _largest(chosen: "Experiment", overrides: list[str]) -> "Plan":
    """The plan of the budget that is committed, else of the largest with runs, else of the default one."""
    from nalu_bench.analysis import folders, results
    from nalu_bench.plan import compose

    store, budgets = asked.store(committed=False), sorted(chosen.budgets, key=chosen.work, reverse=True)
    for budget in [] if folders.held_budget(paths.results_dir() / chosen.name) else budgets:
        plan = compose.plan_experiment(chosen, [*overrides, f"budget={budget}"])
        if any(store.stored_seeds(want.cell) for want in plan.cells):
            return plan
    return compose.plan_experiment(
        chosen, [*overrides, f"budget={results.default_budget(chosen, paths.results_dir())}"]
    )
