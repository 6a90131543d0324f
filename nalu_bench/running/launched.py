"""One cell as the job of a Hydra launcher, in whatever process that runs it."""

import os
import sys
import time
from collections.abc import Sequence

from nalu_bench import output
from nalu_bench.errors import Interrupted
from nalu_bench.plan.machine import Machine
from nalu_bench.running import pool, stop
from nalu_bench.running.jobs import Job
from nalu_bench.running.kept import kept
from nalu_bench.running.runner import run_jobs
from nalu_bench.running.work import fail, failure
from nalu_bench.store import schema, upkeep
from nalu_bench.store.reader import Store

LINGER = 1.0
"""Seconds that an interrupted Hydra job waits for those beside it: joblib kills them all when the first ends."""


def train_cell(cells: Sequence[Sequence[Job]], machine: Machine, command: int, index: int) -> None:
    """One Hydra job: train and store cells[index]; failures are stored too, and printed in the job's output.

    A job in a process of its own ends when it gets a signal, and when the command dies that started this process.

    Args:
        command: the process of the command.
    """
    apart, below = os.getpid() != command, os.getppid() == command
    if apart:
        stop.own()
    if below:
        pool.end_with(command)
    try:
        with output.lenient():
            for line in _failures(cells[index], machine):
                print(f"failed: {line}", file=sys.stderr)
    except Interrupted:
        if not apart:
            raise
        if below:
            time.sleep(LINGER)
        else:
            with output.lenient():
                print(kept(cells[index]), file=sys.stderr)
        os._exit(stop.exit_code())


def _failures(todo: Sequence[Job], machine: Machine) -> list[str]:
    """Train the jobs; a line for each that failed."""
    try:
        upkeep.prepare(todo[0].root)  # another machine may see the store otherwise
        return run_jobs(todo, machine, quiet=True)
    except Exception as error:  # such as too little memory on this machine; a launcher would stop the other cells
        return [failure(job, error) for job in todo]


def why_left(job: Job, store: Store) -> str:
    """A line for a job that a launcher was given, and that is not in the store.

    It is recorded as failed, unless a process trains it: the launcher's jobs may outlive the command.
    """
    if job.block.span in store.leases(job.cell):
        return f"{job.label}: not in the store yet, a process trains it, see nalu-bench status"
    told = store.failures(job.cell).get(job.block.seeds[0])
    if told is None:
        return fail(job, "its process died, or never began")
    path = schema.failure_path(job.root / job.cell.folder, job.block.span)
    return f"{job.label}: not in the store; its last failure: {told} (details in {path})"
