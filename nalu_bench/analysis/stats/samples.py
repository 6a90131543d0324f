"""Two samples of seeds, where the printed numbers come with every seed behind them."""

import math
from dataclasses import replace

import numpy as np
import scipy  # so written, scipy.stats (0.6 s) is loaded where it is used
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from nalu_bench.analysis.stats.compare import EQUIVALENCE, alone
from nalu_bench.analysis.stats.intervals import FEWEST
from nalu_bench.analysis.stats.verdicts import Comparison, Verdict, not_comparable

MARGIN = 0.15
"""Samples agree if P(ours > theirs) lies within so much of one half, with 90 % confidence (our choice)."""

NOT_MEANS = "all seeds are compared, not their means"
"""What a comparison of samples notes beside two means."""


def compare_times(ours: ArrayLike, theirs: ArrayLike, trained: float, trained0: float) -> Comparison:
    """Compare the steps at which seeds are solved; those that are not solved are censored at the end of training.

    `agrees` also needs half of the seeds to be solved on both sides: ties of unsolved ones say nothing on speed.

    Source: Mantel 1966, Cancer Chemother. Rep. 50, 163-170 (the log-rank test, for the p-value); the rest as in
    `compare_values`, with an unsolved seed later than every solved one. Deviations: none.

    Args:
        ours, theirs: the step of every seed, nan for one that is not solved. trained, trained0: steps of training.

    Returns: the comparison alone (see `verdicts.settle`); difference and limits are of P(ours > theirs) - 1/2. Not
    comparable if no seed is solved on a side.

    >>> compare_times([10, 20, 30, np.nan], [12, 19, 33, np.nan], 40, 40).p_value > 0.5
    True
    """
    x, y = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    solved, solved0 = np.isfinite(x).sum(), np.isfinite(y).sum()
    if not (solved and solved0):
        return not_comparable(f"no seed is solved on {'one side' if solved or solved0 else 'either side'}")
    p_value = log_rank(x, y, trained, trained0)
    told = f"{solved} of {x.size} solved seeds against {solved0} of {y.size} of the authors'"
    late, late0 = (np.where(np.isnan(sample), math.inf, sample) for sample in (x, y))
    found = _compared(late, late0, p_value, told, "log-rank", "later")
    if found.verdict is Verdict.AGREES and min(solved / x.size, solved0 / y.size) < 0.5:
        return replace(found, verdict=Verdict.INCONCLUSIVE, notes=(*found.notes, "fewer than half of the seeds solved"))
    return found


def log_rank(ours: NDArray[np.float64], theirs: NDArray[np.float64], end: float, end0: float) -> float:
    """The two-sided p-value of the log-rank test; what is not finite is censored at the end. 1 if all are alike.

    Source: Mantel 1966, Cancer Chemother. Rep. 50, 163-170. Deviations: none.

    >>> log_rank(np.array([14.0, 14, 15, 15]), np.array([np.inf, 40, 30, np.inf]), 60, 60) < 0.05
    True
    """
    both = np.concatenate([ours, theirs])
    if np.all(both == both[0]) or (end == end0 and not np.isfinite(both).any()):
        return 1.0
    return float(scipy.stats.logrank(x=_censored(ours, end), y=_censored(theirs, end0)).pvalue)


def _censored(sample: NDArray[np.float64], end: float) -> "scipy.stats.CensoredData":
    beyond = ~np.isfinite(sample)
    return scipy.stats.CensoredData(uncensored=sample[~beyond], right=np.full(int(beyond.sum()), float(end)))


def compare_values(ours: ArrayLike, theirs: ArrayLike) -> Comparison:
    """Compare two samples of a number by the Mann-Whitney test.

        agrees  iff  the 90 % interval of P(ours > theirs) + P(ours = theirs) / 2 lies within [0.35, 0.65], and p > 5 %

    Source: Mann & Whitney 1947, Ann. Math. Stat. 18, 50-60; the interval DeLong, DeLong & Clarke-Pearson 1988,
    Biometrics 44, 837-845. Deviations: none; the margin is our choice.

    Returns: as `compare_times`. Not comparable for fewer than 2 seeds on a side.

    >>> compare_values([1.0, 2.0, 3.0], [1.1, 2.1, 2.9]).p_value > 0.5
    True
    """
    x, y = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    if min(x.size, y.size) < 2:
        return not_comparable(f"two samples need 2 solved seeds each, got {x.size} and {y.size}")
    p_value = float(scipy.stats.mannwhitneyu(x, y, method="asymptotic").pvalue)
    told = f"{x.size} solved seeds against {y.size} of the authors'"
    return _compared(x, y, p_value, told, "Mann-Whitney", "larger")


def paired(ours: NDArray[np.bool_], theirs: NDArray[np.bool_]) -> str:
    """What pairs of outcomes of the same seeds show, with the p-value of McNemar's exact test.

    Source: McNemar 1947, Psychometrika 12, 153-157. Deviations: the exact binomial p-value.

    >>> paired(np.array([True, True, False, False]), np.array([True, False, True, False]))
    "2 of 4 seeds end as the authors' do, 1 is solved here alone and 1 there alone (McNemar, p = 1)"
    """
    here, there = int(np.sum(ours & ~theirs)), int(np.sum(theirs & ~ours))
    p_value = float(scipy.stats.binomtest(here, here + there).pvalue) if here + there else 1.0
    alike = f"{len(ours) - here - there} of {len(ours)} seeds end as the authors' do"
    verb = "is" if here == 1 else "are"
    return f"{alike}, {here} {verb} solved here alone and {there} there alone (McNemar, p = {p_value:.2g})"


def _compared(
    ours: NDArray[np.float64], theirs: NDArray[np.float64], p_value: float, told: str, test: str, word: str
) -> Comparison:
    """The comparison of two samples, from the placements of each seed in the other sample."""
    wins = (ours[:, None] > theirs).astype(float) + 0.5 * (ours[:, None] == theirs)
    share = float(wins.mean())
    variances = [placements.var(ddof=1) / placements.size for placements in (wins.mean(axis=1), wins.mean(axis=0))]
    error = math.sqrt(sum(variances)) if min(wins.shape) > 1 else math.inf
    low, high = share - 0.5 - ndtri(0.975) * error, share - 0.5 + ndtri(0.975) * error
    half = float(ndtri((1 + EQUIVALENCE) / 2)) * error
    reason = (
        f"{told}: ours is {word} in {100 * share:.0f} % of all pairs, from {100 * max(low + 0.5, 0):.0f} to "
        f"{100 * min(high + 0.5, 1):.0f} with 95 % confidence ({test})"
    )
    if not error and min(wins.shape) < FEWEST:
        few = f"all placements are alike, and {FEWEST} seeds a side say something of their spread"
        return Comparison(Verdict.INCONCLUSIVE, share - 0.5, reason=reason, notes=(few,))
    within, by = (share - 0.5 - half, share - 0.5 + half), f"{word} in {100 * share:.0f} % of pairs"
    found = alone(share - 0.5, low, high, p_value, within, MARGIN, "15 points of one half", by, reason)
    return replace(found, notes=(f"{NOT_MEANS} ({test})",))
