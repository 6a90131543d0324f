"""What one more of our seeds may show, against one printed number that has no spread."""

import math
from bisect import bisect_left, bisect_right
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nalu_bench.analysis.stats.intervals import few_alike, middle_range, student, wilson_interval
from nalu_bench.analysis.stats.verdicts import Comparison, Verdict
from nalu_bench.analysis.stats.words import Better, apart, points, times

Span = tuple[float, float]
"""Lowest and highest value that a number may have."""

ERRORS: Span = (0, math.inf)
"""Errors and scores: positive, without a bound."""

MOST_AGREE = 0.3
"""A range that more than this share of all numbers would agree with is `uninformative` (our choice)."""

ENOUGH = 39
"""Seeds whose range holds one more with 95 %, (n - 1) / (n + 1) of all cases."""

DECADES = 4
"""Numbers without a bound count as log-uniform over so many powers of ten, as many as [0.1, 1000] has (our choice)."""


class Rounded(NamedTuple):
    """A printed number, the ends of what is rounded to it, and whether it only bounds the number from below.

    Numbers up to `unit`, one unit of its last digit or the L of "<L", cannot be told apart from 0 as it is printed.
    """

    least: float
    value: float
    most: float
    bound: bool
    unit: float

    def holds(self, numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether each number would be printed so."""
        return numbers > self.value if self.bound else (numbers >= self.least) & (numbers <= self.most)


def compare_single(
    samples: ArrayLike, printed: str, span: Span = ERRORS, better: Better = Better.LOWER, off: float | None = None
) -> Comparison:
    """Compare the range of our seeds with one printed number that has no spread.

        agrees         iff  [low, high] meets printed ± half a unit of its last digit
        printed ">L":       agrees  iff  our median > L;   "<L":  iff  low <= L
        exact          iff  every seed rounds to the printed number
        uninformative  iff  it agrees, but more than 30 % of all numbers would

    "All numbers" are uniform on the span; for one without an end they are log-uniform over four decades, so that a
    range is uninformative if its ends are a factor of more than 16 apart. What print cannot tell apart is one number:
    all up to one unit of the last digit, to the L of "<L", and from the L of ">L" on.

    [low, high] is where one more seed lies with 95 %, see `of_one_more`. Seeds that are fewer than 6 and all alike
    differ from nothing. Source: ours, because the printed protocol is not known. Deviations: does not apply.

    Args:
        samples: one number per seed; those that are not finite count as the worst, -inf where higher is better and +inf
            else, and are never dropped.
        printed: the number as printed, such as "21.4", "0.0", ">999" or "<.0001".
        span: lowest and highest value that such a number may have.
        better: which of two such numbers is better, for the words.
        off: how far the number may be off in place of half a unit, if it was read off a figure; no seed is then
            `exact`.

    Returns: the comparison; difference is our median minus the printed number, and [low, high] holds 0
    exactly when the two ranges meet (">L": our range minus L). Inconclusive for fewer than 2 seeds. No
    p-value, not part of Holm.

    Raises: ValueError if `printed` is not a number, or `samples` has not one dimension.

    >>> compare_single([20.9, 21.2, 21.9], "21.4").verdict
    <Verdict.AGREES: 'agrees'>
    """
    numbers = np.asarray(samples, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"samples must have one dimension, got shape {numbers.shape}: pass one value per seed")
    given = read_printed(printed) if off is None else read_off(float(printed), off)
    diverged = int(np.sum(~np.isfinite(numbers)))
    numbers = np.where(np.isfinite(numbers), numbers, -math.inf if better is Better.HIGHER else math.inf)
    worst = (f"seeds without a finite error, the worst: {diverged}",) if diverged else ()
    notes = ("reconstructed protocol", *worst)
    if numbers.size < 2:
        return Comparison(Verdict.INCONCLUSIVE, notes=(*notes, f"a range needs 2 seeds, got {numbers.size}"))
    median, (low, high) = float(np.median(numbers)), of_one_more(numbers, span, given.unit)
    agrees = median > given.value if given.bound else low <= given.most and high >= given.least
    exact, share = off is None and bool(given.holds(numbers).all()), _share(low, high, span, given)
    verdict, share, few = _verdict(numbers, agrees, exact, share)
    by = "" if agrees else _distance(median, given, span, better)
    reason = (
        f"{_range_of(numbers)}, {low:.4g} to {high:.4g}, {_meets(agrees)} {printed.strip()} "
        f"{'as it is rounded' if off is None else f'± {off:g}, as it is read off a figure'}"
    )
    if given.bound:
        reason = f"the median of our seeds, {median:.4g}, is {'' if agrees else 'not '}above {given.value:g}"
    limits, held = (low - given.most, high - given.least), None if given.bound else (low, high)
    told = f"{reason}{_told(share)}"
    return Comparison(verdict, median - given.value, *limits, notes=(*notes, *few), by=by, reason=told, held=held)


def compare_share(samples: ArrayLike, printed: float, examples: int) -> Comparison:
    """Compare the range of our seeds with one network's share of right answers, counted on `examples` examples.

        agrees         iff  [low, high] meets Wilson's 95 % interval of the printed share
        exact          iff  every seed has the printed number of right answers, to half an example
        uninformative  iff  it agrees, but more than 30 % of all shares of so many examples would

    [low, high] as in `compare_single`. Source: ours. Deviations: does not apply.

    Args:
        samples: one share per seed, in [0, 1]. nan stands for a seed without a finite answer and counts as 0.
        printed: the share, in [0, 1].
        examples: number of examples on which the printed share was counted.

    Returns: the comparison; difference is our median minus the printed share, and [low, high] holds 0 exactly when the
    two ranges meet. Inconclusive for fewer than 2 seeds. No p-value, not part of Holm.

    Raises: ValueError for shares outside [0, 1].

    >>> compare_share([0.97, 0.98, 0.987], 0.991, 1000).verdict
    <Verdict.AGREES: 'agrees'>
    """
    shares = np.asarray(samples, dtype=np.float64)
    shares = np.where(np.isnan(shares), 0.0, shares)
    if not (0 <= printed <= 1 and np.all((shares >= 0) & (shares <= 1))):
        raise ValueError(f"shares must lie between 0 and 1, got {printed} and {shares}")
    if shares.size < 2:
        return Comparison(Verdict.INCONCLUSIVE, notes=(f"a range needs 2 seeds, got {shares.size}",))
    least, most = wilson_interval(round(printed * examples), examples)
    low, high = of_one_more(shares, (0, 1))
    agrees, exact = low <= most and high >= least, bool(np.all(np.abs(shares - printed) <= 0.5 / examples))
    verdict, share, few = _verdict(shares, agrees, exact, _meeting(low, high, examples))
    median = float(np.median(shares))
    reason = (
        f"{_range_of(shares)}, {100 * low:.1f} to {100 * high:.1f} %, {_meets(agrees)} the printed "
        f"{100 * printed:g} % of {examples:,} examples, {100 * least:.1f} to {100 * most:.1f} % (Wilson)"
    )
    by = "" if agrees else points(median - printed)
    limits, told = (low - most, high - least), f"{reason}{_told(share)}"
    return Comparison(verdict, median - printed, *limits, notes=few, by=by, reason=told, held=(low, high))


def of_one_more(numbers: NDArray[np.float64], span: Span = ERRORS, least: float = 0.0) -> tuple[float, float]:
    """Where one more seed lies with 95 %: in the middle 95 % of the seeds, or as far as a prediction interval reaches.

        x̄ ± t s √(1 + 1/n),   t = Student's 97.5 % quantile, n - 1 degrees of freedom

    The interval is that of fewer than 39 finite seeds, whose range holds one more in (n - 1) / (n + 1) of all cases;
    where the span has no end, it is that of their logarithms. Source: Student's prediction interval. Deviations: none.

    Args:
        numbers: at least two, infinite ones included. span: the limits have no part outside.
        least: numbers below it have its logarithm.

    >>> of_one_more(np.array([1.0, 2.0, 3.0]), (0, 4))
    (0.0, 4.0)
    >>> of_one_more(np.arange(40.0))
    (0.0, 39.0)
    """
    low, high = middle_range(numbers)
    if numbers.size >= ENOUGH or not np.isfinite(numbers).all():
        return low, high
    endless = math.isinf(span[1])
    x = np.log(np.maximum(numbers, least or np.finfo(float).tiny)) if endless else numbers
    error = float(x.std(ddof=1)) * math.sqrt(1 + 1 / x.size)
    ends = student(float(x.mean()), error, x.size - 1)[:2]
    under, above = np.exp(ends) if endless else np.clip(ends, *span)
    return min(low, float(under)), max(high, float(above))


def _range_of(numbers: NDArray[np.float64]) -> str:
    return "the middle 95 % of our seeds" if numbers.size >= ENOUGH else "one more of our seeds with 95 %"


def _meeting(low: float, high: float, examples: int) -> float:
    """The share of all counts of right answers whose interval meets a range."""
    counts = range(examples + 1)
    first = bisect_left(counts, low, key=lambda count: wilson_interval(count, examples)[1])
    after = bisect_right(counts, high, key=lambda count: wilson_interval(count, examples)[0])
    return (after - first) / len(counts)


def _verdict(
    numbers: NDArray[np.float64], agrees: bool, exact: bool, share: float
) -> tuple[Verdict, float, tuple[str, ...]]:
    """The verdict, the share of all numbers that would have agreed too (nan where that changes nothing), and notes."""
    if exact:
        return Verdict.EXACT, math.nan, ()
    if agrees:
        return (Verdict.UNINFORMATIVE if share > MOST_AGREE else Verdict.AGREES), share, ()
    if few_alike(numbers):
        return Verdict.INCONCLUSIVE, math.nan, (f"all {numbers.size} seeds are alike",)
    return Verdict.DIFFERS, math.nan, ()


def _share(low: float, high: float, span: Span, printed: Rounded) -> float:
    """The share of all numbers that lie between `low` and `high`; at most 1."""
    if math.isfinite(span[1]):
        return (min(high, span[1]) - max(low, span[0])) / (span[1] - span[0])
    most = printed.value if printed.bound else math.inf
    low, high = (min(max(limit, printed.unit), most) for limit in (low, high))
    return min(math.log10(high / low) / DECADES, 1.0) if high < math.inf else float(low < math.inf)


def _distance(median: float, printed: Rounded, span: Span, better: Better) -> str:
    """How far our median is from a printed number: a ratio of positive numbers, else a difference."""
    if span[0] < 0:
        return apart(median - printed.value, better)
    if printed.value > 0:
        return times(median, printed.value, better)
    return times(median, printed.most, better, at_least=True)


def _meets(agrees: bool) -> str:
    return "meets" if agrees else "does not meet"


def _told(share: float) -> str:
    return "" if math.isnan(share) else f"; {100 * share:.0f} % of all numbers would meet it"


def read_printed(printed: str) -> Rounded:
    """A printed number such as `21.4`, `0.0`, `>999` or `<.0001`; raises ValueError for anything else."""
    text = printed.strip()
    try:
        value = Decimal(text.lstrip("<>"))
    except InvalidOperation:
        value = Decimal("nan")
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):  # text, "nan" or "inf"
        raise ValueError(f"printed must be a number such as '21.4' or '>999', got {printed!r}: copy it as printed")
    if text.startswith("<"):
        return Rounded(-math.inf, float(value), float(value), bound=False, unit=float(value))
    bound = text.startswith(">")
    half = Decimal(0) if bound else Decimal((0, (5,), exponent - 1))
    return Rounded(float(value - half), float(value), float(value + half), bound, float(Decimal((0, (1,), exponent))))


def read_off(value: float, off: float) -> Rounded:
    """A number that was read off a figure, to within `off`."""
    return Rounded(value - off, value, value + off, bound=False, unit=off)
