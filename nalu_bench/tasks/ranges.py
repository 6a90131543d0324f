"""Ranges of numbers as tasks state them: one interval, or two that are chosen with equal probability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nalu_bench.errors import UsageError

Interval = tuple[float, float]

LARGEST_TARGET = 1e15
"""Errors of this size have a mean square in single precision (3e38), over a hundred million examples and more."""

LEAST = 1.2e-19
"""The smallest number whose square single precision holds with all digits."""

FEWEST_APART = 100
"""The least that an interval must hold to draw from (our choice)."""


def as_intervals(key: str, value: Any) -> list[Interval]:
    """One or two intervals from [low, high] or [[low, high], [low, high]]; raises UsageError for anything else."""
    rows = value if isinstance(value, list | tuple) and value and isinstance(value[0], list | tuple) else [value]
    try:
        if not all(isinstance(row, list | tuple) for row in rows):
            raise TypeError
        if any(isinstance(end, bool | str) for row in rows for end in row):  # Python reads "1_0" as 10
            raise TypeError
        intervals = [(float(low), float(high)) for low, high in rows]
    except (TypeError, ValueError):
        raise UsageError(f"{key} must be [low,high] or [[low,high],[low,high]], got {value}.") from None
    if rows is value and len(rows) == 1:  # it would be another cell with the same numbers
        raise UsageError(f"{key} must be written [low,high] if it is one interval, got {value}.")
    if len(intervals) > 2:
        raise UsageError(f"{key} may have one or two intervals, got {len(intervals)}.")
    for low, high in intervals:
        if not (np.isfinite([low, high]).all() and low < high):
            raise UsageError(f"{key} must have low < high in every interval, got [{low:g},{high:g}].")
        if high - low < LEAST:
            raise UsageError(
                f"{key} must be at least {LEAST:g} wide, because single precision holds no squares of smaller numbers, "
                f"got [{low!r},{high!r}]; choose another unit."
            )
        if high - low < FEWEST_APART * float(np.spacing(_single(max(abs(low), abs(high))))):
            raise UsageError(
                f"{key} must hold at least {FEWEST_APART} numbers of single precision, and [{low!r},{high!r}] holds "
                "fewer; widen it."
            )
    (low, high), *others = sorted(intervals)
    if others and others[0][0] < high:
        raise UsageError(
            f"{key} must have two intervals that do not overlap, got {intervals_text(intervals)}, whose numbers from "
            f"{others[0][0]:g} to {min(high, others[0][1]):g} would be drawn more often; separate them, or give one."
        )
    return intervals


def _single(number: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(number)


def check_target(key: str, target: float) -> None:
    """Raise UsageError if single precision cannot hold the square of the largest target that a range gives.

    A target of 0 says that there is no bound.
    """
    if 0 < abs(target) < LEAST:
        raise UsageError(
            f"{key} must give targets whose squares single precision holds (1e-38), and they reach {target:.1g}; "
            "choose larger numbers."
        )
    if abs(target) > LARGEST_TARGET:
        raise UsageError(
            f"{key} must give targets up to {LARGEST_TARGET:g}, so that single precision holds the mean of their "
            f"squared errors, and they reach {target:.1g}; choose a smaller range, or fewer inputs."
        )


def intervals_of(task: Any) -> dict[str, list[Interval]]:
    """Key -> intervals of a task's `interpolation` and `extrapolation`, in this order."""
    return {
        f"task.{key}": as_intervals(f"task.{key}", getattr(task, key)) for key in ("interpolation", "extrapolation")
    }


def check_beyond(trained: Sequence[Interval], tested: Sequence[Interval]) -> None:
    """Raise UsageError if every interval of the extrapolation lies within one that is trained on."""
    if all(any(low <= start and end <= high for low, high in trained) for start, end in tested):
        raise UsageError(
            f"task.extrapolation must reach beyond task.interpolation={intervals_text(trained)}, got "
            f"{intervals_text(tested)}: it would test what was trained."
        )


def intervals_text(intervals: Sequence[Interval]) -> str:
    """Write intervals as `[1,2]` or `[-6,-2]∪[2,6]`.

    >>> intervals_text([(-6.0, -2.0), (2.0, 6.0)])
    '[-6,-2]∪[2,6]'
    """
    return "∪".join(f"[{low:g},{high:g}]" for low, high in intervals)


def halves(intervals: Sequence[Interval]) -> np.ndarray:
    """Two intervals (2, 2) of equal probability, as `Task.intervals` gives them. A single one is cut in the middle.

    >>> halves([(1.0, 2.0)]).tolist()
    [[1.0, 1.5], [1.5, 2.0]]
    """
    if len(intervals) == 1:
        (low, high), middle = intervals[0], sum(intervals[0]) / 2
        intervals = [(low, middle), (middle, high)]
    return np.array(intervals)


def of_split(task: Any, split: str) -> np.ndarray:
    """The intervals (2, 2) of a split: `task.interpolation` in training and validation, else `task.extrapolation`."""
    key = "interpolation" if split in ("train", "validation") else "extrapolation"
    return halves(as_intervals(f"task.{key}", getattr(task, key)))
