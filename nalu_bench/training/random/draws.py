"""The inputs of a training step for a whole block: numbers of the streams, spread over the task's intervals.

Without care, drawing takes as long as training. On the CPU a numba kernel writes the finished numbers of
all seeds into one buffer that is small enough to stay in a core's cache; elsewhere the same formulas run as compiled
tensor operations. Both give the same bits before the spreading, and the same up to rounding after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from nalu_bench.training.random import streams

if TYPE_CHECKING:
    from numpy.typing import NDArray

Draw = Callable[[int], Tensor]
"""Step -> numbers (S, N, B), which are overwritten by the next draw."""


def coefficients(intervals: NDArray[np.float32]) -> Tensor:
    """Offset and slope (2, 2) of the lines in u below and above u = 1/2, see `spread`."""
    (low, high), (low2, high2) = np.asarray(intervals, np.float64)
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


def numba_draw(keys: Tensor, shape: tuple[int, int], lines: Tensor) -> Draw:
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
