"""Distributions of inputs other than uniform ones, made of uniform numbers by their quantile functions.

Sources: Schlör, Ring & Hotho 2020, and their code, https://github.com/daschloer/inalu: uniform, normal, exponential;
`cut_normal` and `two_normals` are what the configuration of their third experiment says, as we read it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nalu_bench.errors import UsageError
from nalu_bench.tasks.ranges import FEWEST_APART, as_intervals

if TYPE_CHECKING:
    from torch import Tensor

STEP = 2.0**-24
"""Distance of neighbouring uniform numbers; half of it is added, so that no quantile is infinite."""

FURTHEST = 5.5
"""Deviations within which all numbers of a normal lie: its quantile at `STEP` / 2 is -5.4."""

MEANS = 17.4
"""The same for an exponential, in means."""


@dataclass(frozen=True)
class Distribution:
    """A distribution by its kind and numbers.

        uniform      low, high                    U(low, high)
        normal       low, high                    mean (low + high)/2, deviation (high - low)/6, cut at low and high
        exponential  mean                         density exp(-x/mean)/mean
        cut_normal   mean, deviation, low, high   N(mean, deviation²), cut at low and high
        two_normals  mean, deviation              N(mean, deviation²) or N(-mean, deviation²), equally likely

    >>> Distribution("normal", (-3.0, 3.0)).told()
    'N(-3,3)'
    """

    kind: str
    numbers: tuple[float, ...]

    def of(self, u: Tensor) -> Tensor:
        """Numbers of this distribution, from uniform ones: multiples of 2^-24 in [0, 1), of any shape."""
        return KINDS[self.kind].quantiles((u + STEP / 2).clamp(max=1 - STEP), *self.numbers)

    def ends(self) -> tuple[float, float]:
        """The interval that holds all its numbers; of two normals, the one of the right half."""
        return KINDS[self.kind].ends(*self.numbers)

    def told(self) -> str:
        """Its short name for tables, with the numbers as the source writes them."""
        return KINDS[self.kind].label.format(*(f"{number:g}" for number in self.numbers))


def as_distribution(key: str, value: Any) -> Distribution:
    """A distribution from [kind, number, ...]; raises UsageError, which names the key, for anything else."""
    parts = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []
    kind, numbers = (parts[0], parts[1:]) if parts else (None, [])
    known = KINDS.get(kind) if isinstance(kind, str) else None
    finite = all(isinstance(n, int | float) and not isinstance(n, bool) and math.isfinite(n) for n in numbers)
    if known is None or len(numbers) != len(known.names) or not finite:
        forms = ", ".join(f"[{name},{','.join(each.names)}]" for name, each in KINDS.items())
        raise UsageError(f"{key} must be one of {forms}, with finite numbers, got {value}.")
    named = dict(zip(known.names, map(float, numbers), strict=True))
    if named.get("low", 0.0) >= named.get("high", math.inf):
        raise UsageError(f"{key} must have low < high, got {value}.")
    if named.get("deviation", 1.0) <= 0 or (kind == "exponential" and named["mean"] <= 0):
        raise UsageError(f"{key} must have a deviation, or the mean of an exponential, above 0, got {value}.")
    if kind == "cut_normal" and _share(*named.values())[1] - _share(*named.values())[0] < FEWEST_APART * STEP:
        raise UsageError(f"{key} must leave enough of the normal between low and high to draw from, got {value}.")
    found = Distribution(str(kind), tuple(named.values()))
    as_intervals(key, found.ends())
    return found


def _uniform(v: Tensor, low: float, high: float) -> Tensor:
    return low + (high - low) * v


def _normal(v: Tensor, low: float, high: float) -> Tensor:
    return _cut_normal(v, (low + high) / 2, (high - low) / 6, low, high)


def _exponential(v: Tensor, mean: float) -> Tensor:
    return -mean * (-v).log1p()


def _cut_normal(v: Tensor, mean: float, deviation: float, low: float, high: float) -> Tensor:
    below, above = _share(mean, deviation, low, high)
    return (mean + math.sqrt(2) * deviation * (below + (above - below) * v).erfinv()).clamp(low, high)


def _two_normals(v: Tensor, mean: float, deviation: float) -> Tensor:
    right = v >= 0.5
    within = (2 * v - right.to(v.dtype)).clamp(STEP, 1 - STEP)
    return mean * (2 * right.to(v.dtype) - 1) + math.sqrt(2) * deviation * (2 * within - 1).erfinv()


def _share(mean: float, deviation: float, low: float, high: float) -> tuple[float, float]:
    """The error function at the ends of a cut normal."""
    below, above = (math.erf((end - mean) / (math.sqrt(2) * deviation)) for end in (low, high))
    return below, above


def _given(low: float, high: float) -> tuple[float, float]:
    return low, high


def _within(mean: float, deviation: float, low: float = -math.inf, high: float = math.inf) -> tuple[float, float]:
    return max(low, mean - FURTHEST * deviation), min(high, mean + FURTHEST * deviation)


@dataclass(frozen=True)
class _Kind:
    """The names of a distribution's numbers, its quantile function of (v in (0, 1), numbers), its ends, its label."""

    names: tuple[str, ...]
    quantiles: Callable[..., Tensor]
    ends: Callable[..., tuple[float, float]]
    label: str


KINDS = {
    "uniform": _Kind(("low", "high"), _uniform, _given, "U({},{})"),
    "normal": _Kind(("low", "high"), _normal, _given, "N({},{})"),
    "exponential": _Kind(("mean",), _exponential, lambda mean: (0.0, MEANS * mean), "Exp({})"),
    "cut_normal": _Kind(("mean", "deviation", "low", "high"), _cut_normal, _within, "N({},{}²) on ({},{})"),
    "two_normals": _Kind(("mean", "deviation"), _two_normals, _within, "±N({},{}²)"),
}
