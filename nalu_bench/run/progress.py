"""The progress bar that the terminal shows while blocks train."""

from collections.abc import Callable
from typing import Any

from tqdm import tqdm

from nalu_bench.store.leases import OwnLease

Progress = Callable[[str, int, int], None]
"""Called with the job's label, the steps made since the last call and the seeds solved now."""


def reporter(label: str, progress: Progress, owned: OwnLease) -> Callable[[int, int], None]:
    """A function of (step, solved) that notes the step in the lease, and passes the steps made to `progress`."""
    done = 0

    def report(step: int, solved: int) -> None:
        nonlocal done
        owned.reached(step)
        progress(label, step - done, solved)
        done = step

    return report


class Display:
    """The progress bar: blocks done, the block last heard of, seeds solved so far."""

    def __init__(self, bar: "tqdm[Any]", blocks_total: int) -> None:
        self.bar = bar
        self.blocks_total = blocks_total
        self.blocks_done = 0
        self.solved: dict[str, int] = {}
        self._describe()

    def __call__(self, label: str, steps: int, solved: int) -> None:
        self.solved[label] = solved
        count = sum(self.solved.values())  # stays 0 where a task has no criterion
        self.bar.set_postfix_str(f"solved {count}; {label}" if count else label, refresh=False)
        self.bar.update(steps)

    def finish(self, count: int) -> None:
        self.blocks_done += count
        self._describe()

    def _describe(self) -> None:
        self.bar.set_description(f"blocks {self.blocks_done}/{self.blocks_total}")
