"""The command line: nalu-bench run | report | status | verify | list."""

import argparse
import contextlib
import functools
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nalu_bench import __version__, paths
from nalu_bench.errors import Interrupted, UsageError, plain_warnings, unknown
from nalu_bench.run import stop

if TYPE_CHECKING:
    from nalu_bench.plan.compose import Plan
    from nalu_bench.plan.experiment import Experiment
    from nalu_bench.run.jobs import Job
    from nalu_bench.store.reader import Store

EXAMPLES = """examples:
  nalu-bench run task=arithmetic task.operation=mul model=nmu seeds=10
  nalu-bench run -m task=arithmetic task.operation=add,sub model=nac,nau
  nalu-bench run experiment=madsen2020/table1 budget=smoke
  nalu-bench report madsen2020/table1
  nalu-bench status madsen2020/table1 budget=paper
  nalu-bench verify madsen2020/table1 --rerun 3 --longest 10
  nalu-bench list

Several processes or machines: hydra/launcher=joblib, submitit_local, submitit_slurm or ray, see conf/launch/README.md.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns 0, 1 if runs failed, 2 for a wrong request, 130 or 143 if interrupted."""
    try:
        options = _parser().parse_args(_flags_first(sys.argv[1:] if arguments is None else arguments))
        plain_warnings()
        return int(options.command(options))
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # a reader of our output, such as head, closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("stopped.", file=sys.stderr)
        return 130


def _flags_first(arguments: Sequence[str]) -> list[str]:
    """Put the verb first, then -m, then the overrides: argparse does not take overrides on both sides of -m."""
    return sorted(arguments, key=lambda text: 1 if text in ("-m", "--multirun") else 2 if "=" in text else 0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "nalu-bench",
        description="Reproducible experiments with neural arithmetic units.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"nalu-bench {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True)

    run = verbs.add_parser("run", help="train the missing runs of a cell, a sweep or an experiment")
    run.add_argument("-m", "--multirun", action="store_true", help="sweep over lists: model=nac,nalu")
    run.add_argument("--fail-fast", action="store_true", help="stop at the first block that fails")
    run.add_argument("--only-failed", action="store_true", help="train only the blocks that failed before")
    run.add_argument("--only", metavar="DIGEST", default="", help="train only the cell whose address begins so")
    _add_overrides(run)
    run.set_defaults(command=_run)

    report = verbs.add_parser("report", help="write an experiment's tables, figures and verdicts to results/")
    report.add_argument("experiment", help="such as madsen2020/table1")
    _add_overrides(report)
    report.set_defaults(command=_report)

    status = verbs.add_parser("status", help="show which runs are done, running, failed and missing")
    status.add_argument("--watch", action="store_true", help="draw it again every few seconds until all is done")
    status.add_argument("-m", "--multirun", action="store_true", help="sweep over lists: model=nac,nalu")
    _add_overrides(status)
    status.set_defaults(command=_status)

    check = verbs.add_parser("verify", help="check results and stores: files against hashes, facts against curves")
    check.add_argument("asked", nargs="*", metavar="EXPERIMENT or FOLDER", help="all committed results by default")
    check.add_argument("--store", action="store_true", help="check the run store, too")
    check.add_argument("--rerun", type=int, metavar="N", help="train N random finished blocks again and compare them")
    check.add_argument("--seed", type=int, help="of the choice of these blocks")
    check.add_argument("--longest", type=float, metavar="MINUTES", help="leave out blocks that took longer than this")
    check.set_defaults(command=_verify)

    names = verbs.add_parser("list", help="show the names that configurations can use")
    names.add_argument("kind", nargs="?", help="task, model, recipe, budget, device, experiment or unit")
    names.set_defaults(command=_list)
    return parser


def _add_overrides(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="Hydra overrides, see conf/")


def _plan(options: argparse.Namespace) -> "tuple[Plan, Experiment | None]":
    """The cells that the overrides ask for; a word such as madsen2020/table1 is short for experiment=."""
    from nalu_bench.plan import compose, experiment

    words = [text for text in options.overrides if "/" in text and "=" not in text]
    names = [text for text in options.overrides if text.startswith("experiment=") or text in words]
    named = [text.removeprefix("experiment=") for text in names]
    others = [text for text in options.overrides if text not in names]
    if not named:
        return compose.plan_cells(others, options.multirun), None
    if len(named) > 1 or "," in named[0]:
        raise UsageError("one experiment at a time: give experiment= once, without a list.")
    if options.multirun:
        raise UsageError("an experiment is a sweep already: leave -m out.")
    chosen = experiment.load(named[0])
    return compose.plan_experiment(chosen, others), chosen


def _check(experiment: "Experiment", plan: "Plan") -> None:
    """Refuse an experiment that cannot be reported, before anything is trained."""
    from nalu_bench.analysis import results
    from nalu_bench.plan import compose

    whole = compose.plan_experiment(experiment, [f"budget={plan.budget}"]) if plan.custom else plan
    results.check(experiment, plan.cells, whole.cells)


def _store(committed: bool = True) -> "Store":
    from nalu_bench.store.reader import Store

    return Store(paths.runs_dir(), paths.results_dir() if committed else None)


def _run(options: argparse.Namespace) -> int:
    with stop.at_once("stopped before training began: nothing yet is kept of it, and nothing is lost."):
        plan, experiment = _plan(options)
        _check_launcher(plan, options.fail_fast)
        store = _store(plan.committed)
        todo = _missing(plan, experiment, store, options)
        sound, failures = _checked(todo, plan)
        print(_announced(todo, plan, store, bool(options.only or options.only_failed)), flush=True)
    if sound and not (failures and options.fail_fast):
        try:
            failures += _launch(sound, plan, store, options.fail_fast)
        except Interrupted:
            from nalu_bench.run.kept import kept

            print(kept(todo), file=sys.stderr)
            return stop.exit_code()
    with stop.at_once("stopped after training: what it made is stored, and the same command shows it."):
        for failure in failures:
            print(f"failed: {failure}", file=sys.stderr)
        if failures:
            print(f"{len(failures)} of {len(todo)} blocks failed; --only-failed tries them again.", file=sys.stderr)
        if experiment is None:
            from nalu_bench.analysis.brief import brief

            print(brief(store, plan.cells))
        else:
            given = [text for text in options.overrides if not text.startswith(("experiment=", "budget=", "hydra"))]
            print("to report: nalu-bench report", experiment.name, f"budget={plan.budget}", *given)
    return 1 if failures else 0


def _check_launcher(plan: "Plan", fail_fast: bool) -> None:
    """Refuse a launcher that is not installed, or that cannot do what was asked."""
    if not plan.hydra:
        return
    if fail_fast:
        raise UsageError("--fail-fast must go without a launcher, whose jobs do not know of each other; leave one out.")
    from nalu_bench.plan import launch

    launch.check(plan.hydra)


def _missing(plan: "Plan", experiment: "Experiment | None", store: "Store", options: argparse.Namespace) -> "list[Job]":
    """The jobs that a plan needs and that were chosen; print what is skipped."""
    from nalu_bench.run.jobs import pending

    if experiment is not None:
        _check(experiment, plan)
    for want in plan.cells:
        if want.cell.skip():
            print(f"{want.label()}: skipped, {want.cell.skip()}.")
    if plan.cells and all(want.cell.skip() for want in plan.cells):
        raise UsageError("there is nothing to train: choose a model that takes the task's inputs.")
    chosen = [text for text in options.overrides if not text.startswith(("seeds=", "first_seed="))]
    todo = pending(plan.cells, store, plan.machine, [*(["-m"] if options.multirun else []), *chosen])
    todo = [job for job in todo if job.cell.digest.startswith(options.only)]
    if options.only_failed:
        todo = [job for job in todo if set(store.failures(job.cell)) & set(job.block.seeds)]
    return todo


def _announced(todo: "list[Job]", plan: "Plan", store: "Store", chosen: bool) -> str:
    """How many runs will be trained, or why none."""
    if not plan.cells:
        return "nothing to train: the experiment has no cells."
    wanted = [want for want in plan.cells if not want.cell.skip()]
    count = sum(len(want.seeds) for want in wanted)
    if todo:
        cells = {job.cell.digest for job in todo}
        asked = [want for want in wanted if want.cell.digest in cells]
        missing = sum(len(set(want.seeds) - store.finished_seeds(want.cell)) for want in asked)
        return f"{missing} of {count} runs of {len(plan.cells)} cells to train."
    if chosen:
        return "nothing to train: no block that is missing was chosen by --only or --only-failed."
    return f"nothing to train: all {count} runs of {len(plan.cells)} cells are there."


def _checked(todo: "list[Job]", plan: "Plan") -> "tuple[list[Job], list[str]]":
    """The jobs that can be trained, and a line for each whose network raises; what cannot be asked at all raises."""
    from nalu_bench.run import check, work

    broken = check.check(plan.machine, todo) if todo else {}
    sound = [job for job in todo if job.cell.digest not in broken]
    return sound, [work.failure(job, broken[job.cell.digest]) for job in todo if job.cell.digest in broken]


def _launch(todo: "list[Job]", plan: "Plan", store: "Store", fail_fast: bool) -> list[str]:
    """Train here, or as one Hydra job a cell where a launcher was chosen."""
    from nalu_bench.plan import launch
    from nalu_bench.run import launched, runner, watch
    from nalu_bench.run.jobs import by_cell, pending

    if not plan.hydra:
        return runner.run(todo, plan.machine, fail_fast=fail_fast)
    cells = by_cell(todo)
    train = functools.partial(launched.train_cell, cells, plan.machine, os.getpid())
    gave_up = []
    try:
        with stop.through_children(), watch.followed(todo, store):
            launch.sweep(train, range(len(cells)), plan.hydra, paths.runs_dir() / ".hydra", plan.machine.workers)
    except launch.LaunchError as error:
        gave_up.append(f"{error} (what it started may still run, see nalu-bench status)")
    left = {job.part for job in pending(plan.cells, store, plan.machine)}
    return gave_up + [launched.why_left(job, store) for job in todo if job.part in left]


def _report(options: argparse.Namespace) -> int:
    from nalu_bench.analysis import results
    from nalu_bench.plan import compose, experiment

    chosen = experiment.load(options.experiment.removeprefix("experiment="))
    overrides = list(options.overrides)
    if not any(text.startswith("budget=") for text in overrides):
        overrides.append(f"budget={results.default_budget(chosen, paths.results_dir())}")
    plan = compose.plan_experiment(chosen, overrides)
    _check(chosen, plan)
    scope = results.Scope(chosen, plan.budget, plan.custom, plan.cells, plan.changes)
    folder = results.write(scope, _store(), paths.results_dir())
    print((folder / "table.md").read_text(encoding="utf-8"))
    print(f"written to {_short(folder)}/: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    return 0


def _status(options: argparse.Namespace) -> int:
    from nalu_bench.store import status

    plan, _ = _plan(options)
    store, width = _store(plan.committed), plan.machine.width
    if options.watch:
        with contextlib.suppress(KeyboardInterrupt):  # the usual end of it
            status.watch(store, plan.cells, width)
    else:
        print("\n".join(status.read(store, plan.cells, width).lines()))
    return 0


def _verify(options: argparse.Namespace) -> int:
    from nalu_bench.analysis.verified import Verified
    from nalu_bench.analysis.verify import targets, verify

    chosen = targets(options.asked, paths.results_dir()) if options.asked or not options.store else {}
    if options.store:
        chosen |= {"store": paths.runs_dir()}
    total = Verified()
    for name, folder in chosen.items():
        found = verify(folder)
        print(f"{name:24} {found.describe()}", flush=True)
        for fault in found.faults:
            print(f"  {name}: {fault}", file=sys.stderr)
        total += found
    print(f"{'in all':24} {total.describe()}", flush=True)
    wrong = _rerun(options, list(chosen.values())) if options.rerun else 0
    return 1 if total.faults or wrong else 0


def _rerun(options: argparse.Namespace, folders: list[Path]) -> int:
    """Train random finished blocks of the folders again; returns how many differ or can no longer be trained."""
    from nalu_bench.analysis.verify import finished
    from nalu_bench.run.rerun import choose, rerun

    found = [block for folder in folders for block in finished(folder)]
    seed = random.randrange(10**6) if options.seed is None else options.seed
    blocks = choose(found, options.rerun, seed, options.longest)
    print(f"training {len(blocks)} of {len(found)} finished blocks again: --rerun {options.rerun} --seed {seed}")
    wrong = 0
    for block in blocks:
        try:
            outcome = rerun(block)
        except UsageError as error:
            print(f"{block.label}: {error}", file=sys.stderr)
            wrong += 1
            continue
        print(outcome.describe(), flush=True)
        for fault in outcome.faults:
            print(f"  {fault}", file=sys.stderr)
        wrong += bool(outcome.faults)
    return wrong


def _list(options: argparse.Namespace) -> int:
    from nalu_bench import registry
    from nalu_bench.plan import compose, experiment, folders

    names = {f"{group}": compose.group_names(group) for group in compose.GROUPS}
    names |= {"experiment": experiment.names(), "unit": sorted(registry.units.entries)}
    if options.kind is not None and options.kind not in names:
        raise unknown("kind", options.kind, names)
    for kind, entries in names.items():
        if options.kind in (None, kind):
            print(f"{kind}: {', '.join(entries)}")
    for reason in folders.installed().lost:
        print(f"warning: {reason}", file=sys.stderr)
    return 0


def _short(folder: Path) -> str:
    try:
        return str(folder.relative_to(Path.cwd()))
    except ValueError:
        return str(folder)
