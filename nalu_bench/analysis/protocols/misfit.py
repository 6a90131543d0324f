"""How improbable a printed number is under a hypothesis."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, stdtr

from nalu_bench.analysis.stats.ranges import read_printed

Array = NDArray[np.float64]

SPLITS = ("validation", "extrapolation")
MEANS = ("mae", "mse")
METRICS: Mapping[str, tuple[str, float]] = {"mae": ("mae", 1.0), "rmse": ("mse", 0.5), "mse": ("mse", 1.0)}
"""Metric of a score -> the mean error that it is computed from, and the power of that mean."""

SMALLEST, LARGEST = 1e-3, 1e6
"""Scores are cut to these limits before their logarithm is taken: a solved run has 0, a diverged one no number."""

LEAST = 1e-300
"""The smallest probability; its logarithm is still a number."""


def log_scores(scores: ArrayLike) -> Array:
    """The natural logarithms of scores; what is not finite counts as `LARGEST`."""
    values = np.asarray(scores, dtype=np.float64)
    logs: Array = np.log(np.clip(np.where(np.isfinite(values), values, LARGEST), SMALLEST, LARGEST))
    return logs


def misfit(printed: str, location: ArrayLike, deviation: ArrayLike, freedom: float, discrepancy: float) -> Array:
    """Minus the log probability of the interval of numbers that round to the printed one.

        -log P(log(p - h) < y < log(p + h)),   y = location + √(deviation² + discrepancy²) · t,   t ~ Student(freedom)

    h is half a unit of the last digit of p. A printed 0.0 is the lower tail y < log 0.05, and >999 the upper one
    y > log 999. So a hypothesis gains nothing by being vague: what it spreads over other numbers it takes from this.

    Source: ours. Deviations: does not apply.

    Args:
        printed: the number as printed.
        location, deviation: of the predicted log score.
        freedom: degrees of freedom; infinite without seeds.
        discrepancy: what every hypothesis may be off by, as a deviation of the log.

    >>> [round(float(misfit("21.4", math.log(score), 0.0, 24, 0.1)), 1) for score in (21.4, 30.0, 300.0)]
    [4.0, 8.9, 46.5]
    """
    given = read_printed(printed)
    scale = np.sqrt(np.square(deviation) + discrepancy**2)
    low = -math.inf if given.least <= 0 else math.log(given.value if given.bound else given.least)
    high = math.inf if given.bound else math.log(given.most)
    ends = [(limit - np.asarray(location)) / scale for limit in (low, high)]
    # In the upper half the difference of two numbers near 1 is rounded away: mirror it.
    upper = ends[0] > 0
    mirrored = np.where(upper, -ends[1], ends[0]), np.where(upper, -ends[0], ends[1])
    below, above = (ndtr(end) if math.isinf(freedom) else stdtr(freedom, end) for end in mirrored)
    found: Array = -np.log(np.maximum(above - below, LEAST))
    return found
