"""From cells to stored runs: skip what is done, train what is missing, survive what fails."""

import math
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from nalu_bench.errors import UsageError
from nalu_bench.plan.blocks import Block, blocks
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.criteria import threshold
from nalu_bench.plan.identity import canonical, plain
from nalu_bench.plan.machine import Machine
from nalu_bench.plan.result import BlockResult
from nalu_bench.run import compiler, memory, pool
from nalu_bench.run.progress import Display, Progress, reporter
from nalu_bench.store import provenance, schema
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
        return f"{self.name} seeds {self.block.name}"


Group = Sequence[Job]
"""Jobs that are trained side by side on one draw of the data."""

MOST_TOGETHER = 3
"""The most jobs of a group: the draw is a third of a cheap cell's work, and larger groups share cores less evenly."""

GIB = 2**30


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
    """Train all jobs, with a progress bar unless `quiet`; returns one line for each that failed."""
    if not todo:
        return []
    parts, workers = _affordable(todo, machine.workers)
    total = sum(job.cell.recipe.steps for job in todo)
    pause = 0.1 if sys.stderr.isatty() else 30  # a log file wants few lines
    with tqdm(total=total, unit="step", unit_scale=True, dynamic_ncols=True, disable=quiet, mininterval=pause) as bar:
        progress = Display(bar, len(todo))
        outcomes = _in_pool(parts, workers, progress) if workers > 1 else _in_process(parts, progress)
        failures = []
        for group, failed in outcomes:
            progress.finish(len(group))
            failures += failed
    return failures


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
    """Raise UsageError if data, machine or networks cannot do what is asked; print a line if nothing is compiled."""
    _check_data(todo)
    _check_memory(todo, memory.available())  # before any network is built
    for root in {job.root for job in todo}:
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"the run store {root} cannot be made: {error.strerror}; set NALU_BENCH_HOME.") from None
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


def train(group: Group, progress: Progress) -> list[str]:
    """Train and store the jobs of a group in this process; returns a line for each that failed."""
    left, failures = list(group), []
    try:
        for job, error in _train(group, progress):
            left.remove(job)
            failures += [_failure(job, error)] if error else []
    except Exception as error:  # one group's failure must not cost the others; it is stored and reported
        failures += [_failure(job, error) for job in left]
    return failures


def _failure(job: Job, error: Exception) -> str:
    return _fail(job, f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


def _fail(job: Job, why: str, details: str = "") -> str:
    from nalu_bench.store import writer

    try:
        path = writer.write_failure(job.root, job.cell, job.block.name, list(job.block.wanted), details or why)
    except OSError as error:
        return f"{job.label}: {why} (and the store cannot be written: {error})"
    return f"{job.label}: {why} (details in {path})"


def by_cell(todo: Sequence[Job]) -> list[list[Job]]:
    """The jobs of each cell; one Hydra job trains one cell."""
    cells: dict[str, list[Job]] = {}
    for job in todo:
        cells.setdefault(job.cell.digest, []).append(job)
    return list(cells.values())


def train_cell(cells: Sequence[Sequence[Job]], machine: Machine, index: int) -> None:
    """One Hydra job: train and store cells[index]; failures are stored too, and printed in the job's output."""
    try:
        failures = run(cells[index], machine, quiet=True)
    except Exception as error:  # such as too little memory on this machine; a launcher would stop the other cells
        failures = [_failure(job, error) for job in cells[index]]
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)


def why_left(job: Job, store: Store) -> str:
    """A line for a job that a launcher was given, and that is not in the store."""
    told = store.failures(job.cell).get(job.block.wanted[0])
    if told is None:
        return f"{job.label}: not in the store, and no failure is stored: its process died, or never began"
    path = schema.failure_path(job.root / job.cell.folder, job.block.name)
    return f"{job.label}: not in the store; its last failure: {told} (details in {path})"


def _train(group: Group, progress: Progress) -> Iterator[tuple[Job, Exception | None]]:
    """Train and store the jobs of a group; yields each as it ends, with its error or None."""
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # large pages, read by torch: a fifth faster on images
    from nalu_bench.run import settings
    from nalu_bench.training.compilation import Mode
    from nalu_bench.training.loop import Request, train_together

    settings.reset()
    machine = group[0].machine
    compiled = compiler.works() if machine.compile is None else machine.compile
    mode = Mode(machine.device, compiled and all(job.cell.model.compiles for job in group))
    requests = [
        Request(
            job.cell, job.block, schema.checkpoint_path(job.root / job.cell.folder, job.block.span),
            reporter(job.label, progress), threshold(job.cell, job.criterion),
        )
        for job in group
    ]  # fmt: skip
    for number, outcome in train_together(requests, mode):
        job = group[number]
        if isinstance(outcome, Exception):
            yield job, outcome
        else:
            yield job, _store(job, outcome, mode.describe(), requests[number].checkpoint)


def _store(job: Job, result: BlockResult, made_by: dict[str, str], used: Path) -> Exception | None:
    """Write a result and remove its checkpoint; returns the error if that fails, as on a full disk."""
    from nalu_bench.store import writer
    from nalu_bench.training import checkpoint

    try:
        writer.write_part(job.root, job.cell, result, made_by | {"commit": job.commit})
        checkpoint.remove(used)
    except Exception as error:  # the other jobs of the group go on
        return error
    return None


def _in_process(parts: Sequence[Group], progress: Progress) -> Iterator[tuple[Group, list[str]]]:
    for group in parts:
        yield group, train(group, progress)


def _in_pool(parts: Sequence[Group], workers: int, progress: Progress) -> Iterator[tuple[Group, list[str]]]:
    for group, outcome in pool.outcomes(train, parts, workers, progress):
        if isinstance(outcome, pool.WorkerDiedError):
            yield group, [_fail(job, str(outcome)) for job in group]
        else:
            yield group, outcome
