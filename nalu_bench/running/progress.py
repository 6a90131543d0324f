"""The progress bar that the terminal shows while blocks train, here or in processes of a launcher."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from nalu_bench.running import bars
from nalu_bench.store.leases import LeaseLostError, OwnLease
from nalu_bench.store.reader import Store

if TYPE_CHECKING:
    from tqdm import tqdm

    from nalu_bench.running.jobs import Job

Progress = Callable[[str, int, int], None]
"""Called with what is at work, such as the job's label, the steps made since the last call and the seeds solved now."""

LOG_PAUSE = 30
"""Seconds between two lines in a log file, which wants few."""

TERMINAL_PAUSE = 2
"""Seconds between two looks for a terminal; checkpoints are a minute apart."""


def reporter(label: str, progress: Progress, owned: OwnLease) -> Callable[[int, int], None]:
    """A function of (step, solved) that notes the step in the lease, and passes the steps made to `progress`.

    Those of a block whose lease is lost are taken back: they count when the block is stored, or trained again.
    """
    done = 0

    def report(step: int, solved: int) -> None:
        nonlocal done
        try:
            owned.reached(step)
        except LeaseLostError:
            progress(label, -done, 0)
            raise
        progress(label, step - done, solved)
        done = step

    return report


class Display:
    """The progress bar: blocks done, the block last heard of, seeds solved so far.

    Where a person watches, what has begun is shown at once; a log file wants few lines.
    """

    def __init__(self, bar: "tqdm[Any]", blocks_total: int, watched: bool) -> None:
        self.bar = bar
        self.watched = watched
        self.blocks_total = blocks_total
        self.blocks_done = 0
        self.solved: dict[str, int] = {}
        self._describe()

    def __call__(self, label: str, steps: int, solved: int) -> None:
        self.solved[label] = solved
        count = sum(self.solved.values())  # stays 0 where a task has no criterion
        self.bar.set_postfix_str(f"solved {count}; {label}" if count else label, refresh=self.watched and not steps)
        self.bar.update(steps)

    def finish(self, count: int) -> None:
        self.blocks_done += count
        self._describe()

    def _describe(self) -> None:
        self.bar.set_description(f"blocks {self.blocks_done}/{self.blocks_total}")


@contextlib.contextmanager
def followed(todo: "Sequence[Job]", store: Store) -> Iterator[None]:
    """Within, show a bar of what a launcher's processes have done, from finished parts and checkpoints in the store."""
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
    with bars.bar(total, initial=_look(todo, store)[1]) as bar:
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
