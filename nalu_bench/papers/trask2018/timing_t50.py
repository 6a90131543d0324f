"""T50, the first time at which an agent fails; an agent that fails at no tested time has one beyond, not known where.

So T50 is censored at the last tested time, and infinite here. All seeds are censored at the same time, so that order
statistics below it are those of the Kaplan-Meier curve.
"""

from collections.abc import Mapping

import numpy as np

from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.intervals import mean_difference
from nalu_bench.analysis.stats.medians import Array


def first_failures(shares: Mapping[int, Array], least: float) -> Array:
    """The first T at which the success of each seed is below `least`; infinite for one that fails at none.

    >>> first_failures({13: np.array([0.9, 0.1]), 14: np.array([0.8, 0.9])}, 0.5)
    array([inf, 13.])
    """
    failed = np.array([share < least for share in shares.values()])
    return np.where(failed.any(0), np.array([*shares], float)[failed.argmax(0)], np.inf)


def median_of(samples: Array, confidence: float = 0.95) -> tuple[float, float, float]:
    """The first T at which half of the seeds have failed, with its exact interval; infinite ones are beyond the test.

    Between two seeds it is the earlier one, because the middle of a time and an unknown one is not known. The interval
    is that of `medians.exact_of`, unbounded for fewer than 6 seeds.
    Source: Kaplan & Meier 1958, JASA 53, 457-481, for the median. Deviations: none.

    >>> median_of(np.array([14.0, 15, 16, np.inf, np.inf, np.inf]))
    (16.0, 14.0, inf)
    """
    median = float(np.sort(samples)[(samples.size - 1) // 2])
    return median, *medians.exact_of(samples, confidence)[1:]


def shown(samples: Array) -> tuple[float, float, float]:
    """As `median_of`; the seeds' range for fewer than 6.

    >>> shown(np.array([14.0, np.inf, np.inf]))
    (inf, 14.0, inf)
    """
    median, low, high = median_of(samples)
    return (median, low, high) if low > -np.inf else (median, float(samples.min()), float(samples.max()))


def restricted_difference(
    samples: Array, others: Array, last: int, confidence: float = 0.95
) -> tuple[float, float, float]:
    """The difference of two restricted means with its interval: how many steps earlier the others fail, up to `last`.

        mean min(T50, last) - mean min(T50', last),   last the last tested T

    No min(T50, last) is censored, so that it has Welch's interval. Beyond `last` it says nothing.
    Source: Royston & Parmar 2013, BMC Med. Res. Methodol. 13, 152. Deviations: none; nobody is lost before `last`.

    >>> restricted_difference(np.array([np.inf, 50.0]), np.array([14.0, 14.0]), 60)[0]
    41.0
    """
    return mean_difference(np.minimum(samples, last), np.minimum(others, last), confidence)
