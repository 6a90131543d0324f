"""Profile likelihoods of the mean of gamma and of beta samples, written without cancellation of large terms.

With Binet's δ(z) = log Γ(z) - (z - ½) log z + z - ½ log 2π, both log-likelihoods l(m, k) share one form; per
sample and up to a constant they are

    gamma, mean m, shape k:      ½ log k - δ(k) - k D
    beta, mean m, a + b = k:     ½ log(m (1 - m) k) + δ(k) - δ(m k) - δ((1 - m) k) - k D

where the divergence D >= 0 depends only on m and the samples. They are accurate for sparsity errors of 1e-8 and for
steps of 1e6 alike. Candidate means are written m = sample mean · exp(t) (beta: the odds m / (1 - m) likewise), so
that the scale of t does not depend on the unit of the samples.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import digamma

SMALLEST_SPREAD = 1e-6
"""Samples with a smaller relative spread count as constant: rounding (1e-16) then blurs D, about spread² / 2."""


def gamma_profile_limits(x: NDArray[np.float64], z: float) -> tuple[float, float, float]:
    """`intervals.gamma_mean_interval` of checked samples, with χ²₁(confidence) given as z²."""
    if x.size == 0:
        return math.nan, math.nan, math.nan
    mean = float(x.mean())
    spread = float(x.std()) / mean
    if spread < SMALLEST_SPREAD:
        return mean, math.nan, math.nan
    mean_log = float(np.log(x / mean).mean())
    low, high = _profile_limits(
        lambda t: _gamma_profile(t, mean_log), 0.0, spread / math.sqrt(x.size), z**2 / (2 * x.size)
    )
    return mean, mean * math.exp(low), mean * math.exp(high)


def beta_profile_limits(y: NDArray[np.float64], z: float) -> tuple[float, float, float]:
    """`intervals.beta_mean_interval` of samples in [0, 1] and `upper` 1, with χ²₁(confidence) given as z²."""
    if y.size == 0:
        return math.nan, math.nan, math.nan
    fit = _BetaFit.of(y)
    if fit is None:
        return float(y.mean()), math.nan, math.nan
    peak = fit.peak()
    low, high = _profile_limits(fit.profile, peak, fit.step, z**2 / (2 * y.size))
    return fit.mean_at(peak), fit.mean_at(low), fit.mean_at(high)


def _binet(z: float) -> float:
    """δ(z) = log Γ(z) - (z - ½) log z + z - ½ log 2π; for large z, where terms cancel, by its asymptotic series."""
    if z < 20:
        return math.lgamma(z) - (z - 0.5) * math.log(z) + z - 0.5 * math.log(2 * math.pi)
    return (1 / 12 - (1 / 360 - (1 / 1260 - 1 / (1680 * z**2)) / z**2) / z**2) / z


def _log_minus_digamma(z: float) -> float:
    """log z - ψ(z) > 0; for large z, where terms cancel, by its asymptotic series."""
    if z < 20:
        return math.log(z) - float(digamma(z))
    return 0.5 / z + (1 / 12 - (1 / 120 - (1 / 252 - 1 / (240 * z**2)) / z**2) / z**2) / z**2


def _best_concentration(slope: Callable[[float], float], divergence: float) -> float:
    """The k with slope(k) = D. It maximises the likelihood of a fixed mean.

    1/2k < slope(k) < 1/k for gamma and beta, because z (log z - ψ(z)) is convex and falls from 1 to 1/2
    (Anderson et al. 1995, Trans. Am. Math. Soc. 347, 1713-1723): so k D lies between 1/2 and 1.
    """
    return float(brentq(lambda kd: slope(kd / divergence) / divergence - 1, 0.49, 1.01)) / divergence


def _root_outwards(function: Callable[[float], float], start: float, step: float) -> float:
    """The root of a function that is negative at `start` and positive further out in the direction of `step`."""
    end = start + step
    while function(end) < 0:
        step *= 2
        end = start + step
    return float(brentq(function, start, end, xtol=abs(step) * 1e-10))


def _profile_limits(profile: Callable[[float], float], peak: float, step: float, drop: float) -> tuple[float, float]:
    """The points on either side of the peak at which the profile has fallen by `drop`."""
    floor = profile(peak) - drop
    low, high = (_root_outwards(lambda t: floor - profile(t), peak, side * step) for side in (-1, 1))
    return low, high


def _gamma_profile(t: float, mean_log: float) -> float:
    """The gamma log-likelihood per sample at the mean x̄ exp(t), maximised over the shape."""
    divergence = t + math.expm1(-t) - mean_log
    k = _best_concentration(_log_minus_digamma, divergence)
    return 0.5 * math.log(k) - _binet(k) - k * divergence


@dataclass(frozen=True)
class _BetaFit:
    """The beta likelihood of fractions y; at t the odds of the mean are exp(t) times the sample mean's."""

    centre: float  # the sample mean
    mean_log: float  # mean log(y / centre)
    mean_log_rest: float  # mean log((1 - y) / (1 - centre))
    step: float  # roughly the standard error of t

    @classmethod
    def of(cls, y: NDArray[np.float64]) -> "_BetaFit | None":
        """The fit to y in [0, 1], with values at an end moved inside; None if there is no spread."""
        inside = y[(y > np.finfo(np.float64).tiny) & (y < 1 - 1e-15)]
        if inside.size == 0:
            return None
        y = np.clip(y, inside.min() / 2, (1 + inside.max()) / 2)
        centre = float(y.mean())
        spread = float(y.std()) / min(centre, 1 - centre)
        if spread < SMALLEST_SPREAD:
            return None
        mean_log_rest = float(np.log1p((centre - y) / (1 - centre)).mean())
        return cls(centre, float(np.log(y / centre).mean()), mean_log_rest, spread / math.sqrt(y.size))

    def mean_at(self, t: float) -> float:
        return self.centre * math.exp(t) / (1 + self.centre * math.expm1(t))

    def best(self, t: float) -> tuple[float, float, float, float]:
        """(a, b, a + b, D) at the largest likelihood of the mean at t."""
        m, log_rest = self.mean_at(t), -math.log1p(self.centre * math.expm1(t))
        rest = (1 - self.centre) * math.exp(log_rest)
        divergence = m * (t + log_rest - self.mean_log) + rest * (log_rest - self.mean_log_rest)

        def slope(k: float) -> float:
            return m * _log_minus_digamma(m * k) + rest * _log_minus_digamma(rest * k) - _log_minus_digamma(k)

        k = _best_concentration(slope, divergence)
        return m * k, rest * k, k, divergence

    def profile(self, t: float) -> float:
        """The log-likelihood per sample, maximised over a + b."""
        a, b, k, divergence = self.best(t)
        return 0.5 * math.log(a * (b / k)) + _binet(k) - _binet(a) - _binet(b) - k * divergence

    def score(self, t: float) -> float:
        """The derivative of the profile by the mean, divided by a + b: positive below the peak."""
        a, b, _, _ = self.best(t)
        return self.mean_log - self.mean_log_rest - t + _log_minus_digamma(a) - _log_minus_digamma(b)

    def peak(self) -> float:
        """The t of the maximum-likelihood mean."""
        at_centre = self.score(0.0)
        if at_centre == 0:
            return 0.0
        side = math.copysign(1.0, at_centre)
        return _root_outwards(lambda t: -side * self.score(t), 0.0, side * self.step)
