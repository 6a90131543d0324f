"""The one kernel that no tensor library offers: SplitMix64 for a block of streams, straight into floats.

See `streams` for the generator and `draws.spread` for the intervals; a test compares the kernel with both.
"""

from typing import Any

import numba
import numpy as np
from numba import float32, int64, uint64, void

from nalu_bench.training.random import streams
from nalu_bench.training.random.kernel import kernel

MIX_1, MIX_2 = np.uint64(streams.MIX_1), np.uint64(streams.MIX_2)
TWO_TIMES_24_BITS = np.uint64(0x00FFFFFF00FFFFFF)
SCALE = np.float32(2.0**-24)
HALF = np.float32(0.5)
CHUNK = 512
"""Outputs that are mixed before they become floats: few enough for the first-level cache."""


@kernel(void(uint64, uint64, uint64[::1]), error_model="numpy")
def _mix(first: Any, gamma: Any, out: Any) -> None:
    """Bits 8 to 31 and 40 to 63 of consecutive outputs, the first of them at the state `first`."""
    for i in range(out.size):
        z = first + uint64(i) * gamma
        z = (z ^ (z >> uint64(30))) * MIX_1
        z = (z ^ (z >> uint64(27))) * MIX_2
        z = z ^ (z >> uint64(31))
        out[i] = (z >> uint64(8)) & TWO_TIMES_24_BITS


@kernel(void(numba.int32[::1], float32[:, ::1], float32[::1]), error_model="numpy")
def _spread(bits: Any, lines: Any, out: Any) -> None:
    a, b, c, d = lines[0, 0], lines[0, 1], lines[1, 0], lines[1, 1]
    for i in range(out.size):
        u = float32(bits[i]) * SCALE
        offset = a if u < HALF else c
        slope = b if u < HALF else d
        out[i] = offset + slope * u


@kernel(void(uint64[:, ::1], int64, float32[:, ::1], float32[:, ::1]), error_model="numpy")
def fill(keys: Any, step: Any, lines: Any, out: Any) -> None:
    """Write batch `step` of every stream, spread by `lines`, into a row of `out`.

    Args:
        keys: (S, 2) start and gamma.
        step: number of the batch.
        lines: (2, 2) offset and slope below and from u = 1/2.
        out: (S, count) float32.
    """
    count = out.shape[1]
    outputs = (count + 1) // 2
    raw = np.empty(CHUNK, np.uint64)
    bits = raw.view(np.int32)
    for s in range(out.shape[0]):
        start, gamma = keys[s, 0], keys[s, 1]
        for first in range(0, outputs, CHUNK):
            size = min(CHUNK, outputs - first)
            position = uint64(step) * uint64(outputs) + uint64(first) + uint64(1)
            _mix(start + position * gamma, gamma, raw[:size])
            last = min(2 * (first + size), count)
            _spread(bits[: last - 2 * first], lines, out[s, 2 * first : last])
