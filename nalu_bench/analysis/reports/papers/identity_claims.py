"""The claims about the identity failure: a number, its interval and a threshold for each sentence.

The sentences are those of the sources; numbers and thresholds are ours. "Non-linear" are all activations but the
control.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from nalu_bench.analysis.stats.intervals import BOOTSTRAP_SEED, mean_interval, wilson_interval

Array = NDArray[np.float64]
Errors = dict[str, Array]
"""Range -> the mean absolute error of every seed in it."""

RESAMPLES = 2000


NAMES = ("fail", "ramps", "severity", "linear", "consistent")
"""Names of the claims: the methods of `Claims` that test them."""


@dataclass
class Thresholds:
    """Thresholds of the tests, and the activations that they are about.

    Attributes:
        control: the linear activation.
        failing: smallest error outside, as a share of mean |x|, that counts as a failure.
        rising: smallest error on one side, as a multiple of the error inside, that counts as ramping up severely.
        correlated: smallest rank correlation that counts as correspondence.
        linear: the activation that is said to learn to be highly linear.
        sharp: the activations that are said to fail consistently.
        consistent: smallest share of failing seeds that counts as consistent.
    """

    control: str
    failing: float
    rising: float
    correlated: float
    linear: str
    sharp: list[str]
    consistent: float

    def are_about(self) -> set[str]:
        """The activations without which the claims cannot be tested."""
        return {self.control, self.linear, *self.sharp}


@dataclass(frozen=True)
class Tested:
    """One number with its 95 % interval, and a threshold. `what` describes the number, `words` the threshold."""

    value: float
    low: float
    high: float
    threshold: float
    above: bool
    what: str
    words: str


@dataclass(frozen=True)
class Claims:
    """One test for each claim.

    Unless another interval is named, intervals are percentiles of a bootstrap over seeds (Efron & Tibshirani 1993,
    section 13.3).

    Attributes:
        errors: the errors of every activation.
        limits: the thresholds.
        scale: mean |x| outside.
        ends: the smallest and the largest x.
    """

    errors: dict[str, Errors]
    limits: Thresholds
    scale: float
    ends: tuple[float, float]

    def fail(self) -> Tested:
        """All non-linear functions fail outside. Tested on the one with the smallest error, by Student's interval."""
        name = min(self._non_linear, key=lambda each: self.errors[each]["outside"].mean())
        share = self.errors[name]["outside"] / self.scale
        (mean, low, high), limit = mean_interval(share), self.limits.failing
        what = f"smallest error outside / mean abs(x) of a non-linear activation ({name})"
        return Tested(mean, low, high, limit, True, what, f"at least {limit:g}")

    def ramps(self) -> Tested:
        """The error ramps up severely both below and above. Tested where it rises least."""
        sides = [(name, side) for name in self._non_linear for side in ("below", "above")]
        name, side = min(sides, key=lambda each: _ratio(self.errors[each[0]], each[1]))
        ratios = self._resampled[name][side] / self._resampled[name]["inside"]
        what = f"smallest error on one side / error inside of a non-linear activation ({name}, {side})"
        limit = self.limits.rising
        return Tested(_ratio(self.errors[name], side), *_percentiles(ratios), limit, True, what, f"at least {limit:g}")

    def severity(self) -> Tested:
        """The severity corresponds to the degree of non-linearity. Tested by Spearman's rank correlation."""
        degree = rankdata([nonlinearity(name, *self.ends) for name in self.errors])
        measured = np.array([[errors["outside"].mean()] for errors in self.errors.values()])
        resampled = np.array([means["outside"] for means in self._resampled.values()])
        low, high = _percentiles(_spearman(degree, resampled))
        what = "rank correlation of error outside and non-linearity (share of variance off the best straight line)"
        limit = self.limits.correlated
        return Tested(float(_spearman(degree, measured)[0]), low, high, limit, True, what, f"at least {limit:g}")

    def linear(self) -> Tested:
        """One learns to be highly linear, which reduces its error. Tested against the median of the others."""
        name = self.limits.linear
        others = [other for other in self._non_linear if other != name]

        def share(outside: Callable[[str], Array]) -> Array:
            median: Array = np.median([outside(other) for other in others], axis=0)
            return np.asarray(outside(name) / median)

        value = share(lambda each: np.asarray(self.errors[each]["outside"].mean()))
        low, high = _percentiles(share(lambda each: self._resampled[each]["outside"]))
        what = f"error outside of {name} / median error outside of the other non-linear activations"
        return Tested(float(value), low, high, 1.0, False, what, "at most 1")

    def consistent(self) -> Tested:
        """Sharply non-linear functions fail consistently. Tested on the smallest share, by Wilson's interval."""
        limit = self.limits.failing * self.scale
        failing = {name: int((self.errors[name]["outside"] >= limit).sum()) for name in self.limits.sharp}
        trials = {name: len(self.errors[name]["outside"]) for name in self.limits.sharp}
        name = min(failing, key=lambda each: failing[each] / trials[each])
        what = f"smallest share of failing seeds of {' and '.join(self.limits.sharp)} ({name})"
        least = self.limits.consistent
        interval = wilson_interval(failing[name], trials[name])
        return Tested(failing[name] / trials[name], *interval, least, True, what, f"at least {least:g}")

    @property
    def _non_linear(self) -> list[str]:
        return [name for name in self.errors if name != self.limits.control]

    @cached_property
    def _resampled(self) -> dict[str, Errors]:
        """Means over bootstrap samples of the seeds. All ranges share the same samples."""
        rng = np.random.default_rng(BOOTSTRAP_SEED)
        means = {}
        for name, errors in self.errors.items():
            count = len(errors["inside"])
            draws = rng.integers(0, count, size=(RESAMPLES, count))
            means[name] = {where: values[draws].mean(axis=1) for where, values in errors.items()}
        return means


def nonlinearity(activation: str, low: float, high: float, points: int = 2001) -> float:
    """1 - R² of the best straight line through an activation over [low, high]: 0 for a line, at most 1.

    >>> nonlinearity("linear", -20, 20) < 1e-9 < nonlinearity("relu", -20, 20) < nonlinearity("tanh", -20, 20)
    True
    """
    import torch

    from nalu_bench.units.dense import ACTIVATIONS, SLOPE

    x = torch.linspace(low, high, points, dtype=torch.float64)
    slope = [torch.tensor([SLOPE], dtype=torch.float64)] if activation == "prelu" else []
    y = ACTIVATIONS[activation](x, *slope).numpy()
    return float(1 - np.corrcoef(x.numpy(), y)[0, 1] ** 2)


def _ratio(errors: Errors, side: str) -> float:
    return float(errors[side].mean() / errors["inside"].mean())


def _percentiles(values: Array) -> tuple[float, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def _spearman(degree: Array, values: Array) -> Array:
    """Spearman's correlation of degree (A,) with every column of values (A, R)."""
    ranks = rankdata(values, axis=0)
    centred, degree = ranks - ranks.mean(axis=0), degree - degree.mean()
    together: Array = degree @ centred / np.sqrt((centred**2).sum(axis=0) * (degree**2).sum())
    return together
