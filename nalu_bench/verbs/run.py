"""nalu-bench run: train what is asked for and not there."""

import argparse
import functools
import os
import sys
from typing import TYPE_CHECKING

from nalu_bench import output, paths
from nalu_bench.errors import Interrupted, UsageError, in_a_line
from nalu_bench.running import loggers, stop
from nalu_bench.verbs import asked

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nalu_bench.analysis.loaded import Loaded
    from nalu_bench.plan.compose import Plan
    from nalu_bench.running.jobs import Job
    from nalu_bench.store.reader import Store


INTERRUPTED = 128
"""Exit statuses from here on are those of signals."""

ABOUT = """Train what is asked for and not there yet. Finished runs stay in runs/ and are never
trained twice; an interrupted command goes on where it stopped.

examples:
  nalu-bench run task=arithmetic task.operation=mul model=nmu seeds=10       one cell, ten seeds
  nalu-bench run -m task=arithmetic task.operation=add,sub model=nac,nau     four cells
  nalu-bench run madsen2020/table1 budget=smoke                              a published table
"""

KEYS = """what key=value chooses (names and what they mean: nalu-bench list):
  task=        what is learned: inputs, targets, the ranges inside and outside of training
  model=       the network of units: a name, or a shape such as two_layer or recurrent
  unit=        the units of a shape: unit=nau, or unit=[nau,nmu] for one each
  recipe=      how it is trained: optimiser, loss, batch, schedule
  budget=      how long and how many seeds: paper, short, smoke
  device=      cpu or cuda
  experiment=  all cells of a published table or figure; PAPER/ARTIFACT says the same
  name=        what the results of a sweep are called; made of its words by default

what it sets:
  seeds=25 first_seed=0       the seeds
  task.operation=mul ...      any value that nalu-bench show prints
  hydra/launcher=joblib       other processes or machines, see conf/launch/README.md

The other verbs: nalu-bench --help
"""


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    parser = verbs.add_parser(
        "run", help="train the missing runs of a cell, a sweep or an experiment", description=ABOUT, epilog=KEYS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="nalu-bench run [options] [PAPER/ARTIFACT] [key=value ...]",
    )  # fmt: skip
    parser.add_argument("-m", "--multirun", action="store_true", help="sweep over lists: model=nac,nalu")
    add_choices(parser)
    asked.add_overrides(parser)
    parser.set_defaults(command=run)


def add_choices(parser: argparse.ArgumentParser) -> None:
    """Let a verb that trains choose among what is missing."""
    parser.add_argument("--fail-fast", action="store_true", help="stop at the first block that fails")
    parser.add_argument("--only-failed", action="store_true", help="train only the blocks that failed before")
    parser.add_argument(
        "--only", metavar="DIGEST", action="append", default=[],
        help="train only the cell whose address begins so; again for more cells",
    )  # fmt: skip


def choices(options: argparse.Namespace) -> list[str]:
    """The flags of `add_choices` that were given."""
    given = {"--fail-fast": options.fail_fast, "--only-failed": options.only_failed, "--only": bool(options.only)}
    return [flag for flag, is_given in given.items() if is_given]


def run(options: argparse.Namespace) -> int:
    """Train; returns 1 if a block failed."""
    verb = ["run", *(["-m"] if options.multirun else [])]
    planned, then = functools.partial(asked.plan, options), functools.partial(_look_next, options=options)
    return train_missing(planned, options, verb, then)


def trained(words: "list[str]") -> "Loaded":
    """Train what is missing of the cells that words ask for, and report them, for `nalu_bench.running`."""
    from nalu_bench.verbs import report

    name, _ = asked.experiment_name(words)
    options = argparse.Namespace(overrides=words, multirun=name is None, fail_fast=False, only_failed=False, only=[])
    found: list[Loaded] = []
    refused: list[UsageError] = []

    def then(plan: "Plan") -> None:
        try:
            found.append(report.written(plan))
        except UsageError as error:  # printed alone where blocks have failed
            refused.append(error)
            raise

    verb = ["run", *(["-m"] if options.multirun else [])]
    with output.lenient():
        code = train_missing(functools.partial(asked.plan, options), options, verb, then)
    if code >= INTERRUPTED:
        raise KeyboardInterrupt
    if refused:
        raise refused[0]
    return found[0]


def train_missing(
    planned: "Callable[[], Plan]", options: argparse.Namespace, verb: list[str], then: "Callable[[Plan], None]",
    results: "Path | None" = None,
) -> int:  # fmt: skip
    """Train what a plan needs; returns 1 if a block failed, and the code of a signal that ended it.

    Args:
        planned: makes the plan. options: see `add_choices`. verb: the words of the command that repeats a block.
        then: tells what came out.
        results: the folder of all results, whose runs count as done; the user's own by default.
    """
    with stop.at_once("stopped before training began: nothing yet is kept of it, and nothing is lost."):
        plan = planned()
        _check_launcher(plan, options.fail_fast)
        loggers.logger_of(plan.machine.logger)
        store = asked.store(plan, results, hashed=True)
        todo = _missing(plan, store, options, verb)
        _mend(plan, store)
        sound, failures = _checked(todo, plan)
        print(_announced(todo, plan, store, bool(options.only) or options.only_failed), flush=True)
    if sound and not (failures and options.fail_fast):
        try:
            failures += _launch(sound, plan, store, options.fail_fast)
        except Interrupted:
            from nalu_bench.running.kept import kept

            print(kept(todo), file=sys.stderr)
            return stop.exit_code()
    with stop.at_once("stopped after training: what it made is stored, and the same command shows it."):
        for failure in failures:
            print(f"failed: {failure}", file=sys.stderr)
        if failures:
            print(_counted(len(failures), len(todo), options.fail_fast), file=sys.stderr)
        try:
            then(plan)
        except UsageError as error:
            if not failures:
                raise
            print(f"error: {in_a_line(error)}", file=sys.stderr)  # it may be the same full disk that failed them
    return 1 if failures else 0


def _counted(failed: int, asked: int, fail_fast: bool) -> str:
    """How many blocks failed."""
    rest = ", and --fail-fast left the others as they are" if fail_fast and failed < asked else ""
    blocks = "block" if asked == 1 else "blocks"
    return f"{failed} of {asked} {blocks} failed{rest}; the same command tries them again."


def _look_next(plan: "Plan", options: argparse.Namespace) -> None:
    """Show the table of a sweep or of a cell; say how an experiment is reported."""
    from nalu_bench.plan import sweep
    from nalu_bench.verbs import report

    if not plan.experiment.local:
        words = [*plan.overrides, *([] if plan.committed else ["committed=false"])]
        print("next:", sweep.command("report", plan.experiment, plan.budget, words))
    elif options.multirun:
        report.tell(report.written(plan))
    else:
        report.glance(plan)


def _check_launcher(plan: "Plan", fail_fast: bool) -> None:
    """Refuse a launcher that is not installed, or that cannot do what was asked."""
    if plan.hydra and fail_fast:
        raise UsageError("--fail-fast must go without a launcher, whose jobs do not know of each other; leave one out.")
    asked.check_launcher(plan)


def _mend(plan: "Plan", store: "Store") -> None:
    """Write what tells the configuration of a trained cell again, if it was lost or damaged."""
    from nalu_bench.store import writer

    for want in plan.cells:
        if store.parts(want.cell):
            writer.write_identity(store.root, want.cell)


def _missing(plan: "Plan", store: "Store", options: argparse.Namespace, verb: list[str]) -> "list[Job]":
    """The jobs that a plan needs and that were chosen; print what is skipped."""
    from nalu_bench.running.jobs import pending

    asked.check(plan)
    for want in plan.cells:
        if want.cell.skip():
            print(f"{want.label()}: skipped, {want.cell.skip()}.")
    if plan.cells and all(want.cell.skip() for want in plan.cells):
        raise UsageError("there is nothing to train: choose a model that takes the task's inputs.")
    chosen = [text for text in options.overrides if not text.startswith(("seeds=", "first_seed="))]
    todo = pending(plan.cells, store, plan.machine, [*verb, *chosen])
    for begin in options.only:
        if not (begin and any(want.cell.digest.startswith(begin) for want in plan.cells)):
            raise UsageError(
                f"--only must begin the address of a cell that is asked for, got '{begin}'; nalu-bench status lists "
                "the addresses."
            )
    todo = [job for job in todo if job.cell.digest.startswith(tuple(options.only or [""]))]
    if options.only_failed:
        todo = [job for job in todo if set(store.failures(job.cell)) & set(job.block.seeds)]
    return todo


def _announced(todo: "list[Job]", plan: "Plan", store: "Store", chosen: bool) -> str:
    """How many runs will be trained, or why none."""
    if not plan.cells:
        return "nothing to train: the experiment has no cells."
    wanted = [want for want in plan.cells if not want.cell.skip()]
    count = sum(len(want.seeds) for want in wanted)
    what = "1 cell" if len(plan.cells) == 1 else f"{len(plan.cells)} cells"
    if todo:
        cells = {job.cell.digest for job in todo}
        asked = [want for want in wanted if want.cell.digest in cells]
        missing = sum(len(set(want.seeds) - store.finished_seeds(want.cell)) for want in asked)
        return f"{missing} of {count} runs of {what} to train."
    if chosen:
        return "nothing to train: no block that is missing was chosen by --only or --only-failed."
    return f"nothing to train: all {count} runs of {what} are there."


def _checked(todo: "list[Job]", plan: "Plan") -> "tuple[list[Job], list[str]]":
    """The jobs that can be trained, and a line for each whose network raises; what cannot be asked at all raises."""
    from nalu_bench.running import check, work

    broken = check.check(plan.machine, todo) if todo else {}
    sound = [job for job in todo if job.cell.digest not in broken]
    return sound, [work.failure(job, broken[job.cell.digest]) for job in todo if job.cell.digest in broken]


def _launch(todo: "list[Job]", plan: "Plan", store: "Store", fail_fast: bool) -> list[str]:
    """Train here, or as one Hydra job a cell where a launcher was chosen."""
    from nalu_bench.plan import launch
    from nalu_bench.running import launched, progress, runner
    from nalu_bench.running.jobs import by_cell, pending

    if not plan.hydra:
        return runner.run_jobs(todo, plan.machine, fail_fast=fail_fast)
    cells = by_cell(todo)
    train = functools.partial(launched.train_cell, cells, plan.machine, os.getpid())
    try:
        with stop.through_children(), progress.followed(todo, store):
            launch.sweep(train, range(len(cells)), plan.hydra, paths.runs_dir() / ".hydra", plan.machine.workers)
    except launch.LaunchError as error:
        print(f"{error} (what it started may still run, see nalu-bench status)", file=sys.stderr)
    left = {job.part for job in pending(plan.cells, store, plan.machine)}
    return [launched.why_left(job, store) for job in todo if job.part in left]
