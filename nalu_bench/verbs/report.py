"""nalu-bench report: write the tables, figures, verdicts and page of an experiment or a sweep."""

import argparse
import sys
import textwrap
from typing import TYPE_CHECKING

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.verbs import asked

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded
    from nalu_bench.plan.compose import Plan
    from nalu_bench.plan.experiment import Experiment


WIDTH = 100
"""Columns of what is printed."""

MANY = 200
"""Cells of a report that takes a minute or two."""

USAGE = """nalu-bench report PAPER/ARTIFACT [key=value ...]
       nalu-bench report [-m] key=value ...     the sweep of these words
       nalu-bench report --last                 the last sweep
       nalu-bench report --all"""


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "report", help="write the tables, figures, verdicts and page of an experiment or a sweep to results/",
        usage=USAGE,
    )  # fmt: skip
    parser.add_argument("-m", "--multirun", action="store_true", help="as in run: the words are those of a sweep")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--last", action="store_true", help="the sweep that was reported last")
    which.add_argument("--all", action="store_true", help="every experiment with committed results")
    parser.add_argument("--full", action="store_true", help="print everything, and not one page of a terminal")
    parser.add_argument("--no-page", action="store_true", help="leave out the page of HTML")
    asked.add_overrides(parser)
    parser.set_defaults(command=report)


def report(options: argparse.Namespace) -> int:
    """Bring a folder of results up to date, with its page and the index, and print what is in it."""
    if options.all and options.overrides:
        raise UsageError(f"--all reports every experiment and takes no further words, got {options.overrides[0]}.")
    if options.all:
        return _report_all()
    tell(written(_plan(options)), page=not options.no_page, full=options.full)
    return 0


def written(plan: "Plan") -> "Loaded":
    """Bring the folder of results of a plan up to date."""
    from nalu_bench.analysis import folders, results
    from nalu_bench.analysis.loaded import Loaded

    asked.check(plan)
    if len(plan.cells) >= MANY:
        print(f"reading the runs of {len(plan.cells)} cells: a minute or two.", file=sys.stderr)
    home = paths.results_dir()
    beside = folders.usable(plan.cells, home) if plan.experiment.local and plan.committed else []
    return Loaded(plan.experiment, *results.write(plan, asked.store(), home, beside))


def tell(loaded: "Loaded", page: bool = True, full: bool = False) -> None:
    """Print a report on one page, or in full, and where to look next; with `page`, build the pages of HTML."""
    from nalu_bench.analysis.brief import LINES, brief

    after, whole = _next(loaded, page), loaded.report.terminal(WIDTH)
    if not full and len(whole.splitlines()) > LINES - len(after):
        after["every number:"] += ", or report --full"
    lines = [line for name, text in after.items() for line in _line(name, text)]
    shown = whole if full else brief(loaded.report, WIDTH, LINES - len(lines))
    room = full or len(shown.splitlines()) + len(lines) < LINES
    print(shown, *([""] if room else []), *lines, sep="\n")


def _next(loaded: "Loaded", page: bool) -> dict[str, str]:
    """Where everything is that was found, and how it came about; the pages are built."""
    from nalu_bench.analysis import folders, results
    from nalu_bench.pages import build

    folder, experiment = loaded.folder, loaded.experiment
    beside = f" and {build.report(loaded).name}" if page else ""
    told = {"every number:": f"{paths.short(folder / 'table.md')}{beside}"}
    if page and not results.is_local(folder):
        told["all experiments:"] = paths.short(build.index(paths.results_dir()))
    if experiment.local:
        told["in Python:"] = f"nalu_bench.load({experiment.name!r})"
    elif any(line.printed_text for line in loaded.report.lines):
        budget = loaded.manifest["budget"]["name"] if results.is_local(folder) else None
        if folders.find(experiment, paths.results_dir(), budget) == folder:  # explain would read others
            told["why each verdict:"] = f"nalu-bench explain {experiment.name}{f' budget={budget}' if budget else ''}"
    if not experiment.local and experiment.page.exists():
        told["what we chose:"] = paths.short(experiment.page)
    return told


def _line(name: str, text: str) -> list[str]:
    return textwrap.wrap(
        f"{name:18} {text}", WIDTH, subsequent_indent=" " * 19, break_long_words=False, break_on_hyphens=False
    )


def glance(plan: "Plan") -> None:
    """Print the table of a plan; nothing is written."""
    from nalu_bench.analysis import folders, results
    from nalu_bench.analysis.measure.read import read
    from nalu_bench.analysis.report import Report
    from nalu_bench.plan import sweep

    beside = folders.usable(plan.cells, paths.results_dir()) if plan.committed else []
    measured = results.measured(plan, asked.store(), [found for found in map(read, beside) if found])
    if len(measured.runs):
        print(Report.of(results.kind_of(plan.experiment), measured).terminal())
    again = sweep.command("report", plan.experiment, plan.budget, plan.overrides)
    print(f"next: {again}   (files, a figure, a page); with more seeds= only the new ones train")


def _plan(options: argparse.Namespace) -> "Plan":
    """The plan that a command line asks to report."""
    from nalu_bench.analysis import folders
    from nalu_bench.plan import compose, experiment

    name, overrides = asked.experiment_name(options.overrides, sign="")
    if options.last and name is not None:
        raise UsageError(f"--last reports the last sweep and takes no name, got {name}; leave one of them out.")
    if options.last:
        name = folders.last_sweep(paths.results_dir())
    if found := asked.sweep_by_name(name, overrides):
        return found
    if name is None and overrides:
        called, words = asked.sweep_name(overrides)
        return compose.plan_cells(words, True, called)
    if name is None:
        raise UsageError(
            f"report needs the name of an experiment, one of {', '.join(experiment.names())}; the words of a sweep; "
            "or --last or --all."
        )
    if options.multirun:
        raise UsageError("an experiment is a sweep already: leave -m out.")
    chosen = experiment.load(name)
    if any(text.startswith("budget=") for text in overrides):
        return compose.plan_experiment(chosen, overrides)
    return _largest(chosen, overrides)


def _report_all() -> int:
    from nalu_bench.analysis import outcome
    from nalu_bench.pages import build

    for loaded in build.reported(paths.results_dir()):
        page = build.report(written(_largest(loaded.experiment, [])))
        print(f"{loaded.experiment.name:26} {paths.short(page)}  {outcome.told(page.parent)}", flush=True)
    print(f"{'all':26} {paths.short(build.index(paths.results_dir()))}")
    print(f"{'the article':26} {paths.short(build.article(paths.results_dir())[0])}")
    return 0


def _largest(chosen: "Experiment", overrides: list[str]) -> "Plan":
    """The plan of the budget that is committed, else of the largest with runs, else of the default one."""
    from nalu_bench.analysis import folders, results
    from nalu_bench.plan import compose

    store, budgets = asked.store(), sorted(chosen.budgets, key=chosen.work, reverse=True)
    for budget in [] if folders.held_budget(paths.results_dir() / chosen.name) else budgets:
        plan = compose.plan_experiment(chosen, [*overrides, f"budget={budget}"])
        if any(store.stored_seeds(want.cell) for want in plan.cells):
            return plan
    return compose.plan_experiment(
        chosen, [*overrides, f"budget={results.default_budget(chosen, paths.results_dir())}"]
    )
