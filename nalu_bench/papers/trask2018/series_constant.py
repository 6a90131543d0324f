"""The error of a network that has learned nothing but the mean: it says the same of every series of digits."""

import numpy as np
from numpy.typing import NDArray

TEST_IMAGES = (980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009)
"""Test images of MNIST for each digit."""

TRAINED = 10
"""Images of a training series."""

MODEL = "constant"
"""Its name among the models of a table."""

OPERATIONS = ("count", "sum")

Errors = tuple[float, float]
"""Mean absolute and mean squared error."""


def errors(operation: str, length: int, images: tuple[int, ...] = TEST_IMAGES) -> Errors:
    """The errors of the constant 10 · E[t of one image], on series of independent digits.

        count   for each digit d: |n_d - 10 p_d|, n_d ~ Bin(length, p_d); the mean over the ten digits
        sum     |d_1 + ... + d_length - 10 E[d]|

    The constant is the best one for series of ten, the length of training, and stays the same for every other length.

    Source: ours. Deviations: digits are drawn with replacement, where test series use every image once.

    Args:
        operation: one of `OPERATIONS`. length: images of a series. images: how many there are of each digit.

    Raises: KeyError for another operation.

    >>> [round(error, 2) for error in errors("sum", 10)], [round(error, 2) for error in errors("count", 1000)]
    ([7.35, 83.85], [99.0, 9925.31])
    """
    shares = np.array(images) / sum(images)
    singles = {"count": [np.array([1 - share, share]) for share in shares], "sum": [shares]}[operation]
    found = np.array([_errors(single, length) for single in singles])
    absolute, squared = found.mean(0)
    return float(absolute), float(squared)


def _errors(single: NDArray[np.float64], length: int) -> Errors:
    """The errors of 10 · E[X] as a prediction of the sum of so many X, which is k with probability `single[k]`."""
    away = np.arange(length * (single.size - 1) + 1) - TRAINED * (single @ np.arange(single.size))
    chances = _of_sum(single, length)
    return float(chances @ np.abs(away)), float(chances @ away**2)


def _of_sum(single: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """The distribution of a sum of so many independent terms, by repeated squaring."""
    if length == 1:
        return single
    half = _of_sum(single, length // 2)
    twice = np.convolve(half, half)
    return np.convolve(twice, single) if length % 2 else twice
