"""From cells to stored runs: skip what is done, train what is missing, survive what fails."""

import math
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from nalu_bench.errors import Interrupted, UsageError
from nalu_bench.plan.blocks import Block, blocks
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.criteria import threshold
from nalu_bench.plan.identity import canonical, plain
from nalu_bench.plan.machine import Machine
from nalu_bench.plan.result import BlockResult
from nalu_bench.run import compiler, elsewhere, memory, pool, stop
from nalu_bench.run.kept import kept
from nalu_bench.run.progress import Display, Progress, reporter
from nalu_bench.store import provenance, schema, upkeep
from nalu_bench.store.claims import ClaimLostError, Claims, Held
from nalu_bench.store.reader import Store


@dataclass(frozen=True)
class Job:
    """One block of one cell to be trained; `name` is the cell's label in its plan."""

    name: str
    cell: Cell
    block: Block
    machine: Machine
    root: Path
    commit: str
    criterion: str = "task"

    @property
    def label(self) -> str:
        """The cell and the seeds, for progress lines and messages."""
        return f"{self.name} seeds {self.block.span}"

    @property
    def part(self) -> Path:
        """The folder of its results."""
        return schema.parts_dir(self.root / self.cell.folder) / self.block.span

    @property
    def claim(self) -> Path:
        """The file of the process that trains it."""
        return schema.claim_path(self.root / self.cell.folder, self.block.span)


Group = Sequence[Job]
"""Jobs that are trained side by side on one draw of the data."""


@dataclass(frozen=True)
class Outcome:
    """What became of a group.

    Attributes:
        failures: a line for each job that failed.
        left: the jobs that other processes train.
    """

    failures: list[str]
    left: list[Job]

MOST_TOGETHER = 3
"""The most jobs of a group: the draw is a third of a cheap cell's work, and larger groups share cores less evenly."""

GIB = 2**30

LINGER = 1.0
"""Seconds that an interrupted Hydra job waits for those beside it: joblib kills them all when the first ends."""


def jobs(wanted: Sequence[Wanted], store: Store, machine: Machine) -> list[Job]:
    """The jobs that are missing: the first block of every cell in the order of the cells, then the second, ..."""
    missing = []
    for want in wanted:
        if want.cell.skip() is None:
            seeds = set(want.seeds) - store.finished_seeds(want.cell)
            missing += [
                Job(want.label(), want.cell, block, machine, store.root, provenance.commit(), want.criterion)
                for block in blocks(seeds, machine.width or want.cell.model.width)
            ]
    return sorted(missing, key=lambda job: job.block.number)


def groups(todo: Sequence[Job], workers: int, most: int = MOST_TOGETHER) -> list[Group]:
    """Group jobs of the same seeds that can share their data: at most `most` a group, and a group for every worker."""
    from nalu_bench.training.data import sharing_key

    alike: dict[tuple[str, str], list[Job]] = {}
    for job in todo:
        alike.setdefault((job.block.span, sharing_key(job.cell)), []).append(job)
    size = min(most, math.ceil(len(todo) / workers))
    return [same[start : start + size] for same in alike.values() for start in range(0, len(same), size)]


def run(todo: Sequence[Job], machine: Machine, quiet: bool = False) -> list[str]:
    """Train all jobs, with a progress bar unless `quiet`; returns one line for each that failed.

    Jobs that other processes train are left to them until all else is done; then they are waited for, or taken over.

    Raises:
        Interrupted after SIGINT or SIGTERM, once the jobs that train have written their checkpoints.
    """
    if not todo:
        return []
    seconds = stop.SECONDS + (stop.SPARE if machine.workers > 1 else 0)
    with stop.after_the_step(lambda: kept(todo), seconds):
        return _run(todo, machine, quiet)


def _run(todo: Sequence[Job], machine: Machine, quiet: bool) -> list[str]:
    _set_aside_damaged(todo)
    total = sum(job.cell.recipe.steps for job in todo)
    tqdm.set_lock(threading.RLock())  # its own is a semaphore of the system, which outlives a process that is killed
    pause = 0.1 if sys.stderr.isatty() else 30  # a log file wants few lines
    with tqdm(total=total, unit="step", unit_scale=True, dynamic_ncols=True, disable=quiet, mininterval=pause) as bar:
        progress = Display(bar, len(todo))
        failures: list[str] = []
        left: list[Job] = []
        while todo:
            parts, workers = _affordable(todo, machine.workers)
            outcomes = _in_pool(parts, workers, progress) if workers > 1 else _in_process(parts, progress)
            for group, outcome in outcomes:
                progress.finish(len(group) - len(outcome.left))
                failures += outcome.failures
                left += outcome.left
            todo, left = elsewhere.wait(left, progress)
    return failures


def _set_aside_damaged(todo: Sequence[Job]) -> None:
    """Set the damaged parts of the cells aside, whose seeds are about to be trained again."""
    from nalu_bench.store import writer

    for job, *_ in by_cell(todo):
        for part, why in Store(job.root).damaged(job.cell).items():
            print(f"{part} is damaged ({why}): moved to {writer.set_aside(job.root, job.cell, part)}.", file=sys.stderr)


def _affordable(todo: Sequence[Job], workers: int) -> tuple[list[Group], int]:
    """The groups, and the number of them that fit into memory at a time; print it if it is below the workers.

    Raises:
        UsageError if not even one cell fits.
    """
    room = memory.available()
    _check_memory(todo, room)
    for most in range(MOST_TOGETHER, 0, -1):
        parts = groups(todo, workers, most)
        largest = max(memory.needed([job.cell for job in group]) for group in parts)
        if largest <= room:
            break
    wanted, fitting = min(workers, len(parts)), room // largest
    if fitting < wanted:
        print(
            f"a worker needs about {largest / GIB:.1f} GB and {room / GIB:.1f} GB are free: "
            f"training {fitting} {'group' if fitting == 1 else 'groups'} of cells at a time.",
            file=sys.stderr,
        )
    return parts, min(wanted, fitting)


def _check_memory(todo: Sequence[Job], room: int) -> None:
    """Raise UsageError if the largest cell alone does not fit; no network is built for inputs that cannot fit."""
    for estimate in (memory.numbers, memory.needed):
        job = max(todo, key=lambda job: estimate([job.cell]))
        largest = estimate([job.cell])
        if largest > room:
            sizes = ", ".join([*memory.sizes_of(job.cell.model), "recipe.batch_size", "recipe.evaluation_size"])
            raise UsageError(
                f"a block of {job.name} must fit into the {room / GIB:.1f} GB of memory that are free, and needs "
                f"{largest / GIB:,.1f} GB or more; lower {sizes} or the number of the task's inputs."
            )


def check(machine: Machine, todo: Sequence[Job]) -> None:
    """Raise UsageError if store, data, machine or networks cannot do what is asked; say so if nothing is compiled."""
    for root in {job.root for job in todo}:
        upkeep.prepare(root)
    _check_data(todo)
    _check_memory(todo, memory.available())  # before any network is built
    _check_networks(todo)
    if machine.device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise UsageError("device=cuda needs a CUDA GPU, and torch finds none; use device=cpu.")
    if machine.compile and not compiler.works():
        raise UsageError(f"compile=true needs a C++ compiler, and {compiler.command()} does not work; set CXX.")
    if machine.compile is None and not compiler.works():
        print(
            f"no working C++ compiler ({compiler.command()}): training eagerly, several times slower.", file=sys.stderr
        )


def _check_data(todo: Sequence[Job]) -> None:
    """Check the fixed data of every cell; reading them refuses a bad file."""
    from nalu_bench.training.data import check_rows

    for job, *_ in by_cell(todo):
        check_rows(job.cell)


def _check_networks(todo: Sequence[Job]) -> None:
    """Build and check every network once, so that a mistake in one is found before hours are spent on other cells."""
    from nalu_bench.training.check import check_network

    def shape(cell: Cell) -> str:
        return canonical([plain(cell.model), cell.task.program_key(), cell.recipe.loss])

    for cell in {shape(job.cell): job.cell for job in todo}.values():
        check_network(cell, cell.model.build(cell.task))


def train(group: Group, progress: Progress) -> Outcome:
    """Claim, train and store the jobs of a group in this process.

    Raises:
        Interrupted if this process was asked to stop; nothing is recorded as failed.
    """
    if stop.asked():
        raise Interrupted
    pending, outcome = list(group), Outcome([], [])
    try:
        with Claims() as claims:
            mine = _claimed(group, claims, outcome.left)
            pending = [job for job, _ in mine]
            for number, error in _train(mine, progress) if mine else ():
                job, held = mine[number]
                claims.release(held)
                pending.remove(job)
                if isinstance(error, ClaimLostError):
                    outcome.left.append(job)
                elif error:
                    outcome.failures.append(_failure(job, error))
    except Exception as error:  # one group's failure must not cost the others; it is stored and reported
        outcome.failures.extend(_failure(job, error) for job in pending if job not in outcome.left)
    return outcome


def _claimed(group: Group, claims: Claims, left: list[Job]) -> list[tuple[Job, Held]]:
    """Claim what no other process has, and look at the store again; adds what others have to `left`."""
    mine = []
    for job in group:
        held = claims.take(job.claim, job.cell.recipe.steps)
        if held is None:
            left.append(job)
        elif claims.system.there(job.part):
            claims.release(held)
        else:
            mine.append((job, held))
    return mine


def _failure(job: Job, error: Exception) -> str:
    return _fail(job, f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


def _fail(job: Job, why: str, details: str = "") -> str:
    from nalu_bench.store import writer

    try:
        path = writer.write_failure(job.root, job.cell, job.block.span, job.block.seeds, details or why)
    except OSError as error:
        return f"{job.label}: {why} (and the store cannot be written: {error})"
    return f"{job.label}: {why} (details in {path})"


def by_cell(todo: Sequence[Job]) -> list[list[Job]]:
    """The jobs of each cell; one Hydra job trains one cell."""
    cells: dict[str, list[Job]] = {}
    for job in todo:
        cells.setdefault(job.cell.digest, []).append(job)
    return list(cells.values())


def train_cell(cells: Sequence[Sequence[Job]], machine: Machine, command: int, index: int) -> None:
    """One Hydra job: train and store cells[index]; failures are stored too, and printed in the job's output.

    A job in a process of its own ends when it gets SIGTERM, and when the command dies that started this process.

    Args:
        command: the process of the command.
    """
    apart, below = os.getpid() != command, os.getppid() == command
    if apart:
        stop.own()
    if below:
        pool.end_with(command)
    try:
        for failure in _run_cell(cells[index], machine):
            print(f"failed: {failure}", file=sys.stderr)
    except Interrupted:
        if not apart:
            raise
        if below:
            time.sleep(LINGER)
        else:
            print(kept(cells[index]), file=sys.stderr, flush=True)
        os._exit(stop.exit_code())


def _run_cell(todo: Sequence[Job], machine: Machine) -> list[str]:
    try:
        upkeep.prepare(todo[0].root)  # another machine may see the store otherwise
        return run(todo, machine, quiet=True)
    except Exception as error:  # such as too little memory on this machine; a launcher would stop the other cells
        return [_failure(job, error) for job in todo]


def why_left(job: Job, store: Store) -> str:
    """A line for a job that a launcher was given, and that is not in the store."""
    told = store.failures(job.cell).get(job.block.seeds[0])
    if told is None:
        return f"{job.label}: not in the store, and no failure is stored: its process died, or never began"
    path = schema.failure_path(job.root / job.cell.folder, job.block.span)
    return f"{job.label}: not in the store; its last failure: {told} (details in {path})"


def _train(mine: Sequence[tuple[Job, Held]], progress: Progress) -> Iterator[tuple[int, Exception | None]]:
    """Train and store claimed jobs of a group; yields the number of each as it ends, with its error or None."""
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # large pages, read by torch: a fifth faster on images
    from nalu_bench.run import settings
    from nalu_bench.training.compilation import Mode
    from nalu_bench.training.loop import Request, train_together

    settings.reset()
    machine = mine[0][0].machine
    compiled = compiler.works() if machine.compile is None else machine.compile
    mode = Mode(machine.device, compiled and all(job.cell.model.compiles for job, _ in mine))
    requests = [
        Request(
            job.cell, job.block, schema.checkpoint_path(job.root / job.cell.folder, job.block.span),
            reporter(job.label, progress, held), threshold(job.cell, job.criterion),
        )
        for job, held in mine
    ]  # fmt: skip
    for number, outcome in train_together(requests, mode, stop.asked):
        if isinstance(outcome, Exception):
            yield number, outcome
        else:
            yield number, _store(mine[number][0], outcome, mode.describe(), requests[number].checkpoint)


def _store(job: Job, result: BlockResult, made_by: dict[str, str], used: Path) -> Exception | None:
    """Write a result and remove its checkpoint; returns the error if that fails, as on a full disk."""
    from nalu_bench.store import writer
    from nalu_bench.training import checkpoint

    try:
        if not writer.write_part(job.root, job.cell, result, made_by | {"commit": job.commit}):
            print(f"{job.label}: stored by another process already.", file=sys.stderr)
        checkpoint.remove(used)
    except Exception as error:  # the other jobs of the group go on
        return error
    return None


def _in_process(parts: Sequence[Group], progress: Progress) -> Iterator[tuple[Group, Outcome]]:
    for group in parts:
        yield group, train(group, progress)


def _in_pool(parts: Sequence[Group], workers: int, progress: Progress) -> Iterator[tuple[Group, Outcome]]:
    for group, outcome in pool.outcomes(train, parts, workers, progress):
        if isinstance(outcome, pool.WorkerDiedError):
            yield group, Outcome([_fail(job, str(outcome)) for job in group], [])
        else:
            yield group, outcome
