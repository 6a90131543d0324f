"""Blocks that other processes train: wait for them, or take them over."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from nalu_bench.errors import Interrupted
from nalu_bench.running import bars, stop
from nalu_bench.running.progress import Display
from nalu_bench.store.leases import Lease, System, Watch
from nalu_bench.store.reader import damage

if TYPE_CHECKING:
    from nalu_bench.running.jobs import Job

PAUSE = 1.0
"""Seconds between two looks at the store."""


def wait(left: Sequence[Job], progress: Display) -> tuple[list[Job], list[Job]]:
    """Wait until blocks are stored or can be leased; returns (those to be leased, the rest).

    Raises:
        Interrupted if this process was asked to stop.
    """
    waiting, watch = list(left), Watch()
    bars.write(_line(waiting))
    while waiting:
        time.sleep(PAUSE)
        if stop.asked():
            raise Interrupted
        for job in [job for job in waiting if job.part.exists() and not damage(job.part)]:
            waiting.remove(job)
            progress(job.label, job.cell.recipe.steps, 0)
            progress.finish(1)
        free = [job for job in waiting if watch.free(job.lease)]
        if free:
            return free, [job for job in waiting if job not in free]
    return [], []


def _line(waiting: Sequence[Job]) -> str:
    """Who trains what is waited for."""
    texts = [System().read(job.lease) for job in waiting]
    leases = [lease for text in texts if (lease := Lease.parsed(text or ""))]
    where = sorted({f"process {lease.process} on {lease.host}" for lease in leases})
    count = f"{len(waiting)} {'block is' if len(waiting) == 1 else 'blocks are'}"
    return f"{count} being trained by {', '.join(where) or 'another process'}; waiting to see the end of it."
