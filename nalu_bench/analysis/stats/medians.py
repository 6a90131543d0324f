"""The median of the errors of many seeds, some of which may be infinite."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import bdtr

from nalu_bench.analysis.stats.intervals import BOOTSTRAP_SEED, median_interval, middle_range

Array = NDArray[np.float64]

RATIOS = 10_000
"""Resamples behind the interval of a ratio."""


def finite_or_worst(errors: "pd.Series[float]", larger_is_better: bool = False) -> Array:
    """The errors, infinite if not finite: a run that failed or diverged at once counts as infinitely bad."""
    values = errors.to_numpy(float)
    return np.where(np.isfinite(values), values, -np.inf if larger_is_better else np.inf)


def median_of(samples: Array, confidence: float = 0.95) -> tuple[float, float, float]:
    """The median with its interval. The limits are nan unless all samples are finite."""
    if np.isfinite(samples).all():
        return median_interval(samples, confidence)
    return float(np.median(samples)), np.nan, np.nan


def limits_of(samples: Array) -> tuple[float, float, float]:
    """As `median_of`; where some samples are infinite, the limits are those of a percentile bootstrap, see `ratio_of`.

    >>> limits_of(np.array([1.0, 2.0, np.inf]))
    (2.0, 1.0, inf)
    """
    if np.isfinite(samples).all():
        return median_of(samples)
    return ratio_of(samples, np.ones(1))


def bounds_of(samples: Array) -> tuple[float, float, float]:
    """As `median_of`; samples that are all equal, as shares of 0 and 1 often are, are their own limits.

    >>> bounds_of(np.array([1.0, 1.0, 1.0]))
    (1.0, 1.0, 1.0)
    """
    if samples.size > 1 and np.ptp(samples) == 0:
        return (float(samples[0]),) * 3
    return median_of(samples)


def exact_of(samples: Array, confidence: float = 0.95) -> tuple[float, float, float]:
    """The median with the exact interval of order statistics, whatever the distribution.

        x_(k) to x_(n + 1 - k),   k the largest with P(Bin(n, 1/2) < k) <= (1 - confidence) / 2

    It is unbounded where n seeds know no such interval: below 6 for 95 %. So its p-values are those of the sign test,
    and not too small for few seeds, as those of a bootstrap are. Source: Conover 1999, Practical Nonparametric
    Statistics, section 3.2. Deviations: none.

    >>> exact_of(np.arange(10.0)), exact_of(np.arange(5.0))
    ((4.5, 1.0, 8.0), (2.0, -inf, inf))
    """
    x, tail = np.sort(samples), (1 - confidence) / 2
    k = _rank_below(x.size, tail)
    limits = (float(x[k - 1]), float(x[-k])) if k else (-np.inf, np.inf)
    return float(np.median(x)), *limits


def _rank_below(count: int, tail: float) -> int:
    """The largest k with P(Bin(count, 1/2) < k) <= tail."""
    below = bdtr(np.arange(count), count, 0.5)  # P(Bin <= 0), P(Bin <= 1), ...
    return int(np.searchsorted(below, tail + 1e-15, side="right"))


def ratio_of(
    samples: Array, reference: Array, confidence: float = 0.95, resamples: int = RATIOS
) -> tuple[float, float, float]:
    """The ratio of two medians with its percentile bootstrap interval. Both groups of seeds are drawn anew.

    Source: Efron & Tibshirani 1993, section 13.3. Deviations: the limits are order statistics, because some samples may
    be infinite.

    Args:
        samples, reference: positive, perhaps infinite; at least one each.

    >>> ratio_of(np.array([2.0, 4.0, 6.0]), np.array([2.0, 2.0, 2.0]))
    (2.0, 1.0, 3.0)
    """
    drawn, drawn0 = _drawn(samples, reference, resamples)
    with np.errstate(invalid="ignore"):
        ratios = drawn / drawn0
    ratios = np.where(np.isnan(ratios), np.inf, ratios)  # both infinite: as bad as can be
    return float(np.median(samples) / np.median(reference)), *middle_range(ratios, confidence)


def between_of(samples: Array, reference: Array, far: float) -> tuple[float, float, float]:
    """How far a median lies on the way from the reference's to a fixed number, with its interval as in `ratio_of`.

        (median - median of the reference) / (far - median of the reference)

    Source: ours. Deviations: does not apply.

    Args:
        samples, reference: as in `ratio_of`. far: where the way ends; nan comes back if the reference is not below it.

    >>> between_of(np.array([2.0, 4.0, 6.0]), np.array([2.0, 2.0, 2.0]), 10.0)
    (0.25, 0.0, 0.5)
    """
    start = float(np.median(reference))
    if not start < far:
        return np.nan, np.nan, np.nan
    drawn, drawn0 = _drawn(samples, reference, RATIOS)
    shares = np.full(RATIOS, np.inf)  # a reference that is no better than the end: as bad as can be
    np.divide(drawn - drawn0, far - drawn0, out=shares, where=drawn0 < far)
    return (float(np.median(samples)) - start) / (far - start), *middle_range(shares)


def _drawn(samples: Array, reference: Array, resamples: int) -> list[Array]:
    """Medians of both groups, drawn anew."""
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    return [np.median(rng.choice(group, (resamples, group.size)), axis=1) for group in (samples, reference)]
