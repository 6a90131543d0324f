"""NumPy's Mersenne Twister for a block of generators at once: the numbers of `RandomState`, several times as fast.

Source: Matsumoto & Nishimura 1998, ACM Trans. Model. Comput. Simul. 8, 3-30 (MT19937); a double is made of two words as
in their `genrand_res53`. A test compares the kernels with `RandomState`.

A generator is its key, 624 words, and its position: the number of words of the key that are used.
"""

from typing import Any

import numpy as np
from numba import float64, int64, uint8, uint32, void

from nalu_bench.training.random.kernel import kernel

WORDS, FAR = 624, 397
UPPER, LOWER, MATRIX = np.uint32(0x80000000), np.uint32(0x7FFFFFFF), np.uint32(0x9908B0DF)
MASK_7, MASK_15, ONE = np.uint32(0x9D2C5680), np.uint32(0xEFC60000), np.uint32(1)


@kernel(uint32(uint32, uint32, uint32), inline="always")
def _mixed(this: Any, after: Any, far: Any) -> Any:
    y = (this & UPPER) | (after & LOWER)
    return uint32(far ^ (y >> ONE) ^ (MATRIX * (y & ONE)))


@kernel(void(uint32[::1]), error_model="numpy")
def _renew(key: Any) -> None:
    """Replace the key by the next one."""
    for i in range(WORDS - FAR):
        key[i] = _mixed(key[i], key[i + 1], key[i + FAR])
    for i in range(WORDS - FAR, WORDS - 1):
        key[i] = _mixed(key[i], key[i + 1], key[i + FAR - WORDS])
    key[WORDS - 1] = _mixed(key[WORDS - 1], key[0], key[FAR - 1])


@kernel(void(uint32[::1], uint32[::1]), error_model="numpy")
def _temper(key: Any, words: Any) -> None:
    """The words that a key gives."""
    for i in range(WORDS):
        y = key[i]
        y = uint32(y ^ (y >> uint32(11)))
        y = uint32(y ^ ((y << uint32(7)) & MASK_7))
        y = uint32(y ^ ((y << uint32(15)) & MASK_15))
        words[i] = uint32(y ^ (y >> uint32(18)))


@kernel(float64(uint32, uint32), inline="always")
def _double(first: Any, second: Any) -> Any:
    high, low = float64(first >> uint32(5)), float64(second >> uint32(6))
    return (high * 67108864.0 + low) / 9007199254740992.0


@kernel(void(uint32[:, ::1], int64[::1], float64, float64, float64[:, ::1]), error_model="numpy")
def fill(keys: Any, positions: Any, low: Any, high: Any, out: Any) -> None:
    """Fill every row of `out` as `RandomState.uniform(low, high)` of its generator does.

    Args:
        keys: (S, 624), positions: (S,); both go on.
        low, high: the interval.
        out: (S, count) float64.
    """
    words, width = np.empty(WORDS, np.uint32), high - low
    for s in range(out.shape[0]):
        at, done = positions[s], 0
        _temper(keys[s], words)
        while done < out.shape[1]:
            pairs = min(out.shape[1] - done, (WORDS - at) // 2)
            for i in range(pairs):
                out[s, done + i] = low + width * _double(words[at + 2 * i], words[at + 2 * i + 1])
            done, at = done + pairs, at + 2 * pairs
            if done < out.shape[1]:
                last, left = words[WORDS - 1], WORDS - at
                _renew(keys[s])
                _temper(keys[s], words)
                if left:  # a pair of the last word and the first of the next key
                    out[s, done] = low + width * _double(last, words[0])
                done, at = done + left, left
        positions[s] = at


@kernel(void(uint32[:, ::1], int64[::1], uint8[:, ::1]), error_model="numpy")
def fill_bits(keys: Any, positions: Any, out: Any) -> None:
    """Fill every row of `out` (S, count) as `RandomState.randint(2)` of its generator does; else as `fill`."""
    words = np.empty(WORDS, np.uint32)
    for s in range(out.shape[0]):
        at = positions[s]
        _temper(keys[s], words)
        for i in range(out.shape[1]):
            if at == WORDS:
                _renew(keys[s])
                _temper(keys[s], words)
                at = 0
            out[s, i] = words[at] & ONE
            at += 1
        positions[s] = at
