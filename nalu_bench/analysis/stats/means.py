"""The mean of our seeds against one printed number that is itself a mean over seeds, without a spread."""

import math
import sys

import numpy as np
from numpy.typing import ArrayLike

from nalu_bench.analysis.stats.compare import EQUIVALENCE, MARGIN_MEDIAN, alone
from nalu_bench.analysis.stats.intervals import student
from nalu_bench.analysis.stats.ranges import read_printed
from nalu_bench.analysis.stats.verdicts import Comparison, Verdict
from nalu_bench.analysis.stats.words import Better, apart, times

SAME = 0.005
"""Log-ratios below this would be written as a factor of 1.00; the difference is told instead."""


def compare_printed_mean(samples: ArrayLike, printed: str, count: int) -> Comparison:
    """Compare the mean of our seeds with a printed mean over `count` seeds whose spread is not printed.

        d ± t s sqrt(1 + n/n0),   d = log(x̄ / printed),   s = deviation / (√n x̄),   t Student's quantile, n - 1 degrees

    d counts from the nearest number that is rounded to the printed one; of a bound such as `<0.0001` from all below it,
    of one such as `>999` from all above it. The printed seeds are assumed to spread as ours do, relative to their mean.
    `agrees` needs 0 inside and the 90 % interval within log 1.5 of 0, as for medians; of a bound, its end on the other
    side alone.

    The range of our seeds (`ranges.compare_single`) is for a number of one network. A mean over 100 varies ten times
    less, so that this range would agree with means that differ.

    Source: ours; the delta method for log x̄, and Student 1908 for t. Deviations: none. In simulations of equal means,
    100 seeds a side, the share of `differs` alone is 5 % for normal errors and 8 % for log-normal ones (σ = 1). It is
    18 % where 1 seed in 50 errs a hundred times as much: a sample without such a seed does not show that spread.

    Args:
        samples: ours, not negative, one a seed; without a mean if one is not finite. printed: as printed, such as
        "493.65" or "<0.0001". count: n0, the seeds behind it.

    Returns: the comparison alone (see `verdicts.settle`); difference and limits are natural logarithms of ours /
    printed. Inconclusive, without a p-value, for fewer than 2 seeds, and if a seed has no finite error.

    Raises: ValueError for a negative sample, and if `printed` is not a number.

    >>> compare_printed_mean([90.0, 100.0, 110.0], "105", 100).verdict
    <Verdict.AGREES: 'agrees'>
    """
    x, given = np.asarray(samples, dtype=np.float64), read_printed(printed)
    if missing := int(np.sum(~np.isfinite(x))):
        return Comparison(Verdict.INCONCLUSIVE, reason=f"no mean: {missing} of {x.size} seeds have no finite error")
    if np.any(x < 0):
        raise ValueError(f"samples must not be negative, got {x.min()}")
    if x.size < 2:
        return Comparison(Verdict.INCONCLUSIVE, notes=(f"a mean needs 2 seeds, ours has {x.size}",))
    mean = max(float(x.mean()), sys.float_info.min)
    nearest = max(mean, given.least) if given.bound else min(max(mean, given.least), given.most)
    difference, error = math.log(mean / nearest), float(x.std(ddof=1)) / mean * math.sqrt(1 / x.size + 1 / count)
    low, high, p_value = student(difference, error, x.size - 1)
    within = student(difference, error, x.size - 1, EQUIVALENCE)[:2]
    if math.isinf(given.least):
        within = (0.0, max(0.0, within[1] - difference + math.log(mean / given.most)))
    if given.bound:
        within = (min(0.0, within[0] - difference + math.log(mean / given.value)), 0.0)
    reason = (
        f"a mean of {mean:.4g} over {x.size} seeds against {printed.strip()} over {count}: {math.exp(difference):.3g} "
        f"times, from {math.exp(low):.3g} to {math.exp(high):.3g} with 95 % confidence (Student)"
    )
    close = abs(difference) < SAME
    by = apart(mean - nearest, Better.LOWER) if close else times(mean, nearest, Better.LOWER)
    return alone(difference, low, high, p_value, within, MARGIN_MEDIAN, "a factor of 1.5", by, reason)
