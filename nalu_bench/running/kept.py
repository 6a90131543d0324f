"""What an interrupted run has kept, read from the store."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nalu_bench.store.reader import Store

if TYPE_CHECKING:
    from nalu_bench.running.jobs import Job

NAMED = 4
"""The most blocks that are named with their steps."""


def kept(todo: "Sequence[Job]") -> str:
    """The last line of a run that was asked to stop: what is kept of its jobs, and how to go on."""
    stored = failed = 0
    saved: list[str] = []
    for job in todo:
        store = Store(job.root)
        step = store.in_progress(job.cell).get(job.block.span)
        if job.part.exists():
            stored += 1
        elif step is not None:
            saved.append(f"{job.label} at step {step:,}")
        elif set(job.block.seeds) & set(store.failures(job.cell)):
            failed += 1
    rest = len(todo) - stored - len(saved) - failed
    named = "; ".join(saved[:NAMED]) + ("; ..." if len(saved) > NAMED else "")
    counts = [
        f"{stored} {_blocks(stored)} stored" if stored else "",
        f"{len(saved)} kept by {'a checkpoint' if len(saved) == 1 else 'checkpoints'} ({named})" if saved else "",
        f"{failed} failed" if failed else "",
        f"nothing yet of {rest} {_blocks(rest)}" if rest else "",
    ]
    goes_on = "goes on from there" if stored or saved else "starts them"
    return f"stopped: {', '.join(filter(None, counts))}; the same command {goes_on}."


def _blocks(count: int) -> str:
    return "block" if count == 1 else "blocks"
