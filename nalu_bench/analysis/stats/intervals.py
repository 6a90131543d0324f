"""Confidence intervals over seeds: of a rate, of a mean (gamma, beta) and of a median."""

import math
import warnings
from collections.abc import Callable

import numpy as np
import scipy  # so written, scipy.stats (0.6 s) is loaded where it is used
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri, stdtr, stdtrit

from nalu_bench.analysis.stats.likelihood import beta_profile_limits, gamma_profile_limits

BOOTSTRAP_SEED = 20_200_116
"""Seed of every bootstrap, so that the same samples always give the same interval."""

RESAMPLES = 2_000
"""Draws of a bootstrap."""

FEWEST = 6
"""Samples from which on a bootstrap says something of a median: the limits of fewer are their range."""

RANGE = "limits of the median: the range"
"""The start of a note that says so."""


class OutsideSupportWarning(UserWarning):
    """Samples lay outside the interval on which their distribution is defined, and were moved inside."""


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a success rate.

        (p + z²/2n ± z sqrt(p (1 - p)/n + z²/4n²)) / (1 + z²/n),   p = successes / trials, n = trials

    Source: Wilson 1927, J. Am. Stat. Assoc. 22, 209-212. Deviations: none (no continuity correction).

    Args:
        successes: 0 to `trials`. trials: at least 1. confidence: strictly between 0 and 1.

    Returns: the low and high limit, in [0, 1].

    Raises: ValueError if an argument is outside its range.

    >>> low, high = wilson_interval(94, 100)
    >>> f"{low:.4f} {high:.4f}"
    '0.8752 0.9722'
    """
    return _wilson_limits(successes, trials, _two_sided_z(confidence))


def newcombe_interval(
    successes: int, trials: int, successes0: int, trials0: int, confidence: float = 0.95
) -> tuple[float, float]:
    """Newcombe's hybrid score interval for the difference p - p0 of two independent rates.

        p - p0 - sqrt((p - l)² + (u0 - p0)²)   to   p - p0 + sqrt((u - p)² + (p0 - l0)²)

    with Wilson's limits (l, u) of p and (l0, u0) of p0. Ours, because statsmodels, which gives the same digits, comes
    with seven packages and 77 MB.

    Source: Newcombe 1998, Stat. Med. 17, 873-890, method 10. Deviations: none.

    Args:
        successes, trials: of p. successes0, trials0: of p0. confidence: strictly between 0 and 1.

    Returns: the low and high limit, in [-1, 1].

    Raises: ValueError if an argument is outside its range.

    >>> low, high = newcombe_interval(56, 70, 48, 80)
    >>> f"{low:.4f} {high:.4f}"
    '0.0524 0.3339'
    """
    return newcombe_limits(successes, trials, successes0, trials0, _two_sided_z(confidence))


def newcombe_limits(successes: int, trials: int, successes0: int, trials0: int, z: float) -> tuple[float, float]:
    """`newcombe_interval` for a normal quantile z > 0. Unlike a confidence, z does not round to 1 when it is large."""
    low, high = _wilson_limits(successes, trials, z)
    low0, high0 = _wilson_limits(successes0, trials0, z)
    rate, rate0 = successes / trials, successes0 / trials0
    below, above = math.hypot(rate - low, high0 - rate0), math.hypot(high - rate, rate0 - low0)
    return rate - rate0 - below, rate - rate0 + above


def student(difference: float, error: float, freedom: float, confidence: float = 0.95) -> tuple[float, float, float]:
    """Student's interval of a number with this standard error, and the two-sided p-value of its being 0.

        difference ± t error,   t = Student's (1 + confidence) / 2 quantile with this many degrees of freedom

    Without an error, the limits are the number itself, and the p-value is 1 if it is 0, else 0.
    Source: Student 1908, Biometrika 6, 1-25. Deviations: none.

    >>> print("{:.3f} {:.3f} {:.3f}".format(*student(2.0, 0.5, 10)))
    0.886 3.114 0.003
    """
    half = float(stdtrit(freedom, (1 + confidence) / 2)) * error
    p_value = 2 * float(stdtr(freedom, -abs(difference) / error)) if error else float(difference == 0)
    return difference - half, difference + half, p_value


def student_interval(mean: float, deviation: float, count: int) -> tuple[float, float]:
    """Student's 95 % interval for the mean of numbers that cannot be negative, from a sample's mean and deviation.

        max(0, x̄ - t s/√n)   to   x̄ + t s/√n,   t = Student's 97.5 % quantile, n - 1 degrees of freedom

    Source: Student 1908, Biometrika 6, 1-25. Deviations: cut at 0.

    Args:
        mean, deviation: x̄ and s (divisor n - 1), in any unit, not negative. count: n.

    Returns: the low and high limit in the unit of the mean; nan for fewer than two numbers.

    Raises: ValueError for a mean or a deviation below 0.

    >>> low, high = student_interval(300.0, 50.0, 25)
    >>> f"{low:.1f} {high:.1f}"
    '279.4 320.6'
    """
    if mean < 0 or deviation < 0:
        raise ValueError(f"mean and deviation must not be negative, got {mean} and {deviation}")
    if count < 2:
        return math.nan, math.nan
    low, high, _ = student(mean, deviation / math.sqrt(count), count - 1)
    return max(0.0, low), high


def student_mean(
    samples: ArrayLike, confidence: float = 0.95, span: tuple[float, float] = (-math.inf, math.inf)
) -> tuple[float, float, float]:
    """The plain mean of a sample, of any sign, with the part of Student's interval in which a mean can lie.

        x̄ ± t s/√n,   t = Student's (1 + confidence) / 2 quantile, n - 1 degrees of freedom

    Source: Student 1908, Biometrika 6, 1-25. Deviations: without any spread the limits are the mean itself, and nan for
    fewer than 6 samples: a few that are alike say nothing on others.

    Args:
        span: the smallest and the largest number that there is.

    Returns: mean, low and high; the limits are nan for one sample, all three for none.

    >>> student_mean([50.0, 50.0])
    (50.0, nan, nan)
    >>> student_mean([90.0, 100.0], span=(0, 100))[2]
    100.0
    """
    x = np.asarray(samples, dtype=np.float64)
    mean = float(x.mean()) if x.size else math.nan
    if x.size < 2 or few_alike(x):
        return mean, math.nan, math.nan
    low, high, _ = student(mean, float(x.std(ddof=1)) / math.sqrt(x.size), x.size - 1, confidence)
    return mean, max(low, float(span[0])), min(high, float(span[1]))


def unsigned(value: float, low: float, high: float) -> tuple[float, float, float]:
    """A number and its limits without their sign: from 0 if the interval holds 0.

    >>> unsigned(-2.0, -3.0, 1.0)
    (2.0, 0.0, 3.0)
    """
    return abs(value), max(low, -high, 0.0), max(-low, high)


def mean_difference(samples: ArrayLike, others: ArrayLike, confidence: float = 0.95) -> tuple[float, float, float]:
    """The difference of two means with Welch's interval.

        x̄ - ȳ ± t √(s²/n + r²/m),   t = Student's (1 + confidence) / 2 quantile with Welch-Satterthwaite's freedom

    Source: Welch 1947, Biometrika 34, 28-35. Deviations: without any spread the limits are the difference itself. They
    are nan if a side has one sample, or without any spread fewer than 6.

    >>> difference, low, high = mean_difference([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    >>> f"{difference:.1f} {low:.3f} {high:.3f}"
    '2.0 -0.484 4.484'
    """
    x, y = _checked_samples(samples), _checked_samples(others)
    difference = float(x.mean() - y.mean())
    if min(x.size, y.size) < 2:
        return difference, math.nan, math.nan
    if not np.ptp(x) and not np.ptp(y):
        limit = difference if min(x.size, y.size) >= FEWEST else math.nan
        return difference, limit, limit
    with warnings.catch_warnings():
        # A constant side is no matter: its variance is exactly 0.
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        limits = scipy.stats.ttest_ind(x, y, equal_var=False).confidence_interval(confidence)
    return difference, float(limits.low), float(limits.high)


def gamma_mean_interval(samples: ArrayLike, confidence: float = 0.95) -> tuple[float, float, float]:
    """Profile-likelihood interval for the mean of gamma distributed samples, such as solved-at steps.

        {m : 2n (max_k l(m̂, k) - max_k l(m, k)) <= χ²₁(confidence)},   l as at the top of likelihood.py,
        D(m) = t + exp(-t) - 1 - mean log(x / x̄),   t = log(m / x̄)

    The maximum-likelihood mean m̂ is the sample mean x̄. Source: Wilks 1938, Ann. Math. Stat. 9, 60-62.
    Deviations: none; the shape k is maximised anew for every candidate mean. Wilks' limit is for many samples: in
    simulations 95 % limits hold the mean in 73 to 76 % of all cases for n = 2, 83 to 88 % for 3, 89 % for 4, 91 % for 5
    and 91 to 96 % from 6 on; those of a beta mean likewise.

    Args:
        samples: one dimension, positive, any unit. confidence: strictly between 0 and 1.

    Returns: mean, low and high in the unit of the samples; the limits are nan for fewer than two samples or a
    relative spread under `likelihood.SMALLEST_SPREAD`; all three are nan for no samples.

    Raises: ValueError for a sample that is not finite or not positive.

    >>> mean, low, high = gamma_mean_interval([1000.0, 2000.0, 4000.0, 5000.0])
    >>> f"{mean:.0f} {low:.0f} {high:.0f}"
    '3000 1591 6700'
    """
    x = _checked_samples(samples)
    if np.any(x <= 0):
        raise ValueError(f"samples must be positive, got {x.min()}: nothing is solved at step 0 or before")
    return gamma_profile_limits(x, _two_sided_z(confidence))


def beta_mean_interval(samples: ArrayLike, upper: float = 0.5, confidence: float = 0.95) -> tuple[float, float, float]:
    """Profile-likelihood interval for the mean of samples whose ratio to `upper` is beta distributed.

        {m : 2n (max_k l(m̂, k) - max_k l(m, k)) <= χ²₁(confidence)},   l as at the top of likelihood.py,
        D(m) = m (log m - mean log y) + (1 - m) (log(1 - m) - mean log(1 - y)),   y = x / upper

    Source: Wilks 1938, Ann. Math. Stat. 9, 60-62; the support [0, 1/2] is that of Madsen & Johansen 2020.
    Deviations: the likelihood is infinite at 0 and at `upper`. Samples at an end or beyond it are therefore moved
    inside, to half the smallest distance from that end of any sample strictly inside. This can raise the mean by
    half the smallest positive sample: if many samples are 0, report the median. Samples beyond an end also cause
    a warning.

    Args:
        samples: one dimension, in [0, upper]. upper: positive. confidence: strictly between 0 and 1.

    Returns: mean, low and high in the unit of the samples. The mean is the maximum-likelihood mean of the
    beta, close to the sample mean but not equal to it. It is the sample mean, and the limits are nan, for
    fewer than two samples, none strictly inside, or a spread under `likelihood.SMALLEST_SPREAD` of the mean's
    distance from the nearer end; all three are nan for no samples.

    Raises: ValueError for a sample that is not finite, or an `upper` that is not positive.
    Warns: OutsideSupportWarning for samples below 0 or above `upper`.

    >>> mean, low, high = beta_mean_interval([1e-8, 2e-8, 4e-8, 5e-8])
    >>> f"{mean:.3g} {low:.3g} {high:.3g}"
    '3e-08 1.59e-08 6.7e-08'
    """
    y = _checked_fractions(_checked_samples(samples), upper)
    mean, low, high = beta_profile_limits(y, _two_sided_z(confidence))
    return upper * mean, upper * low, upper * high


def no_finer(limits: Callable[[float], tuple[float, float]], resamples: int) -> Callable[[float], tuple[float, float]]:
    """Limits of a bootstrap by confidence, unbounded where so many resamples know no tail as thin.

    >>> no_finer(lambda confidence: (0.0, 1.0), 999)(0.999)
    (-inf, inf)
    """
    return lambda confidence: limits(confidence) if 1 - confidence >= 2 / (resamples + 1) else (-math.inf, math.inf)


def median_interval(samples: ArrayLike, confidence: float = 0.95) -> tuple[float, float, float]:
    """Percentile bootstrap interval for the median.

        quantiles (1 ± confidence)/2 of median(x*),   x* = n draws with replacement from x

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, section 13.3. Deviations: none. BCa
    cannot be used here: its jackknife acceleration is inconsistent for medians, and 0/0 if samples tie. The 95 %
    limits of fewer than `FEWEST` samples are their range, see `range_note`.

    Args:
        samples: one dimension. confidence: strictly between 0 and 1.

    Returns: median, low and high; the limits are nan for fewer than two samples or equal samples; all three
    are nan for no samples. The same samples give the same result: the seed is `BOOTSTRAP_SEED`.

    Raises: ValueError for a sample that is not finite, or an argument outside its range.

    >>> median_interval([1000.0, 2000.0, 2000.0, 3000.0, 9000.0])
    (2000.0, 1000.0, 9000.0)
    """
    x = _checked_samples(samples)
    tail = (1 - _checked_confidence(confidence)) / 2
    median = float(np.median(x)) if x.size else math.nan
    if x.size < 2 or np.ptp(x) == 0:
        return median, math.nan, math.nan
    low, high = np.quantile(bootstrap_medians(x), [tail, 1 - tail])
    return median, float(low), float(high)


def range_note(solved: int, asked: int) -> str:
    """Say that the limits of `median_interval` are a range, where too few of many seeds are solved; empty otherwise.

    Where few were asked for, the report says so of all of them. The range of n samples holds the median of their
    distribution with probability 1 - 2^(1 - n).

    >>> range_note(4, 25), range_note(6, 25), range_note(1, 25), range_note(3, 3)
    ('limits of the median: the range of 4 solved seeds, which holds it with 88 % confidence', '', '', '')
    """
    if asked < FEWEST or not 2 <= solved < FEWEST:
        return ""
    confidence = 100 * (1 - 2 ** (1 - solved))
    return f"{RANGE} of {solved} solved seeds, which holds it with {confidence:.0f} % confidence"


def likelihood_note(solved: int, asked: int) -> str:
    """Say that limits of means by likelihood hold less than 95 %, where too few of many seeds are solved.

    >>> likelihood_note(4, 25), likelihood_note(6, 25)
    ('limits of the mean: by likelihood over 4 solved seeds, which hold it with less than 95 % confidence', '')
    """
    if asked < FEWEST or not 2 <= solved < FEWEST:
        return ""
    return f"limits of the mean: by likelihood over {solved} solved seeds, which hold it with less than 95 % confidence"


def few_alike(numbers: NDArray[np.float64]) -> bool:
    """Whether all are the same and they are fewer than 6, so that they say nothing on others."""
    return numbers.size < FEWEST and np.unique(numbers).size == 1


def middle_range(samples: ArrayLike, share: float = 0.95) -> tuple[float, float]:
    """The quantiles between which this share lies, as order statistics: the outer neighbours of rank q (n - 1).

    Args:
        samples: at least one number, infinite ones included.

    >>> middle_range([3.0, 1.0, 2.0])
    (1.0, 3.0)
    """
    x = np.asarray(samples, dtype=np.float64)
    tail = round((1 - share) / 2, 12)
    return float(np.quantile(x, tail, method="lower")), float(np.quantile(x, 1 - tail, method="higher"))


def bootstrap_medians(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The medians of 2,000 resamples, n draws with replacement each; the same for the same samples.

    Ours, because the limits of `scipy.stats.bootstrap`, which draws the same resamples, end in other last digits.

    Args:
        x: one dimension, at least one finite number.
    """
    draws = np.random.default_rng(BOOTSTRAP_SEED).integers(0, x.size, size=(RESAMPLES, x.size))
    return np.asarray(np.median(x[draws], axis=1))


def _checked_samples(samples: ArrayLike) -> NDArray[np.float64]:
    x = np.asarray(samples, dtype=np.float64)
    if x.ndim != 1:
        raise ValueError(f"samples must have one dimension, got shape {x.shape}: pass one value per seed")
    if not np.all(np.isfinite(x)):
        raise ValueError(f"samples must be finite, got {x[~np.isfinite(x)][0]}: drop or replace it first")
    return x


def _checked_confidence(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be strictly between 0 and 1, got {confidence}: for 95 % pass 0.95")
    return confidence


def _checked_fractions(x: NDArray[np.float64], upper: float) -> NDArray[np.float64]:
    """The samples as fractions of `upper`. Those beyond an end are moved onto it, with a warning."""
    if not 0 < upper < math.inf:
        raise ValueError(f"upper must be positive and finite, got {upper}: pass the largest possible sample")
    outside = int(np.sum((x < 0) | (x > upper)))
    if outside:
        message = f"samples must lie in [0, {upper}], got {outside} of {x.size} outside: moved just inside"
        warnings.warn(message, OutsideSupportWarning, stacklevel=3)
    return np.clip(x / upper, 0.0, 1.0)


def _two_sided_z(confidence: float) -> float:
    """The normal quantile z with P(|N(0, 1)| <= z) = confidence; z² is the quantile of χ²₁."""
    return -float(ndtri((1 - _checked_confidence(confidence)) / 2))


# Ours, because a p-value needs z whose confidence rounds to 1, and curves need thousands of limits: scipy's
# `binomtest(...).proportion_ci` takes a confidence, and 690 µs instead of 1.4 for the same digits.
def _wilson_limits(successes: int, trials: int, z: float) -> tuple[float, float]:
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}: a rate needs at least one seed")
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must be 0 to trials ({trials}), got {successes}: check the counts")
    rate, scale = successes / trials, z**2 / trials
    centre = (rate + scale / 2) / (1 + scale)
    half = z * math.sqrt(rate * (1 - rate) / trials + scale / (4 * trials)) / (1 + scale)
    # The limits 0 and 1 are exact at the ends, where centre ∓ half would leave a rounding error.
    return (0.0 if successes == 0 else centre - half, 1.0 if successes == trials else centre + half)
