"""What a bounded network cannot print, whatever it is trained on."""

import math
from collections.abc import Iterable


def least_bound(errors: Iterable[tuple[int, float]], highest: int) -> int:
    """The least H for which predictions of at most H can have these mean errors on the numbers 0 to `highest`.

        Σ n_split · MAE_split  >=  Σ_{n > H} (n - H)  =  (highest - H) (highest - H + 1) / 2

    A NAC of H outputs of an LSTM is bounded so: its inputs lie between -1 and 1, and so do its weights.

    Source: ours. Deviations: does not apply.

    Args:
        errors: (size, mean absolute error) of splits that hold every number once. Pass the largest errors that round
            to the printed ones.
        highest: the largest number.

    >>> least_bound([(10, 4.5)], 9)
    0
    >>> least_bound([(10, 1.0)], 9)
    5
    """
    total = sum(size * error for size, error in errors)
    return next(bound for bound in range(highest + 1) if (highest - bound) * (highest - bound + 1) / 2 <= total)


def largest_product(square: float, power: int, below: str) -> float:
    """The largest score of the best linear model on a × b, if on a² it has the score `square` and a is the same.

        with v = Var a / (E a)²   mean squared error of a²        the same of a × b, b independent with any law
        over E t²                 2v² / (1 + 6v + 3v²)            at most v / (1 + v)
        over Var t                v / (2 + v)                     at most v / (1 + v)

    The model has a bias, so that it leaves (a - E a)(b - E b) of the product; a is nearly normal, as a sum of several
    inputs is. The limits are reached as Var b / (E b)² grows.

    Source: ours. Deviations: does not apply.

    Args:
        square: error on a² over an error that is 1.
        power: 2 for mean squared errors, 1 for their roots.
        below: of what the denominator is the error: of "zero", E t², or of the "mean" of the targets, Var t.

    >>> [round(largest_product(0.043, power, below), 3) for power, below in ((1, "zero"), (2, "zero"), (2, "mean"))]
    [0.18, 0.191, 0.082]
    """
    share = square ** (2 / power)
    if below == "mean":
        variation = 2 * share / (1 - share)
    else:
        variation = (3 * share + math.sqrt(9 * share**2 + share * (2 - 3 * share))) / (2 - 3 * share)
    return math.sqrt(variation / (1 + variation)) ** power
