"""The inputs of the NPU's paper: the Sobol sequence, the same for every run, whatever its seed.

    x_n = ⊕_k V_k over the bits k of the Gray code n ⊕ ⌊n / 2⌋,   V_k the direction numbers of Joe & Kuo 2008

Source: Heim, Pevný & Šmídl 2020, Table A5, https://arxiv.org/abs/2006.01681, and their code,
https://github.com/nmheim/NeuralPowerUnits. The batch of step t has the points (t - 1) B + 1 to t B; point 0, the
origin, is left out. Validation starts there, too. Other splits leave out point 1 as well, and go from the upper end
of the range to the lower one.

The points of such a batch are not like random ones: over 128 of them a sum of 50 inputs has its mean at nearly the
same place every time, and its spread differs from batch to batch (tests/training/random/test_npu_sobol.py).
"""

import functools

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell
from nalu_bench.registry import register
from nalu_bench.training.compilation import Mode
from nalu_bench.training.random.addressable import Addressable
from nalu_bench.training.random.draws import Addressed, Draw
from nalu_bench.training.random.stable_nalu import whole

BITS = 10
"""Points are made of one of 2^10 patterns of low bits, and of high bits that a batch mostly shares."""

Array = NDArray[np.float64]


@register("npu_sobol", version=1)
class NPUSobol(Addressable):
    """Points of the Sobol sequence as inputs; initial weights are those of `Addressable`.

    Deviations: torch's direction numbers, of Joe & Kuo 2008. Their code takes the sequence from Sobol.jl 1.4, whose
    numbers are those of Joe & Kuo 2003: other points, with the same properties in each dimension.
    """

    def check(self, cell: Cell) -> None:
        task = cell.task
        splits = ("train", *task.evaluated, *task.tested)
        fixed = task.repeated or any(task.rows(split) or task.distribution(split) for split in splits)
        if task.inputs != "vector" or fixed or any(len(whole(task.intervals(split))) > 1 for split in splits):
            raise UsageError(
                "recipe.streams=npu_sobol needs a task of vectors that are uniform on one interval and drawn afresh, "
                f"got {task.name}; use recipe.streams=addressable."
            )

    def training(self, cell: Cell, seeds: list[int], mode: Mode) -> Draw:
        batch, size = cell.recipe.batch_size, cell.task.example_size("train")
        ((low, high),) = whole(cell.task.intervals("train"))
        buffer = torch.empty(len(seeds), size, batch, device=mode.device)

        def draw(step: int) -> Tensor:
            return buffer.copy_(_scaled(points((step - 1) * batch + 1, batch, size), low, high))

        return Addressed(draw)

    def evaluated(self, cell: Cell, split: str) -> Tensor:
        task = cell.task
        count, size = task.examples(split, cell.recipe.evaluation_size), task.example_size(split)
        ((low, high),) = whole(task.intervals(split))
        if split == "validation":
            return _scaled(points(1, count, size), low, high)
        return _scaled(points(2, count, size), high, low)


def points(first: int, count: int, size: int) -> Array:
    """The points first, first + 1, ... of the sequence, as columns (size, count) in [0, 1).

    >>> points(1, 3, 2).tolist()
    [[0.5, 0.75, 0.25], [0.5, 0.25, 0.75]]
    """
    number = np.arange(first, first + count)
    high, low = np.divmod(number, 1 << BITS)
    found = _patterns(size)[:, low]
    for block in np.unique(high):
        found[:, high == block] ^= _combined(size, int(block) << BITS)[:, None]
    return np.asarray(found * 2.0 ** -_directions(size).shape[1])


@functools.cache
def _directions(size: int) -> NDArray[np.int64]:
    """The direction numbers (size, 30) as integers, the first bit the highest."""
    state: Tensor = torch.quasirandom.SobolEngine(size).sobolstate  # type: ignore[no-untyped-call]
    return state.numpy()


@functools.cache
def _patterns(size: int) -> NDArray[np.int64]:
    """The points (size, 2^10) at the beginning of the sequence, as integers."""
    return np.stack([_combined(size, number) for number in range(1 << BITS)], axis=1)


def _combined(size: int, number: int) -> NDArray[np.int64]:
    """One point (size,) as integers."""
    chosen = [bit for bit in range(_directions(size).shape[1]) if (number ^ number >> 1) >> bit & 1]
    return np.asarray(np.bitwise_xor.reduce(_directions(size)[:, chosen], axis=1))


def _scaled(u: Array, start: float, end: float) -> Tensor:
    return torch.from_numpy((start + (end - start) * u).astype(np.float32))
