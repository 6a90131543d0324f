"""The progress of jobs that run in processes of a launcher, as the store shows it."""

import contextlib
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tqdm import tqdm

from nalu_bench.store.reader import Store

if TYPE_CHECKING:
    from nalu_bench.run.jobs import Job

LOG_PAUSE = 30
"""Seconds between two lines in a log file, which wants few."""

TERMINAL_PAUSE = 2
"""Seconds between two looks for a terminal; checkpoints are a minute apart."""


@contextlib.contextmanager
def followed(todo: "Sequence[Job]", store: Store) -> Iterator[None]:
    """Within, show a bar of the blocks and steps that are done, from finished parts and checkpoints."""
    ended = threading.Event()
    thread = threading.Thread(target=_follow, args=(todo, store, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _follow(todo: "Sequence[Job]", store: Store, ended: threading.Event) -> None:
    total = sum(job.cell.recipe.steps for job in todo)
    pause = TERMINAL_PAUSE if sys.stderr.isatty() else LOG_PAUSE
    with tqdm(total=total, unit="step", unit_scale=True, dynamic_ncols=True, initial=_look(todo, store)[1]) as bar:
        while True:
            last = ended.is_set()
            done, bar.n, running = _look(todo, store)
            bar.set_description(f"blocks {done}/{len(todo)}", refresh=False)
            bar.set_postfix_str(f"{running} with a checkpoint")
            if last:
                return
            ended.wait(pause)


def _look(todo: "Sequence[Job]", store: Store) -> tuple[int, int, int]:
    """Blocks that are done, steps of these and of checkpoints, and the number of blocks with a checkpoint."""
    done = steps = running = 0
    for job in todo:
        if job.part.exists():
            done += 1
            steps += job.cell.recipe.steps
        else:
            step = store.in_progress(job.cell).get(job.block.span, 0)
            steps += step
            running += step > 0
    return done, steps, running
