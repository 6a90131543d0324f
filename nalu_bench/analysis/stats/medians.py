"""The median of the errors of many seeds, some of which may be infinite."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.stats.compare import compare_single
from nalu_bench.analysis.stats.intervals import median_interval
from nalu_bench.analysis.stats.verdicts import NOTHING_PRINTED, Comparison, not_comparable

Array = NDArray[np.float64]


def finite_or_worst(errors: "pd.Series[float]") -> Array:
    """The errors, infinite if not finite: a run that failed or diverged at once counts as infinitely bad."""
    values = errors.to_numpy(float)
    return np.where(np.isfinite(values), values, np.inf)


def median_of(samples: Array) -> tuple[float, float, float]:
    """The median with its interval. The limits are nan unless all samples are finite."""
    if np.isfinite(samples).all():
        return median_interval(samples)
    return float(np.median(samples)), np.nan, np.nan


def against_printed(samples: Array, printed: dict[str, str]) -> Comparison:
    """Compare the range of our seeds with a row of the printed numbers."""
    return compare_single(samples, printed["printed"]) if printed["printed"] else not_comparable(NOTHING_PRINTED)
