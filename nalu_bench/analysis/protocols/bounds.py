"""What a bounded network cannot print, whatever it is trained on."""

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
