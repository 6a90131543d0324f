"""The rows of a table inside and outside of a range of one of its columns, and scales that are fitted on rows."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Scale = tuple[np.ndarray, np.ndarray]
"""(shift, factor) of every column, (columns,) each: scaled = (value - shift) / factor."""

SCALES: dict[str, Callable[[np.ndarray], Scale]] = {
    "none": lambda rows: (np.zeros(rows.shape[1]), np.ones(rows.shape[1])),
    "max_abs": lambda rows: (np.zeros(rows.shape[1]), np.abs(rows).max(axis=0)),
    "standard": lambda rows: (rows.mean(axis=0), rows.std(axis=0)),
}
"""Name -> the scale fitted on rows (n, columns); a factor is 0 where the column has no size of this kind."""


def quantile(end: Any) -> float | None:
    """The share that an end such as "80%" stands for; None if it is no such text.

    >>> quantile("80%"), quantile(4)
    (0.8, None)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*%", str(end))
    return float(found[1]) / 100 if found else None


def is_end(end: Any) -> bool:
    """Whether `end` is one of a range: a finite number, a quantile from 0% to 100%, or None for no limit."""
    share = quantile(end)
    if share is not None:
        return share <= 1
    return end is None or (isinstance(end, int | float) and not isinstance(end, bool) and math.isfinite(end))


def limits(values: np.ndarray, ends: Sequence[Any]) -> tuple[float, float]:
    """The lowest and the highest value of a range, whose quantiles are moved inwards to the next of the `values`."""
    low, high = (_limit(values, end, way) for end, way in zip(ends, ("higher", "lower"), strict=True))
    return (-math.inf if low is None else low), (math.inf if high is None else high)


def _limit(values: np.ndarray, end: Any, way: Any) -> float | None:
    share = quantile(end)
    if share is not None:
        return float(np.quantile(values, share, method=way))
    return None if end is None else float(end)


def partition(inside: np.ndarray, shares: Sequence[float], seed: int) -> list[np.ndarray]:
    """Numbers of rows: those of the training split, one draw for each of the `shares`, then those outside.

    Args:
        inside: (rows,) whether a row lies in the range.
        shares: of the rows inside; each draw has a row at least, while there is one.
        seed: of the draws.
    """
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(inside))
    counts = [max(1, round(share * len(rows))) for share in shares]
    *drawn, rest = np.split(rows, np.cumsum(counts))
    return [np.sort(part) for part in (rest, *drawn)] + [np.flatnonzero(~inside)]
