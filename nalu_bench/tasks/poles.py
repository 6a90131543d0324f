"""Whether the squared error of a nearly right quotient a / b has an expectation. It has none if b can come near 0."""

import math
from collections.abc import Sequence
from itertools import combinations_with_replacement

from nalu_bench.tasks.ranges import Interval, intervals_text

RARE = 1e-12
"""The probability below which a divisor at 0 plays no part in a simulation of a million examples (our choice)."""


def no_expectation(terms: int, inputs: int, intervals: Sequence[Interval], epsilon: float, either_way: bool) -> str:
    """Why E[(a' / b' - a / b)²] does not exist for sums a', b' whose weights are wrong by ε; empty if it does.

        b the sum of `terms` of the inputs, b' = b ± δ, δ <= ε Σ|x|; the error grows as δ² / b⁴ and δ² / (b b')²

    It exists if |b| > ε N max|x| throughout. Where all inputs have one sign and may be 0, the density of b falls as
    b^(terms - 1), and a δ of the same sign keeps b' away from 0: it exists from 3 terms on. With δ of either sign
    b' can be 0, and we grant the expectation where this has a probability below 1e-12.

    Source: ours. Deviations: does not apply.

    Args:
        terms, inputs: number of inputs in the divisor, and in all. intervals: of each input, equally probable.
        epsilon: the error of a weight. either_way: whether δ may have the sign that brings b' nearer to 0.

    Returns: the reason, a clause. Raises: nothing.

    >>> no_expectation(1, 2, [(-2.0, 2.0)], 1e-5, False)
    'the divisor, a sum of 1 input from [-2,2], can be 0, so that the expected squared error is infinite'
    >>> no_expectation(25, 100, [(0.0, 2.0)], 1e-5, False)
    ''
    """
    if _nearest(terms, intervals) > epsilon * inputs * max(abs(end) for interval in intervals for end in interval):
        return ""
    one_sign = all(low >= 0 for low, _ in intervals) or all(high <= 0 for _, high in intervals)
    if one_sign and terms >= 3 and not (either_way and _most_probable(terms, inputs, intervals, epsilon) > RARE):
        return ""
    some = f"{terms} input{'s' * (terms > 1)} from {intervals_text(intervals)}"
    return f"the divisor, a sum of {some}, can be 0, so that the expected squared error is infinite"


def _nearest(terms: int, intervals: Sequence[Interval]) -> float:
    """The smallest |sum| of so many numbers from these intervals."""
    nearest = math.inf
    for chosen in combinations_with_replacement(intervals, terms):
        low, high = (sum(ends) for ends in zip(*chosen, strict=True))
        nearest = min(nearest, 0.0 if low <= 0 <= high else min(abs(low), abs(high)))
    return nearest


def _most_probable(terms: int, inputs: int, intervals: Sequence[Interval], epsilon: float) -> float:
    """An upper bound of P(b <= ε N max|x|) for inputs of one sign: of independent ones with the largest density."""
    largest = max(abs(end) for interval in intervals for end in interval)
    density = 1 / min(high - low for low, high in intervals)
    return (epsilon * inputs * largest * density) ** terms / math.factorial(terms)
