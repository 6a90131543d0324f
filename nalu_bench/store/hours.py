"""What the blocks of some cells have cost by their manifests, and what those that are missing will cost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nalu_bench.plan.blocks import parse_ranges
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.store import status
from nalu_bench.store.reader import Store

Alike = tuple[str, int]
"""Model and inputs: cells that are alike in both take about the same time."""


@dataclass(frozen=True)
class Rates:
    """Seconds of one core for a step of one seed.

    Attributes:
        measured: of finished blocks, by model and inputs. mean: of all finished blocks together, or what is assumed.
    """

    measured: Mapping[Alike, float]
    mean: float

    def of(self, cell: Cell) -> float:
        """That of blocks of the same model and inputs, else the mean."""
        return self.measured.get(_alike(cell), self.mean)


def spent(store: Store, cells: Sequence[Cell]) -> float:
    """Seconds of one core behind the stored blocks of cells."""
    return math.fsum(manifest["seconds"] for cell in cells for manifest in store.sound_manifests(cell))


def rates(store: Store, cells: Sequence[Cell], assumed: float) -> Rates:
    """The rates of the finished blocks of cells; `assumed` seconds where no block is finished."""
    seconds: dict[Alike, float] = {}
    steps: dict[Alike, int] = {}
    for cell in cells:
        for manifest in store.sound_manifests(cell):
            alike = _alike(cell)
            seconds[alike] = seconds.get(alike, 0.0) + manifest["seconds"]
            steps[alike] = steps.get(alike, 0) + len(parse_ranges(manifest["seeds"])) * cell.recipe.steps
    known = {alike: seconds[alike] / count for alike, count in steps.items() if count}
    total = sum(steps.values())
    return Rates(known, math.fsum(seconds.values()) / total if total else assumed)


def left(store: Store, wanted: Sequence[Wanted], known: Rates, width: int | None = None) -> float:
    """Seconds of one core that missing blocks of cells will take; `width` as in `status.read`."""
    return sum(
        known.of(one.want.cell) * one.steps_left * (width or one.want.cell.model.width)
        for one in status.read(store, wanted, width).cells
    )


def _alike(cell: Cell) -> Alike:
    return cell.model.name, cell.task.input_size
