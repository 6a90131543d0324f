"""Our numbers against the printed ones.

Each `compare_*` gives the verdict a comparison would get alone; `verdicts.settle` gives the one to report.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from nalu_bench.analysis.stats.intervals import FEWEST, bootstrap_medians, newcombe_interval, newcombe_limits, student
from nalu_bench.analysis.stats.verdicts import ALPHA, CLAIMED_SIDE, LEFT_OPEN, Comparison, Verdict
from nalu_bench.analysis.stats.words import Better, points, times

MARGIN_RATE = 0.15
"""Rates agree if the 90 % interval of their difference lies within so much of 0 (our choice)."""

MARGIN_MEDIAN = math.log(1.5)
"""Medians agree if the 90 % interval of their log-ratio lies within so much of 0: a factor of 1.5 (our choice)."""

SMALLEST_P = 1e-6
"""No p-value of a claim is given as smaller."""

Limits = Callable[[float], tuple[float, float]]
"""Confidence -> the interval of a number."""

EQUIVALENCE = 0.90
"""The confidence of the interval that must lie within the margin: two one-sided tests of 5 % each."""


def compare_rates(successes: int, trials: int, printed_successes: int, printed_trials: int) -> Comparison:
    """Compare two success rates by Newcombe's interval of their difference.

        agrees  iff  the 90 % interval of p - p0 lies within [-0.15, 0.15] and the 95 % interval holds 0
        p-value = 1 - the largest confidence whose interval excludes 0; 1 for equal rates

    Source: Newcombe 1998, Stat. Med. 17, 873-890, method 10; equivalence by two one-sided tests, Schuirmann 1987,
    J. Pharmacokinet. Biopharm. 15, 657-680. Deviations: none; the p-value inverts the interval, and 0.15 is our choice.

    Args:
        successes, trials: ours, over all seeds asked for. printed_successes, printed_trials: the published
        ones.

    Returns: the comparison alone (see `verdicts.settle`); difference and limits are of rates, in [-1, 1].

    Raises: ValueError unless 0 <= successes <= trials and trials >= 1, on both sides.

    >>> compare_rates(94, 100, 97, 100).verdict
    <Verdict.AGREES: 'agrees'>
    """
    counts = (successes, trials, printed_successes, printed_trials)
    low, high = newcombe_interval(*counts)
    difference = successes / trials - printed_successes / printed_trials
    p_value = _newcombe_p_value(*counts)
    reason = (
        f"{successes} of {trials} against {printed_successes} of {printed_trials}: a difference of "
        f"{100 * difference:.1f} points, from {100 * low:.1f} to {100 * high:.1f} with 95 % confidence (Newcombe)"
    )
    within = newcombe_interval(*counts, EQUIVALENCE)
    return alone(difference, low, high, p_value, within, MARGIN_RATE, "15 points", points(difference), reason)


def compare_medians(samples: ArrayLike, printed_median: float, printed_solved: int, resolution: float) -> Comparison:
    """Compare the median of our solved-at steps with a printed median whose samples are not known.

        d ± t s sqrt(1 + k/k0),   d = log(median / printed),   t = Student's 97.5 % quantile, k - 1 degrees
        of freedom,   s >= (resolution / 2) / min(median, printed)

    s is the bootstrap standard error of our log median over k seeds. The printed median, over k0 seeds, is assumed
    to have the same spread. The floor of s is for ties: steps are known only to one evaluation interval. It uses
    the smaller median, so that it is the same whichever side is ours. `agrees` needs 0 inside and the 90 % interval
    within log 1.5 of 0 (our choice).

    Source: ours; s as Efron & Tibshirani 1993, An Introduction to the Bootstrap, algorithm 6.1. Deviations: from the
    plain rule t = 1.96, which ignores that s is itself estimated. In simulations of equal medians without ties
    (k0 = 100) the share of `differs` alone is 2 to 4 % for k = 6 to 9 and 4 to 6 % from 10 on; with 1.96 it is 5 to
    12 % for 6 to 10 and 6 to 8 % above. Ties lower it, to 0 % where the floor takes over. Fewer seeds have a range and
    no bootstrap error; for k = 2 that share would be 7 %.

    Args:
        samples: our solved-at steps of solved seeds only, positive and finite. printed_median: in steps; nan
        if nothing was solved. printed_solved: k0. resolution: the evaluation interval in steps, positive.

    Returns: the comparison alone (see `verdicts.settle`); difference and limits are natural logarithms of ours /
    printed. Inconclusive, without a p-value, if k is below `FEWEST` or k0 below 2.

    Raises: ValueError for samples that are not positive and finite, or other arguments outside their range.

    >>> compare_medians([8000.0, 8500.0, 9000.0, 9000.0, 9500.0, 10000.0], 9000.0, 100, 1000.0).verdict
    <Verdict.AGREES: 'agrees'>
    """
    steps = _checked_steps(samples, resolution)
    if steps.size < FEWEST or printed_solved < 2:
        note = f"medians need {FEWEST} solved seeds of ours and 2 printed ones, got {steps.size} and {printed_solved}"
        return Comparison(Verdict.INCONCLUSIVE, notes=(note,))
    if not 0 < printed_median < math.inf:
        raise ValueError(f"printed_median must be positive and finite, got {printed_median}: pass it in steps")
    median = float(np.median(steps))
    difference = math.log(median / printed_median)
    floor = resolution / 2 / min(median, printed_median)
    spread = max(float(np.std(np.log(bootstrap_medians(steps)), ddof=1)), floor)
    error, freedom = spread * math.sqrt(1 + steps.size / printed_solved), steps.size - 1
    low, high, p_value = student(difference, error, freedom)
    within = student(difference, error, freedom, EQUIVALENCE)[:2]
    reason = (
        f"a median of {median:,.0f} over {steps.size} solved seeds against {printed_median:,.0f} over "
        f"{printed_solved}: {math.exp(difference):.3g} times, from {math.exp(low):.3g} to {math.exp(high):.3g} with "
        "95 % confidence (bootstrap and Student)"
    )
    by = times(median, printed_median, Better.LOWER)
    return alone(difference, low, high, p_value, within, MARGIN_MEDIAN, "a factor of 1.5", by, reason)


def alone(
    difference: float, low: float, high: float, p_value: float, within: tuple[float, float], margin: float,
    margin_told: str, by: str, reason: str,
) -> Comparison:  # fmt: skip
    """A comparison with the verdict that it would get alone; `agrees` needs the interval `within` inside of the margin.

    The p-values invert the 95 % intervals, so p <= α says that it excludes 0 (or touches it).
    """
    equal = max(map(abs, within)) <= margin
    told = f"{reason}; with 90 % confidence {'' if equal else 'not '}within {margin_told}"
    verdict = Verdict.AGREES if equal else Verdict.INCONCLUSIVE
    if p_value <= ALPHA:
        verdict = Verdict.DIFFERS
    return Comparison(verdict, difference, low, high, p_value, by=by, reason=told)


def _newcombe_p_value(successes: int, trials: int, successes0: int, trials0: int) -> float:
    """P(|N(0, 1)| >= z) for the z at which Newcombe's interval touches 0."""
    sign = successes * trials0 - successes0 * trials
    if sign == 0:
        return 1.0

    def clearance(z: float) -> float:
        low, high = newcombe_limits(successes, trials, successes0, trials0, z)
        return low if sign > 0 else -high

    # The limits move outwards as z grows. The one towards 0 passes it: its distance from the difference d tends to at
    # least sqrt(d² + 1/2).
    widest = 1.0
    while clearance(widest) > 0:
        widest *= 2
    return 2 * float(ndtr(-brentq(clearance, 0.0, widest)))


def compare_claim(
    limits: Limits, threshold: float, words: str = "", above: bool = True, places: int = 1, picked: bool = False
) -> Comparison:
    """Test a claim in words, which holds if a number is above (or below) a threshold of ours.

        agrees  iff  the whole 95 % interval lies on the claimed side,  differs  iff  it lies on the other
        p-value = 1 - the largest confidence whose interval lies on one side

    The test is one-sided: better than claimed is agreement. A claim on several places is tested where it is furthest
    from true, see `claim_truth`. If it holds there, with the largest of all p-values, it holds everywhere, so that
    `agrees` needs no correction; for `differs` the p-value there is multiplied by the number of places (Bonferroni). If
    the place was picked by its own number, as the best of several, both are.

    Args:
        limits: confidence -> the interval of our number. threshold: in the number's unit. words: the threshold in
            words; "at least 3" or "at most 3" by default. above: the claimed side. A number equal to the threshold lies
            on the claimed side. places: of which this is the one furthest from true. picked: see above.

    Returns: the comparison alone (see `verdicts.settle`); without a p-value if there is no interval. Raises: nothing.

    >>> str(compare_claim(lambda confidence: (0.4, 0.9), 0.5, "a share of at least one half").verdict)
    'inconclusive'
    """
    low, high = limits(1 - ALPHA)
    p_value = _claim_p_value(limits, threshold, above)
    near, far, limit = _claimed_upwards(low, high, threshold, above)
    verdict, lies = Verdict.INCONCLUSIVE, LEFT_OPEN  # also if a limit is nan
    if near >= limit:
        verdict, lies = Verdict.AGREES, CLAIMED_SIDE
    elif far < limit:
        verdict, lies = Verdict.DIFFERS, "lies on the other side"
    needs = f"{'at least' if above else 'at most'} {threshold:g}"
    reason = f"the claim needs {needs}; our number, from {low:.3g} to {high:.3g}, {lies}"
    if places > 1 and (verdict is Verdict.DIFFERS or (picked and verdict is Verdict.AGREES)):
        p_value = min(1.0, places * p_value)
        verdict = verdict if p_value <= ALPHA else Verdict.INCONCLUSIVE
        reason += f"; it is {'picked from' if picked else 'the furthest from true of'} {places} places"
    return Comparison(verdict, p_value=p_value, reason=reason, threshold=words or needs)


def _claim_p_value(limits: Limits, threshold: float, above: bool) -> float:
    """The smallest α whose interval of confidence 1 - α lies on one side of the threshold; nan without an interval."""
    if math.isnan(sum(end for end in limits(1 - ALPHA) if not math.isinf(end))):
        return math.nan

    def clear(alpha: float) -> bool:
        near, far, limit = _claimed_upwards(*limits(1 - alpha), threshold, above)
        return near >= limit or far < limit

    low, high = math.log(SMALLEST_P), 0.0
    if clear(SMALLEST_P):
        return SMALLEST_P
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if clear(math.exp(middle)) else (middle, high)
    return math.exp(high)


def claim_truth(limits: Limits, threshold: float, above: bool = True) -> tuple[int, float, float]:
    """A key to sort the numbers of one claim by: the smallest is furthest from true.

    First come those that differ, the smallest p-value first; then those that leave it open, by how far their interval
    reaches the other way (infinitely far without an interval); then those that agree, the largest p-value first. The
    reach also parts equal p-values.

    Args: as `compare_claim`.

    >>> claim_truth(lambda confidence: (0.5, 4.0), 2.0) < claim_truth(lambda confidence: (1.0, 9.0), 2.0)
    True
    """
    found = compare_claim(limits, threshold, above=above)
    near, *_ = _claimed_upwards(*limits(1 - ALPHA), threshold, above)
    reach = -math.inf if math.isnan(near) else near
    if found.verdict is Verdict.DIFFERS:
        return 0, found.p_value, reach
    return (2, -found.p_value, reach) if found.verdict is Verdict.AGREES else (1, reach, reach)


def _claimed_upwards(low: float, high: float, threshold: float, above: bool) -> tuple[float, float, float]:
    """The limits and the threshold, with all signs changed if the claimed side is below."""
    return (low, high, threshold) if above else (-high, -low, -threshold)


def _checked_steps(samples: ArrayLike, resolution: float) -> NDArray[np.float64]:
    steps = np.asarray(samples, dtype=np.float64)
    if not np.all((steps > 0) & np.isfinite(steps)):
        raise ValueError(f"samples must be positive and finite, got {steps}: pass the steps of solved seeds only")
    if not 0 < resolution < math.inf:
        raise ValueError(f"resolution must be positive, got {resolution}: pass the evaluation interval in steps")
    return steps
