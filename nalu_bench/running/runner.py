"""From jobs to stored runs: as many processes as fit, progress, and what other processes train."""

import contextlib
import sys
from collections.abc import Iterator, Sequence

from nalu_bench.errors import Interrupted
from nalu_bench.plan.machine import Machine
from nalu_bench.running import bars, elsewhere, memory, pool, stop
from nalu_bench.running.check import GIB, check_memory
from nalu_bench.running.jobs import MOST_TOGETHER, Group, Job, by_cell, groups
from nalu_bench.running.kept import kept
from nalu_bench.running.progress import Display, Progress
from nalu_bench.running.work import Fate, fail, train_group
from nalu_bench.store.reader import Store


def run_jobs(todo: Sequence[Job], machine: Machine, quiet: bool = False, fail_fast: bool = False) -> list[str]:
    """Train all jobs, with a progress bar unless `quiet`; returns one line for each that failed.

    Jobs that other processes train are left to them until all else is done; then they are waited for, or taken over.
    With `fail_fast` the first failure ends the run.

    Raises:
        Interrupted after a signal, once the jobs that train have written their checkpoints.
    """
    if not todo:
        return []
    seconds = stop.SECONDS + (stop.SPARE if machine.workers > 1 else 0)
    with stop.after_the_step(lambda: kept(todo), seconds):
        failures = _run_groups(todo, machine, quiet, fail_fast)
        if stop.asked():  # while the last block was tested and stored
            raise Interrupted
        return failures


def _run_groups(todo: Sequence[Job], machine: Machine, quiet: bool, fail_fast: bool) -> list[str]:
    _set_aside_damaged(todo)
    total = sum(job.cell.recipe.steps for job in todo)
    watched = sys.stderr.isatty() or "ipykernel" in sys.modules  # a person, at a terminal or a notebook
    pause = 0.1 if watched else 30  # a log file wants few lines
    with bars.bar(total, quiet=quiet, pause=pause) as bar:
        progress = Display(bar, len(todo), watched)
        failures: list[str] = []
        left: list[Job] = []
        while todo:
            parts, workers = _affordable(todo, machine.workers)
            outcomes = _in_pool(parts, workers, progress) if workers > 1 else _in_process(parts, progress)
            for group, outcome in outcomes:
                progress.finish(len(group) - len(outcome.left))
                failures += outcome.failures
                left += outcome.left
                if failures and fail_fast:
                    return failures  # the workers save what they have, and end
            todo, left = elsewhere.wait(left, progress) if left else ([], [])
    return failures


def _set_aside_damaged(todo: Sequence[Job]) -> None:
    """Set the damaged parts of the cells aside, whose seeds are about to be trained again."""
    from nalu_bench.store import writer

    for job, *_ in by_cell(todo):
        for part, why in Store(job.root, hashed=True).sorted_out(job.cell)[1].items():
            with contextlib.suppress(FileNotFoundError):  # another process has just moved it
                to = writer.set_aside(job.root, job.cell, part)
                print(f"{part} is damaged ({why}): moved to {to}.", file=sys.stderr)


def _affordable(todo: Sequence[Job], workers: int) -> tuple[list[Group], int]:
    """The groups, and the number of them that fit into memory at a time; print it if it is below the workers.

    Raises:
        UsageError if not even one cell fits.
    """
    room = memory.available()
    check_memory(todo, room)
    choices = []
    for most in range(MOST_TOGETHER, 0, -1):
        parts = groups(todo, workers, most)
        largest = max(memory.needed([job.sized for job in group]) for group in parts)
        wanted = min(workers, len(parts))
        fitting = min(wanted, room // largest)
        choices.append((fitting, wanted, parts, largest))
        if fitting == wanted:
            break
    fitting, wanted, parts, largest = max(choices, key=lambda choice: choice[0])  # the largest groups of several
    if fitting < wanted:
        print(
            f"a worker needs about {largest / GIB:.1f} GB and {room / GIB:.1f} GB are free: "
            f"training {fitting} {'group' if fitting == 1 else 'groups'} of cells at a time.",
            file=sys.stderr,
        )
    return parts, fitting


def _in_process(parts: Sequence[Group], progress: Progress) -> Iterator[tuple[Group, Fate]]:
    for group in parts:
        yield group, train_group(group, progress)


def _in_pool(parts: Sequence[Group], workers: int, progress: Progress) -> Iterator[tuple[Group, Fate]]:
    for group, outcome in pool.outcomes(train_group, parts, workers, progress):
        if isinstance(outcome, pool.WorkerDiedError):
            yield group, Fate([fail(job, str(outcome)) for job in group], [])
        else:
            yield group, outcome
