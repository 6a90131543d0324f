"""The inputs of a training step for a whole block: numbers of the streams, spread over the task's intervals.

Without care, drawing takes as long as training. On the CPU a numba kernel writes the finished numbers of
all seeds into one buffer that is small enough to stay in a core's cache; elsewhere the same formulas run as compiled
tensor operations. Both give the same bits before the spreading, and the same up to rounding after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import Tensor

from nalu_bench.tasks.distributions import Distribution
from nalu_bench.training.random import streams

if TYPE_CHECKING:
    from numpy.typing import NDArray

Place = dict[str, Any]
"""The place of a draw in its sequence, as tensors and plain values for a checkpoint."""


class Draw(Protocol):
    """Step -> numbers (S, N, B), which are overwritten by the next draw.

    A draw that can only go forward keeps its place in checkpoints. Its numbers do not depend on it: without a place,
    or with an earlier one, it goes through the steps between.
    """

    def __call__(self, step: int) -> Tensor: ...

    def place(self) -> Place:
        """Where the draw is; empty if any step can be drawn at once."""

    def go_to(self, place: Place) -> None:
        """Take over a place of the same draw; an empty one changes nothing."""


@dataclass(frozen=True)
class Addressed:
    """A draw of which any step can be drawn at once."""

    numbers: Callable[[int], Tensor]

    def __call__(self, step: int) -> Tensor:
        return self.numbers(step)

    def place(self) -> Place:
        return {}

    def go_to(self, place: Place) -> None:
        pass


def shaped(draw: Draw, distribution: Distribution | None, period: int | None) -> Draw:
    """A draw of uniform numbers as one of a distribution, whose batches come again after `period` steps."""
    if distribution is None and period is None:
        return draw

    def numbers(step: int) -> Tensor:
        uniform = draw(1 + (step - 1) % period if period else step)
        return distribution.of(uniform) if distribution else uniform

    return Addressed(numbers)


def coefficients(intervals: NDArray[Any]) -> Tensor:
    """Offset and slope (2, 2) of the lines in u below and above u = 1/2, see `spread`; the ends count as float32."""
    (low, high), (low2, high2) = np.asarray(intervals, np.float32).astype(np.float64)
    return torch.tensor([[low, 2 * (high - low)], [2 * low2 - high2, 2 * (high2 - low2)]], dtype=torch.float32)


def spread(u: Tensor, lines: Tensor) -> Tensor:
    """Spread uniform numbers over two intervals of equal probability: u below 1/2 over the first, else the second.

    Args:
        u: numbers in [0, 1).
        lines: the `coefficients` (2, 2) of the intervals.
    """
    below, above = lines.unbind()
    return torch.where(u < 0.5, below[0] + below[1] * u, above[0] + above[1] * u)


def tensor_draw(shape: tuple[int, int]) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """Draws as tensor operations, on any device: keys (S, 2), lines (2, 2) and step, a scalar -> (S, N, B)."""
    inputs, batch = shape

    def draw(keys: Tensor, lines: Tensor, step: Tensor) -> Tensor:
        u = torch.vmap(lambda key: streams.uniforms(key, step, inputs * batch))(keys)
        return spread(u, lines).view(len(keys), inputs, batch)

    return draw


def numba_draw(keys: Tensor, shape: tuple[int, int], lines: Tensor) -> Callable[[int], Tensor]:
    """Draws on the CPU into one buffer: step -> (S, N, B)."""
    from nalu_bench.training.random.numba_kernels import fill

    buffer = torch.empty(len(keys), *shape)
    flat = buffer.numpy().reshape(len(keys), -1)
    unsigned = keys.numpy().view(np.uint64)
    constants = lines.numpy()

    def draw(step: int) -> Tensor:
        fill(unsigned, step, constants, flat)
        return buffer

    return draw
