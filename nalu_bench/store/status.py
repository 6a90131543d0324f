"""How far the cells of a plan are, as the run store tells it; nothing is asked of the processes that train."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from nalu_bench import output
from nalu_bench.plan.blocks import blocks, parse_ranges
from nalu_bench.plan.cell import Wanted
from nalu_bench.store.leases import Lease
from nalu_bench.store.reader import Store

LONGEST = 100 * 365 * 86_400

PAUSE = 5.0
"""Seconds between two drawings of `watch`: the beat of the leases."""


@dataclass(frozen=True)
class CellTally:
    """One cell, and its seeds that were asked for.

    Attributes:
        want: the cell and the seeds asked for.
        skipped: why the model cannot do the task; None if it can.
        done, running, failed, missing: number of seeds, each counted once.
        leases: name of a block that is trained now -> the lease of its process.
        stopped: name of a block that is not -> the step of its checkpoint.
        damaged: parts that do not count -> why.
        steps_left: the steps that its blocks still need, without those that failed.
    """

    want: Wanted
    skipped: str | None
    done: int
    running: int
    failed: int
    missing: int
    leases: dict[str, Lease]
    stopped: dict[str, int]
    damaged: dict[Path, str]
    steps_left: int

    def lines(self) -> list[str]:
        """The cell, then each of its blocks that is under way, then the parts that do not count."""
        cell, count = self.want.cell, len(self.want.seeds)
        words = self.skipped or f"{self.done}/{count} runs{_counts([self])}"
        return [
            f"{cell.digest}  {self.want.told():60} {words}",
            *(f"  seeds {name}: {_running(lease)}" for name, lease in self.leases.items()),
            *(f"  seeds {name}: stopped at {_step(step, cell.recipe.steps)}" for name, step in self.stopped.items()),
            *(f"  damaged, does not count: {part} ({why})" for part, why in self.damaged.items()),
        ]


@dataclass(frozen=True)
class Tally:
    """All cells of a plan."""

    cells: list[CellTally]

    @property
    def over(self) -> bool:
        """Whether nothing is running or missing."""
        return not any(one.running or one.missing for one in self.cells)

    def lines(self) -> list[str]:
        """The lines of all cells, and the total."""
        return [*(line for one in self.cells for line in one.lines()), self.total()]

    def total(self) -> str:
        """The sums; and the time left if all blocks that are missing train as fast as those that are running."""
        trained = [one for one in self.cells if not one.skipped]
        whole = sum(one.done == len(one.want.seeds) for one in trained)
        runs = f"{sum(one.done for one in trained):,}/{sum(len(one.want.seeds) for one in trained):,} runs"
        text = f"total: {whole:,}/{len(trained):,} cells, {runs}{_counts(trained)}"
        rate = sum(lease.rate for one in trained for lease in one.leases.values())
        left = sum(one.steps_left for one in trained)
        return text + (f"; {rate:,.0f} steps/s, about {_time(left / rate)} left" if rate > 0 else "")


def read(store: Store, wanted: Sequence[Wanted], width: int | None = None) -> Tally:
    """Read the state of cells from the store; `width` is the seeds of a block, None for what the models name."""
    return Tally([_of_cell(store, want, width or want.cell.model.width) for want in wanted])


def watch(store: Store, wanted: Sequence[Wanted], width: int | None = None) -> None:
    """Draw the state again every few seconds, until nothing is running or missing, or nobody reads it."""
    while True:
        status = read(store, wanted, width)
        print("\033[H\033[J" if sys.stdout.isatty() else "", "\n".join(status.lines()), sep="", flush=True)
        if status.over or output.unread():
            return
        time.sleep(PAUSE)


def _of_cell(store: Store, want: Wanted, width: int) -> CellTally:
    cell, asked = want.cell, set(want.seeds)
    skipped = cell.skip()
    if skipped:
        return CellTally(want, skipped, 0, 0, 0, 0, {}, {}, {}, 0)
    stored, damaged = store.sorted_out(cell)
    done = asked & (stored | store.committed[cell.digest])
    open_seeds = asked - done
    leases = {name: lease for name, lease in store.leases(cell).items() if open_seeds & set(parse_ranges(name))}
    running = open_seeds & {seed for name in leases for seed in parse_ranges(name)}
    failed = (open_seeds - running) & set(store.failures(cell))
    missing = open_seeds - running - failed
    stopped = {name: step for name, step in store.in_progress(cell).items() if name not in leases}
    steps = cell.recipe.steps
    left = sum(steps - lease.step for lease in leases.values())
    left += sum(steps - stopped.get(block.span, 0) for block in blocks(missing, width))
    return CellTally(want, None, len(done), len(running), len(failed), len(missing), leases, stopped, damaged, left)


def _counts(cells: Sequence[CellTally]) -> str:
    """The numbers of runs that are not done, without those that are 0."""
    named = {name: sum(getattr(one, name) for one in cells) for name in ("running", "failed", "missing")}
    return "".join(f", {number:,} {name}" for name, number in named.items() if number)


def _step(step: int, steps: int) -> str:
    return f"step {step:,} of {steps:,}" if step else "an unknown step: the note of its checkpoint is damaged"


def _running(lease: Lease) -> str:
    """How far a block is, how fast, and where."""
    text = f"step {lease.step:,} of {lease.steps:,}"
    if lease.rate > 0:
        text += f" at {lease.rate:,.0f} steps/s, {_time((lease.steps - lease.step) / lease.rate)} left"
    return f"{text}; process {lease.process} on {lease.host}, since {lease.since}"


def _time(seconds: float) -> str:
    if seconds > LONGEST:
        return "more than a hundred years"
    return str(timedelta(seconds=round(seconds)))
