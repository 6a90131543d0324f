"""What a table of a few runs would print, as numbers that could be drawn again."""

import zlib
from collections.abc import Callable

import numpy as np

from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.stats.redrawn import redrawn

DRAWS = 4_000
"""Tables that are drawn."""

SEED = 20_200_602
"""Of the generator of all draws (our choice)."""

Statistic = Callable[[Array], tuple[Array, Array]]
"""Errors (D, k) -> the number printed for each row, and the one behind its ±."""


def mean_and_error(errors: Array) -> tuple[Array, Array]:
    """The mean, and its standard error s / √k, s with the divisor k - 1.

    >>> [each.round(3).tolist() for each in mean_and_error(np.array([[1.0, 2.0, 6.0]]))]
    [[3.0], [1.528]]
    """
    with np.errstate(invalid="ignore"):
        spread = errors.std(axis=-1, ddof=1) / np.sqrt(errors.shape[-1]) if errors.shape[-1] > 1 else np.nan
    return errors.mean(axis=-1), _worst(np.broadcast_to(spread, errors.shape[:-1]))


def median_and_deviation(errors: Array) -> tuple[Array, Array]:
    """The median, and the median absolute deviation from it.

    >>> [each.tolist() for each in median_and_deviation(np.array([[1.0, 2.0, 6.0]]))]
    [[2.0], [1.0]]
    """
    median = np.median(errors, axis=-1)
    with np.errstate(invalid="ignore"):
        deviation = np.median(np.abs(errors - median[..., None]), axis=-1)
    return median, _worst(deviation)


STATISTICS: dict[str, Statistic] = {"mean": mean_and_error, "median": median_and_deviation}


def drawn(errors: Array, ranks: Array, count: int, best: int, name: str) -> Array:
    """The errors (DRAWS, best) behind so many tables, see `redrawn`: of `count` runs the `best` with the least ranks.

    Args:
        errors, ranks: (m,) of our runs, perhaps infinite.
        count: runs of a table. best: those of them that are kept, at most `count`.
        name: tables with other names are drawn independently.
    """
    generator = np.random.default_rng([SEED, zlib.crc32(name.encode())])
    chosen = redrawn(generator, len(errors), count, DRAWS)
    first = np.argsort(ranks[chosen], axis=1, kind="stable")[:, :best]
    return errors[np.take_along_axis(chosen, first, axis=1)]


def _worst(values: Array) -> Array:
    return np.where(np.isnan(values), np.inf, values)
