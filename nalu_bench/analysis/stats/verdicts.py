"""Two-sided verdicts, with Holm's correction over an experiment. Better than printed is not agreement."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import takewhile

ALPHA = 0.05
"""The probability of any `differs` with a p-value in a whole experiment that does reproduce."""

NOTHING_PRINTED = "no number is printed"
"""The reason why an empty field of the printed numbers is not compared."""

NO_SEEDS = "the number of runs behind it is not printed"
"""The reason why a printed mean or rate is not compared."""

ONLY_ALONE = "decided alone, but not after Holm's correction"
"""The note of a claim that is not decided because others are tested, too."""

CLAIMED_SIDE = "lies on the claimed side"
"""What the reason of a comparison says of a number whose interval is what a claim in words needs."""

LEFT_OPEN = "leaves it open"
"""What it says of a number whose interval holds the threshold, or has no limits."""

CHOSEN = "the protocol was chosen with this number in view"
"""The note of a number that is fitted, and of the number behind a claim."""


class Verdict(StrEnum):
    """Result of a comparison with a printed number, see `MEANINGS`.

    `same seeds` is neither counted nor part of Holm's correction.
    """

    EXACT = "exact"
    AGREES = "agrees"
    FITTED = "fitted"
    UNINFORMATIVE = "uninformative"
    DIFFERS = "differs"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not comparable"
    SAME_SEEDS = "same seeds"


MEANINGS = {
    Verdict.EXACT: "every seed of ours gives the printed number, as it is rounded",
    Verdict.AGREES: "ours is near the printed number, by a test that could tell them apart",
    Verdict.FITTED: "ours agrees, but the protocol was chosen with this number in view",
    Verdict.UNINFORMATIVE: "the range of our seeds holds the printed number, but is so wide that it holds most numbers",
    Verdict.DIFFERS: "ours is better or worse than printed, by a test, or, beside one run, by the range of ours",
    Verdict.INCONCLUSIVE: "the seeds, ours or the printed ones, are too few, or spread too much, to decide",
    Verdict.NOT_COMPARABLE: "the two measure different things, ours was trained too little, or the printed one is off",
    Verdict.SAME_SEEDS: "ours are trained on the very seeds behind the number, which is no independent test",
}
"""What a verdict on a number says."""


def meanings(met: Collection[Verdict | None]) -> dict[str, str]:
    """Verdict -> what it says, for those that are met."""
    return {str(verdict): told for verdict, told in MEANINGS.items() if verdict in met}


@dataclass(frozen=True)
class Comparison:
    """Comparison of one of our numbers with its printed one.

    `difference` is ours minus printed, from `low` to `high` with 95 % confidence: of rates, of natural
    logarithms of medians, or in the metric's unit. It is nan if there is none. `p_value` is nan for comparisons
    outside Holm's correction. `by` says how far we are off, such as `27× worse`, and `reason` what was compared.
    `threshold` is that of a claim in words, such as `at least 0.5`. `held` is the range of our seeds against which a
    printed number without spread is held, in the metric's unit; None if none is.
    """

    verdict: Verdict
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    notes: tuple[str, ...] = ()
    by: str = ""
    reason: str = ""
    threshold: str = ""
    held: tuple[float, float] | None = None


def settle(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Give the comparisons of one experiment their final verdicts, by Holm's step-down correction.

        differs  iff  p_(1) <= α/m, p_(2) <= α/(m - 1), ... up to and including its own rank,   α = 5 %

    Source: Holm 1979, Scand. J. Stat. 6, 65-70. Deviations: none. A verdict that rests on a p-value of at most α, and
    that Holm does not reject, becomes `inconclusive`: `differs` of numbers, and every decided claim in words. Every
    other verdict stays, and so do comparisons without a p-value.

    Args:
        comparisons: all numbers of one experiment, or all claims, or all claims of our own, in any order.

    Returns: the settled comparisons, in the same order. Settling twice changes nothing. Raises: nothing.

    >>> alone = Comparison(Verdict.DIFFERS, 0.15, 0.01, 0.28, 0.034)
    >>> [str(settle([alone] * copies)[0].verdict) for copies in (1, 2)]
    ['differs', 'inconclusive']
    """
    p_values = [comparison.p_value for comparison in comparisons]
    limits, rejected = _limits(p_values), holm(p_values)
    return [
        _settled(comparison, rejected[place], limits[place], len(limits)) if place in limits else comparison
        for place, comparison in enumerate(comparisons)
    ]


def holm(p_values: Sequence[float]) -> list[bool]:
    """Which hypotheses Holm's step-down correction rejects, see `settle`. A p-value of nan is of no hypothesis.

    Ours, because scipy has only false discovery rates, and for this and Newcombe's interval alone statsmodels is heavy.

    >>> holm([0.04, 0.01, float("nan"), 0.03])
    [False, True, False, False]
    """
    limits = _limits(p_values)
    rejected = set(takewhile(lambda place: p_values[place] <= limits[place], limits))
    return [place in rejected for place in range(len(p_values))]


def _limits(p_values: Sequence[float]) -> dict[int, float]:
    """Place -> Holm's limit, from the smallest p-value to the largest, without nan."""
    tested = [place for place, p_value in enumerate(p_values) if not math.isnan(p_value)]
    ranked = sorted(tested, key=lambda place: p_values[place])
    return {place: ALPHA / (len(ranked) - rank) for rank, place in enumerate(ranked)}


def not_comparable(reason: str) -> Comparison:
    """State that no comparison is made, and why: it was ruled out beforehand, or the numbers of steps differ.

    Raises: ValueError if the reason is empty.

    >>> not_comparable("trained for 2000 steps, printed for 5000000").verdict
    <Verdict.NOT_COMPARABLE: 'not comparable'>
    """
    if not reason.strip():
        raise ValueError(f"reason must not be empty, got {reason!r}: say why the numbers cannot be compared")
    return Comparison(Verdict.NOT_COMPARABLE, notes=(reason,))


def other_length(trained: int, printed: int) -> Comparison:
    """State that no comparison is made, because our runs have another number of steps than the printed ones."""
    return not_comparable(f"trained for {trained:,} steps, printed for {printed:,}")


def same_seeds(reason: str, *notes: str) -> Comparison:
    """State that our runs and the printed ones have the same seeds, and what that shows.

    >>> same_seeds("3 of 25 seeds end otherwise").verdict
    <Verdict.SAME_SEEDS: 'same seeds'>
    """
    return Comparison(Verdict.SAME_SEEDS, reason=reason, notes=notes)


def fitted(comparison: Comparison) -> Comparison:
    """A comparison with a number by which the protocol was chosen: agreement says nothing then, a difference does.

    >>> [str(fitted(Comparison(verdict)).verdict) for verdict in (Verdict.AGREES, Verdict.DIFFERS)]
    ['fitted', 'differs']
    """
    agreeing = comparison.verdict in (Verdict.EXACT, Verdict.AGREES)
    verdict = Verdict.FITTED if agreeing else comparison.verdict
    return replace(comparison, verdict=verdict, notes=(*comparison.notes, CHOSEN))


def counts(verdicts: Iterable[str]) -> str:
    """The number of each verdict, in the order of `Verdict`, without `same seeds`.

    >>> counts(["differs", "agrees", "", "differs"])
    '1 agrees, 2 differs'
    """
    found = Counter(verdicts)
    kinds = [verdict for verdict in Verdict if found[verdict] and verdict is not Verdict.SAME_SEEDS]
    return ", ".join(f"{found[verdict]:,} {verdict}" for verdict in kinds) or "none"


def _settled(comparison: Comparison, rejected: bool, limit: float, family: int) -> Comparison:
    p_value, against = _apart(comparison.p_value, limit)
    told = f"p = {p_value}, and Holm's limit is {against} among {family} comparisons"
    if told not in comparison.reason:
        comparison = replace(comparison, reason="; ".join(filter(None, [comparison.reason, told])))
    if rejected or comparison.p_value > ALPHA or comparison.verdict is Verdict.INCONCLUSIVE:
        return comparison
    note = ONLY_ALONE if comparison.threshold else "excludes 0 alone, but not after Holm's correction"
    return replace(comparison, verdict=Verdict.INCONCLUSIVE, notes=(*comparison.notes, note))


def _apart(one: float, other: float) -> tuple[str, str]:
    """Two numbers with two digits, or as many as tell them apart.

    >>> _apart(0.0255, 0.025), _apart(0.3, 0.05)
    (('0.0255', '0.025'), ('0.3', '0.05'))
    """
    texts = ((f"{one:.{digits}g}", f"{other:.{digits}g}") for digits in range(2, 7))
    return next((both for both in texts if len({*both}) == 2), (f"{one:.2g}", f"{other:.2g}"))
