"""The claims about the identity failure: a number, its interval and a threshold for each sentence.

The sentences are those of the sources; numbers and thresholds are ours. "Non-linear" are all activations but the
control.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np
import scipy
from numpy.typing import NDArray

from nalu_bench.analysis.stats.compare import Limits
from nalu_bench.analysis.stats.intervals import BOOTSTRAP_SEED, RESAMPLES, no_finer, wilson_interval
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.table.claim import Claim, furthest_from_true

Errors = dict[str, Array]
"""Range -> the mean absolute error of every seed in it."""

NAMES = ("fail", "ramps", "severity", "linear", "consistent")
"""Names of the claims: the methods of `Tests` that test them."""


@dataclass
class Thresholds:
    """Thresholds of the tests, and the activations that they are about.

    Attributes:
        control: the linear activation.
        failing: smallest error of a seed outside, as a share of mean |x|, that counts as a failure.
        usual: smallest share of failing seeds with which an activation fails.
        rising: smallest error on one side, as a multiple of the error inside, that counts as ramping up severely.
        correlated: smallest rank correlation that counts as correspondence.
        linear: the activation that is said to learn to be highly linear.
        sharp: the activations that are said to fail consistently.
        consistent: smallest share of failing seeds that counts as consistent.
    """

    control: str
    failing: float
    usual: float
    rising: float
    correlated: float
    linear: str
    sharp: list[str]
    consistent: float

    def are_about(self) -> set[str]:
        """The activations without which the claims cannot be tested."""
        return {self.control, self.linear, *self.sharp}


@dataclass(frozen=True)
class Tests:
    """A test for each claim.

    Unless another interval is named, intervals are percentiles of a bootstrap over seeds (Efron & Tibshirani 1993,
    section 13.3).

    Attributes:
        errors: the errors of every activation.
        limits: the thresholds.
        scale: mean |x| outside.
        trained: the smallest and the largest x in training. tested: those in the test.
        missing: activation -> the number of its seeds without a finite prediction. They count as failing, and have no
            part in means.
    """

    errors: dict[str, Errors]
    limits: Thresholds
    scale: float
    trained: tuple[float, float]
    tested: tuple[float, float]
    missing: Mapping[str, int] = field(default_factory=dict)

    def left_out(self) -> list[str]:
        """A note on the seeds of non-linear activations that no mean has; none if there are none."""
        counts = {name: self.missing[name] for name in self._non_linear if self.missing.get(name)}
        told = ", ".join(f"{count} of {name}" for name, count in counts.items())
        return [f"seeds without a finite prediction, in no mean: {told}"] if told else []

    def fail(self) -> Claim:
        """All non-linear functions fail outside. Tested on the smallest share of failing seeds, by Wilson's interval.

        A mean would be made by a few bad seeds; it is told beside the median.
        """
        return self._failing(self._non_linear, self._usual_share, self.limits.usual)

    def _usual_share(self, name: str) -> str:
        outside = self.errors[name]["outside"] / self.scale
        return (
            f"smallest share of failing seeds of a non-linear activation ({name}; its error outside / mean abs(x) is "
            f"{outside.mean():.2g} on average, {np.median(outside):.2g} in the median)"
        )

    def ramps(self) -> Claim:
        """The error ramps up severely both below and above. Tested where it is least certain to rise."""
        return furthest_from_true([self._ramp(name, side) for name in self._measured for side in ("below", "above")])

    def _ramp(self, name: str, side: str) -> Claim:
        ratios = self._resampled[name][side] / self._resampled[name]["inside"]
        what = f"error on one side / error inside of a non-linear activation, where least certain ({name}, {side})"
        return Claim(what, _ratio(self.errors[name], side), _percentiles(ratios), self.limits.rising)

    def severity(self) -> Claim:
        """The severity corresponds to the degree of non-linearity. Tested by Spearman's rank correlation.

        The linear control is left out: it would be the best in both ranks by design.
        """
        value, limits = self._correlation(self.tested)
        there, limits_there = self._correlation(self.trained)
        other = "{:.2f} [{:.2f}, {:.2f}]".format(there, *limits_there(0.95))
        what = (
            f"rank correlation of error outside and non-linearity (share of variance off the best straight line over "
            f"{_range(self.tested)}; over the training range {_range(self.trained)} it is {other})"
        )
        limit = self.limits.correlated
        return Claim(what, value, limits, limit)

    def _correlation(self, ends: tuple[float, float]) -> tuple[float, Limits]:
        """Spearman's correlation of the error outside and the non-linearity over a range, with its interval."""
        names = self._measured
        degree = scipy.stats.rankdata([nonlinearity(name, *ends) for name in names])
        measured = np.array([[self.errors[name]["outside"].mean()] for name in names])
        resampled = np.array([self._resampled[name]["outside"] for name in names])
        return float(_spearman(degree, measured)[0]), _percentiles(_spearman(degree, resampled))

    def linear(self) -> Claim:
        """One learns to be highly linear, which reduces its error. Tested against the median of the others."""
        name = self.limits.linear
        others = [other for other in self._measured if other != name]

        def share(outside: Callable[[str], Array]) -> Array:
            median: Array = np.median([outside(other) for other in others], axis=0)
            return np.asarray(outside(name) / median)

        value = share(lambda each: np.asarray(self.errors[each]["outside"].mean()))
        limits = _percentiles(share(lambda each: self._resampled[each]["outside"]))
        what = f"error outside of {name} / median error outside of the other non-linear activations"
        return Claim(what, float(value), limits, 1.0, above=False)

    def consistent(self) -> Claim:
        """Sharply non-linear functions fail consistently. Tested on the smallest share, by Wilson's interval."""
        sharp = " and ".join(self.limits.sharp)
        return self._failing(
            self.limits.sharp, lambda name: f"smallest share of failing seeds of {sharp} ({name})",
            self.limits.consistent,
        )  # fmt: skip

    def _failing(self, names: Sequence[str], told: Callable[[str], str], least: float) -> Claim:
        """That at least this share of seeds fails, of all activations; of equal ones, that has finite errors."""
        claims = []
        for name in sorted(names, key=lambda each: not self.errors[each]["outside"].size):
            failing = self._with_missing(self.errors[name]["outside"] >= self.limits.failing * self.scale, name)
            count, trials = int(failing.sum()), len(failing)
            claims.append(Claim(name, count / trials, partial(wilson_interval, count, trials), least))
        found = furthest_from_true(claims)
        return replace(found, quantity=told(found.quantity))

    def _with_missing(self, failing: NDArray[np.bool_], name: str) -> NDArray[np.bool_]:
        return np.append(failing, np.ones(self.missing.get(name, 0), bool))

    @property
    def _non_linear(self) -> list[str]:
        return [name for name in self.errors if name != self.limits.control]

    @property
    def _measured(self) -> list[str]:
        """Those of which a seed has finite predictions."""
        return [name for name in self._non_linear if self.errors[name]["inside"].size]

    @cached_property
    def _resampled(self) -> dict[str, Errors]:
        """Means over bootstrap samples of the seeds. All ranges share the same samples."""
        rng = np.random.default_rng(BOOTSTRAP_SEED)
        means = {}
        for name, errors in self.errors.items():
            count = len(errors["inside"])
            if not count:
                continue
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


def _range(ends: tuple[float, float]) -> str:
    return f"[{ends[0]:g}, {ends[1]:g}]"


def _ratio(errors: Errors, side: str) -> float:
    return float(errors[side].mean() / errors["inside"].mean())


def _percentiles(values: Array) -> Limits:
    def limits(confidence: float) -> tuple[float, float]:
        tail = round(50 * (1 - confidence), 12)
        low, high = np.percentile(values, [tail, 100 - tail])
        return float(low), float(high)

    return no_finer(limits, values.size)


def _spearman(degree: Array, values: Array) -> Array:
    """Spearman's correlation of degree (A,) with every column of values (A, R)."""
    ranks = scipy.stats.rankdata(values, axis=0)
    centred, degree = ranks - ranks.mean(axis=0), degree - degree.mean()
    together: Array = degree @ centred / np.sqrt((centred**2).sum(axis=0) * (degree**2).sum())
    return together
