"""The mean of our seeds against a point of a printed curve, a mean over runs whose band may be printed."""

import math

import numpy as np

from nalu_bench.analysis.stats.compare import EQUIVALENCE, MARGIN_RATE, alone
from nalu_bench.analysis.stats.intervals import few_alike, student
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.stats.verdicts import NO_SEEDS, Comparison, Verdict, not_comparable
from nalu_bench.analysis.stats.words import points
from nalu_bench.analysis.table.line import Compare, Printed

MARGIN = 100 * MARGIN_RATE
"""Percentages agree within so many points, as rates do."""

BAND = 4
"""A printed band is as wide as so many standard deviations: 2 sigma on each side."""


def against_curve(samples: Array, off: float, last: Printed | None = None) -> Compare:
    """The comparison of percentages with a printed mean over `n_seeds` runs, read off a figure to within `off` points.

        d ± t √(s²/n + r²/n0),   r = (high - low) / 4 of the band, else the larger of s and that of the curve's `last`

    t is Student's quantile with Welch and Satterthwaite's degrees of freedom; n - 1 if r is s. d counts from the
    nearest number within `off` of the printed one. `agrees` needs 0 inside, and the 90 % interval within 15 points of
    0, as for rates. Seeds that are fewer than 6 and all alike decide nothing beside a curve without a band. Source:
    ours; Welch 1947. Deviations: does not apply.
    """

    def compare(printed: Printed) -> Comparison:
        if not printed.n_seeds:
            return not_comparable(NO_SEEDS)
        if samples.size < 2:
            return Comparison(Verdict.INCONCLUSIVE, reason=f"a mean needs 2 seeds, got {samples.size}")
        mean, spread, value = float(samples.mean()), float(samples.std(ddof=1)), printed.number()
        theirs = _spread(printed)
        if theirs is None:
            theirs = max(spread, (last and _spread(last)) or 0.0)
        band = theirs != spread
        difference = mean - float(np.clip(mean, value - off, value + off))
        parts = spread**2 / samples.size, theirs**2 / printed.n_seeds
        error, freedom = math.sqrt(sum(parts)), samples.size - 1.0
        if not error and few_alike(samples):
            return Comparison(Verdict.INCONCLUSIVE, reason=f"all {samples.size} seeds are alike")
        if band:
            freedom = error**4 / (parts[0] ** 2 / (samples.size - 1) + parts[1] ** 2 / (printed.n_seeds - 1))
        low, high, p_value = student(difference, error, freedom)
        within = student(difference, error, freedom, EQUIVALENCE)[:2]
        reason = (
            f"a mean of {mean:.4g} over {samples.size} seeds against {value:g} ± {off:g} over {printed.n_seeds}: "
            f"{difference:+.3g} points, from {low:.3g} to {high:.3g} with 95 % confidence "
            f"({'Welch' if band else 'Student'})"
        )
        told = f"{MARGIN:g} points"
        return alone(difference, low, high, p_value, within, MARGIN, told, points(difference / 100), reason)

    return compare


def _spread(printed: Printed) -> float | None:
    """The standard deviation that a printed band stands for; None without a band over several runs."""
    if not (printed.low and printed.high) or (printed.n_seeds or 0) < 2:
        return None
    return abs(float(printed.high) - float(printed.low)) / BAND
