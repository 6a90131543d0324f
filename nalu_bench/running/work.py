"""The work of one process: lease, train and store a group of jobs."""

import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nalu_bench.errors import FAILURES, Interrupted, UsageError, in_a_line, named, out_of_memory
from nalu_bench.plan.criteria import threshold
from nalu_bench.plan.result import BlockResult
from nalu_bench.running import compiler, memory, process, stop
from nalu_bench.running.jobs import Group, Job
from nalu_bench.running.progress import Progress, reporter
from nalu_bench.store import schema
from nalu_bench.store.leases import LeaseLostError, Leases, OwnLease
from nalu_bench.store.provenance import processor


@dataclass(frozen=True)
class Fate:
    """What became of a group.

    Attributes:
        failures: a line for each job that failed.
        left: the jobs that other processes train.
    """

    failures: list[str]
    left: list[Job]


def train_group(group: Group, progress: Progress) -> Fate:
    """Lease, train and store the jobs of a group in this process.

    Raises:
        Interrupted if this process was asked to stop; nothing is recorded as failed.
    """
    if stop.asked():
        raise Interrupted
    pending, fate = list(group), Fate([], [])
    try:
        with Leases() as leases:
            mine = _leased(group, leases, fate.left)
            pending = [job for job, _ in mine]
            for number, error in _train_leased(mine, progress) if mine else ():
                job, owned = mine[number]
                leases.release(owned)
                pending.remove(job)
                if isinstance(error, LeaseLostError):
                    fate.left.append(job)
                elif error and stop.asked():  # the signal ended a compiler, too
                    raise Interrupted
                elif error:
                    fate.failures.append(failure(job, error))
    except FAILURES as error:  # one group's failure must not cost the others; it is stored and reported
        if stop.asked():
            raise Interrupted from None
        fate.failures.extend(failure(job, error) for job in pending if job not in fate.left)
    return fate


def _leased(group: Group, leases: Leases, left: list[Job]) -> list[tuple[Job, OwnLease]]:
    """Take a lease of what no other process has, and look at the store again; adds what others have to `left`."""
    mine = []
    for job in group:
        owned = leases.take(job.lease, job.cell.recipe.steps)
        if owned is None:
            left.append(job)
        elif leases.system.there(job.part):
            leases.release(owned)
        else:
            mine.append((job, owned))
    return mine


def failure(job: Job, error: BaseException) -> str:
    """Record that an error ended a job; returns a line that says so."""
    why = in_a_line(named(error))
    if out_of_memory(error):
        sizes = ", ".join([*memory.sizes_of(job.cell.model), "recipe.batch_size", "device.workers"])
        return fail(job, f"memory ran out: lower {sizes}", "".join(traceback.format_exception(error)))
    return fail(job, why, "".join(traceback.format_exception(error)))


def fail(job: Job, why: str, details: str = "") -> str:
    """Record that a job failed: the reason, the traceback, and the command that repeats it alone; returns a line."""
    from nalu_bench.store import writer

    record = {"seeds": job.block.seeds, "reason": why, "again": job.again, "traceback": details or why}
    try:
        path = writer.write_failure(job.root, job.cell, job.block.span, record)
    except OSError as error:
        return f"{job.label}: {why} (and the store cannot be written: {error})\n  again: {job.again}"
    return f"{job.label}: {why} (details in {path})\n  again: {job.again}"


def _train_leased(
    mine: Sequence[tuple[Job, OwnLease]], progress: Progress
) -> Iterator[tuple[int, BaseException | None]]:
    """Train and store leased jobs of a group; yields the number of each as it ends, with its error or None."""
    process.prepare()
    from nalu_bench.training.compilation import Mode
    from nalu_bench.training.loop import Request, train_together

    machine = mine[0][0].machine
    gains = machine.device == "cuda" or mine[0][0].cell.model.compiles
    compiled = gains and compiler.works(machine.device) if machine.compile is None else machine.compile
    mode = Mode(machine.device, compiled)
    requests: dict[int, Request] = {}
    for number, (job, owned) in enumerate(mine):
        checkpoint = schema.checkpoint_path(job.root / job.cell.folder, job.block.span)
        try:
            limit = threshold(job.cell, job.criterion)
        except UsageError as error:  # of a task of another package: it costs no other cell
            yield number, error
        else:
            told = reporter(job.label, progress, owned)
            requests[number] = Request(job.cell, job.block, checkpoint, told, limit, processor())
    numbers = list(requests)
    if compiled and requests:
        progress(f"compiling {mine[numbers[0]][0].label}", 0, 0)
    for place, outcome in train_together([*requests.values()], mode, stop.asked) if requests else ():
        number = numbers[place]
        if isinstance(outcome, BaseException):
            yield number, outcome
        else:
            yield number, _store(mine[number][0], outcome, mode.describe(), requests[number].checkpoint)


def _store(job: Job, result: BlockResult, made_by: dict[str, str], used: Path) -> Exception | None:
    """Write a result; returns the error if that fails, as on a full disk."""
    from nalu_bench.store import writer

    try:
        if not writer.write_part(job.root, job.cell, result, made_by | {"commit": job.commit}):
            print(f"{job.label}: stored by another process already.", file=sys.stderr)
    except Exception as error:  # the other jobs of the group go on
        return error
    _after_it(job, result, used)
    return None


def _after_it(job: Job, result: BlockResult, used: Path) -> None:
    """Remove the checkpoint and copy the result for another program; the block is stored, whatever becomes of these."""
    from nalu_bench.running import loggers
    from nalu_bench.training import checkpoint

    try:
        checkpoint.remove(used)
        loggers.logger_of(job.machine.logger).write(job.root, job.cell, result)
    except Exception as error:  # a logger of another package may raise anything
        told = f"stored, but logger={job.machine.logger} did not end its copy: {named(error)}"
        print(f"{job.label}: {told}.", file=sys.stderr)
