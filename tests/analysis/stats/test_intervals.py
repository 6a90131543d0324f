"""Intervals: agreement with independent computations and worked examples, and coverage in simulations."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from nalu_bench.analysis.stats import likelihood
from nalu_bench.analysis.stats.intervals import (
    BOOTSTRAP_SEED,
    RESAMPLES,
    OutsideSupportWarning,
    beta_mean_interval,
    bootstrap_medians,
    gamma_mean_interval,
    mean_difference,
    median_interval,
    newcombe_interval,
    student,
    student_interval,
    wilson_interval,
)

Interval = Callable[[NDArray[np.float64]], tuple[float, float, float]]
MEAN_INTERVALS: list[Interval] = [gamma_mean_interval, beta_mean_interval, median_interval]


def assert_covers_95_percent(covered: int, datasets: int) -> None:
    """Check for 95 % within 3.3 standard errors (p = 0.001) and one point, because the chi-square is asymptotic."""
    tolerance = 3.3 * math.sqrt(0.95 * 0.05 / datasets) + 0.01
    assert abs(covered / datasets - 0.95) < tolerance, f"coverage {covered / datasets}, tolerance {tolerance}"


def count_covered(interval: Interval, draw: Callable[[], NDArray[np.float64]], truth: float, datasets: int) -> int:
    limits = [interval(draw())[1:] for _ in range(datasets)]
    return sum(low <= truth <= high for low, high in limits)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_wilson_interval_equals_scipy(confidence: float) -> None:
    from scipy.stats import binomtest

    for trials in (1, 2, 7, 25, 100, 1000):
        for successes in {0, 1, trials // 3, trials // 2, trials - 1, trials}:
            theirs = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
            ours = wilson_interval(successes, trials, confidence)
            assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-14)
            assert (ours[0] == 0, ours[1] == 1) == (successes == 0, successes == trials)


@pytest.mark.parametrize(
    ("counts", "printed"),
    [
        ((56, 70, 48, 80), (0.0524, 0.3339)),
        ((9, 10, 3, 10), (0.1705, 0.8090)),
        ((6, 7, 2, 7), (0.0582, 0.8062)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
        ((0, 10, 0, 20), (-0.1611, 0.2775)),
        ((0, 10, 0, 10), (-0.2775, 0.2775)),
        ((10, 10, 0, 20), (0.6791, 1.0000)),
        ((10, 10, 0, 10), (0.6075, 1.0000)),
    ],
)
def test_newcombe_interval_equals_the_examples_of_newcombe_1998_table_2(
    counts: tuple[int, int, int, int], printed: tuple[float, float]
) -> None:
    assert newcombe_interval(*counts) == pytest.approx(printed, abs=5.1e-5)


def test_newcombe_interval_covers_95_percent_exactly_computed() -> None:
    from scipy.stats import binom

    for trials, trials0, rate, rate0 in [(50, 100, 0.3, 0.3), (25, 50, 0.5, 0.4), (100, 100, 0.9, 0.95)]:
        weights = np.outer(binom.pmf(range(trials + 1), trials, rate), binom.pmf(range(trials0 + 1), trials0, rate0))
        # Very rare pairs are left out to save time.
        likely = np.argwhere(weights > 1e-5)
        held = [
            weights[a, b]
            for a, b in likely
            if (limits := newcombe_interval(int(a), trials, int(b), trials0))[0] <= rate - rate0 <= limits[1]
        ]
        assert 0.935 < sum(held) / weights[tuple(likely.T)].sum() < 0.975


@pytest.mark.parametrize(
    ("successes", "trials", "message"),
    [
        (0, 0, "trials must be at least 1, got 0"),
        (-1, 5, "successes must be 0 to trials \\(5\\), got -1"),
        (6, 5, "successes must be 0 to trials \\(5\\), got 6"),
    ],
)
def test_impossible_counts_are_refused(successes: int, trials: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wilson_interval(successes, trials)
    with pytest.raises(ValueError, match=message):
        newcombe_interval(1, 2, successes, trials)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, math.nan])
def test_impossible_confidences_are_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence must be strictly between 0 and 1"):
        wilson_interval(1, 2, confidence)
    for interval in MEAN_INTERVALS:
        with pytest.raises(ValueError, match="confidence must be strictly between 0 and 1"):
            interval(np.array([0.1, 0.2]), confidence=confidence)  # type: ignore[call-arg]


def naive_limits(
    log_likelihood: Callable[[float, float], float], peak: float, bracket: tuple[float, float]
) -> list[float]:
    """Profile limits from a numerical search over both parameters of scipy's densities."""

    def profile(mean: float) -> float:
        best = minimize_scalar(lambda log_k: -log_likelihood(mean, math.exp(log_k)), bounds=(-6, 9), method="bounded")
        return -float(best.fun)

    top = profile(peak)
    return [brentq(lambda mean: top - profile(mean) - 3.841458820694124 / 2, peak, end) for end in bracket]


def test_gamma_interval_equals_a_naive_search_over_scipy_densities() -> None:
    from scipy.stats import gamma

    x = np.random.default_rng(1).gamma(2.0, 1.0, size=30)
    mean, low, high = gamma_mean_interval(x)

    def log_likelihood(m: float, k: float) -> float:
        return float(gamma.logpdf(x, k, scale=m / k).sum())

    assert mean == pytest.approx(x.mean(), rel=1e-15)
    assert [low, high] == pytest.approx(naive_limits(log_likelihood, mean, (mean / 3, mean * 3)), rel=1e-6)


def test_beta_interval_equals_a_naive_search_over_scipy_densities() -> None:
    from scipy.stats import beta

    x = 0.5 * np.random.default_rng(2).beta(0.5, 2.0, size=30)
    mean, low, high = beta_mean_interval(x)

    def log_likelihood(m: float, k: float) -> float:
        return float(beta.logpdf(x / 0.5, m * k, (1 - m) * k).sum())

    a, b, _, _ = beta.fit(x / 0.5, floc=0, fscale=1)
    assert mean == pytest.approx(0.5 * a / (a + b), rel=1e-4)
    limits = naive_limits(log_likelihood, mean / 0.5, (0.02, 0.8))
    assert [low, high] == pytest.approx([0.5 * limit for limit in limits], rel=1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1e-3, 1e6])
def test_gamma_interval_is_proportional_to_the_unit(scale: float) -> None:
    x = np.random.default_rng(3).gamma(3.0, 1.0, size=40)
    assert gamma_mean_interval(scale * x) == pytest.approx(tuple(scale * v for v in gamma_mean_interval(x)), rel=1e-9)


@pytest.mark.parametrize(("scale", "tolerance"), [(1e-5, 1e-3), (1e-8, 1e-6), (1e-12, 1e-9)])
def test_beta_interval_of_tiny_samples_tends_to_the_gamma_interval(scale: float, tolerance: float) -> None:
    x = scale * np.random.default_rng(4).gamma(0.8, 1.0, size=100)
    assert beta_mean_interval(x) == pytest.approx(gamma_mean_interval(x), rel=tolerance)


def test_beta_interval_of_samples_near_upper_mirrors_that_near_0() -> None:
    x = 0.5 * np.random.default_rng(5).beta(0.7, 9.0, size=50)
    mean, low, high = beta_mean_interval(x)
    assert beta_mean_interval(0.5 - x) == pytest.approx((0.5 - mean, 0.5 - high, 0.5 - low), rel=1e-7)


@pytest.mark.parametrize("interval", [gamma_mean_interval, beta_mean_interval])
def test_intervals_of_nearly_constant_samples_tend_to_the_normal_one(interval: Interval) -> None:
    x = 1e-4 * (1 + 1e-4 * np.random.default_rng(6).standard_normal(500))
    mean, low, high = interval(x)
    half = 1.96 * x.std() / math.sqrt(x.size)
    assert (mean - low, high - mean) == pytest.approx((half, half), rel=0.01)


@pytest.mark.parametrize("shape", [0.7, 3.0])
def test_gamma_interval_at_1e6_steps_covers_95_percent(shape: float) -> None:
    rng = np.random.default_rng(7)
    covered = count_covered(gamma_mean_interval, lambda: rng.gamma(shape, 1e6 / shape, size=60), 1e6, 1000)
    assert_covers_95_percent(covered, 1000)


@pytest.mark.parametrize(("mean", "shape"), [(0.1, 0.5), (1e-5, 0.8), (2.6e-8, 2.0)])
def test_beta_interval_covers_95_percent(mean: float, shape: float) -> None:
    rng = np.random.default_rng(8)
    rest = shape / (2 * mean) - shape
    covered = count_covered(beta_mean_interval, lambda: 0.5 * rng.beta(shape, rest, size=100), mean, 1000)
    assert_covers_95_percent(covered, 1000)


@pytest.mark.parametrize(("seeds", "share"), [(2, 0.75), (3, 0.85), (5, 0.9)])
def test_likelihood_limits_over_few_samples_hold_the_mean_as_often_as_is_told(seeds: int, share: float) -> None:
    rng = np.random.default_rng(1)
    steps, errors = rng.gamma(10.0, 0.1, (600, seeds)), 0.5 * rng.beta(2.0, 3.0, (600, seeds))
    for mean, found in [(1.0, map(gamma_mean_interval, steps)), (0.2, map(beta_mean_interval, errors))]:
        held = np.mean([low <= mean <= high for _, low, high in found])
        assert held == pytest.approx(share, abs=0.05)


def test_median_interval_covers_95_percent() -> None:
    rng = np.random.default_rng(9)
    covered = count_covered(median_interval, lambda: 1e6 * np.exp(0.5 * rng.standard_normal(50)), 1e6, 500)
    assert_covers_95_percent(covered, 500)


@pytest.mark.parametrize("interval", MEAN_INTERVALS)
def test_limits_are_nan_without_two_different_samples(interval: Interval) -> None:
    assert all(math.isnan(value) for value in interval(np.array([])))
    for samples in ([0.25], [0.25, 0.25, 0.25]):
        mean, low, high = interval(np.array(samples))
        assert mean == 0.25
        assert math.isnan(low)
        assert math.isnan(high)


@pytest.mark.parametrize("interval", MEAN_INTERVALS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_samples_that_are_not_finite_are_refused(interval: Interval, value: float) -> None:
    with pytest.raises(ValueError, match="samples must be finite, got"):
        interval(np.array([0.1, value]))


@pytest.mark.parametrize("interval", MEAN_INTERVALS)
def test_samples_of_two_dimensions_are_refused(interval: Interval) -> None:
    with pytest.raises(ValueError, match=r"samples must have one dimension, got shape \(2, 2\)"):
        interval(np.ones((2, 2)))


@pytest.mark.parametrize("value", [0.0, -1000.0])
def test_gamma_interval_refuses_samples_that_are_not_positive(value: float) -> None:
    with pytest.raises(ValueError, match=f"samples must be positive, got {value}"):
        gamma_mean_interval([1000.0, value])


def test_beta_interval_moves_samples_at_the_ends_silently_inside() -> None:
    at_zero = beta_mean_interval([0.0, 0.0, 2e-8, 4e-8])
    assert at_zero == beta_mean_interval([1e-8, 1e-8, 2e-8, 4e-8])
    at_upper = beta_mean_interval([0.5, 0.48, 0.46])
    assert at_upper == pytest.approx(beta_mean_interval([0.49, 0.48, 0.46]), rel=1e-12)


def test_beta_interval_warns_of_samples_outside_its_support() -> None:
    with pytest.warns(OutsideSupportWarning, match=r"samples must lie in \[0, 0.5\], got 2 of 4 outside"):
        outside = beta_mean_interval([-0.1, 0.1, 0.2, 0.7])
    assert outside == beta_mean_interval([0.0, 0.1, 0.2, 0.5])


def test_beta_interval_of_end_values_alone_has_no_limits() -> None:
    for samples, mean in [([0.0, 0.0], 0.0), ([0.5, 0.5], 0.5), ([0.0, 0.5], 0.25)]:
        result = beta_mean_interval(samples)
        assert result[0] == mean
        assert all(math.isnan(limit) for limit in result[1:])


def test_beta_interval_refuses_an_upper_end_that_is_not_positive() -> None:
    with pytest.raises(ValueError, match="upper must be positive and finite, got 0"):
        beta_mean_interval([0.1, 0.2], upper=0.0)


def test_bootstrap_medians_are_those_of_scipy() -> None:
    from scipy.stats import bootstrap

    x = np.random.default_rng(11).gamma(2.0, 1.0, size=31)
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    theirs = bootstrap([x], np.median, n_resamples=RESAMPLES, method="percentile", rng=rng)
    assert np.array_equal(bootstrap_medians(x), theirs.bootstrap_distribution)
    assert median_interval(x.tolist())[1:] == pytest.approx(tuple(theirs.confidence_interval), rel=1e-14)


def test_series_of_log_gamma_and_digamma_join_their_exact_values() -> None:
    below, above = math.nextafter(20, 0), 20.0
    assert likelihood._binet(below) == pytest.approx(likelihood._binet(above), abs=1e-13)
    assert likelihood._log_minus_digamma(below) == pytest.approx(likelihood._log_minus_digamma(above), abs=1e-14)


def test_student_interval_equals_scipy() -> None:
    from scipy.stats import ttest_1samp

    sample = np.array([3.0, 4.0, 8.0, 9.0, 11.0])
    mean, deviation = float(sample.mean()), float(sample.std(ddof=1))
    test = ttest_1samp(sample, 0.0)
    limits = tuple(test.confidence_interval())
    assert student_interval(mean, deviation, 5) == pytest.approx(limits)
    assert student(mean, deviation / math.sqrt(5), 4) == pytest.approx((*limits, test.pvalue))


def test_student_interval_needs_two_numbers_that_are_not_negative() -> None:
    assert all(math.isnan(limit) for limit in student_interval(3.0, 0.0, 1))
    assert student_interval(3.0, 0.0, 2) == (3.0, 3.0)
    with pytest.raises(ValueError, match="must not be negative"):
        student_interval(-1.0, 1.0, 5)


@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")
@pytest.mark.parametrize("others", [[15.0] * 5, [3.0, 5.0]])
def test_welchs_interval_inverts_his_test_even_if_a_side_is_constant(others: list[float]) -> None:
    sample = np.array([41.0, 40.0, 41.0, 24.0, 41.0])
    difference, low, high = mean_difference(sample, others)
    assert low < difference < high
    for touching in (low, high):
        assert scipy.stats.ttest_ind(sample - touching, others, equal_var=False).pvalue == pytest.approx(0.05)


def test_means_without_any_spread_are_equal_or_not_and_single_samples_say_nothing() -> None:
    assert mean_difference([5.0] * 6, [3.0] * 6) == (2.0, 2.0, 2.0)
    assert all(math.isnan(limit) for limit in mean_difference([5.0, 5.0], [3.0, 3.0])[1:])
    assert all(math.isnan(number) for number in mean_difference([5.0], [3.0, 4.0])[1:])
