"""The mean of our seeds against a printed mean without a spread."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from nalu_bench.analysis.stats.means import compare_printed_mean
from nalu_bench.analysis.stats.verdicts import Verdict


def spread(mean: float, relative: float, count: int = 100) -> NDArray[np.float64]:
    """Samples with exactly this mean and this relative deviation."""
    z = np.random.default_rng(0).normal(size=count)
    return np.asarray(mean * (1 + relative * (z - z.mean()) / z.std(ddof=1)))


def rare(mean: float) -> NDArray[np.float64]:
    """Samples with this mean, all of it in 3 of 100 seeds."""
    return np.repeat([0.0, mean * 100 / 3], [97, 3])


def test_the_interval_of_the_ratio_counts_the_spread_of_both_means() -> None:
    found = compare_printed_mean(spread(110.0, 0.2), "100", 100)
    half = 1.984217 * 0.2 / 10 * math.sqrt(2)
    assert found.difference == pytest.approx(math.log(110 / 100.5)), "from the nearest number that rounds to 100"
    assert found.high - found.difference == pytest.approx(half, rel=1e-5)
    assert (found.p_value > 0.05) == (found.low < 0 < found.high)


@pytest.mark.parametrize(
    ("samples", "printed", "verdict"),
    [
        (spread(100.2, 0.2), "100.0", Verdict.AGREES),
        (spread(110.0, 0.2), "100.0", Verdict.DIFFERS),
        (rare(110.0), "100.0", Verdict.INCONCLUSIVE),
        (spread(100.04, 1e-6), "100.0", Verdict.AGREES),
        (spread(2e-5, 0.2), "<0.0001", Verdict.AGREES),
        (spread(5_000, 0.2), ">999", Verdict.AGREES),
        (spread(400, 0.2), ">999", Verdict.DIFFERS),
        (rare(2e-5), "<0.0001", Verdict.AGREES),
        (spread(9e-4, 0.2), "<0.0001", Verdict.DIFFERS),
    ],
)
def test_verdicts(samples: NDArray[np.float64], printed: str, verdict: Verdict) -> None:
    assert compare_printed_mean(samples, printed, 100).verdict is verdict


POPULATIONS: dict[str, Callable[[np.random.Generator], NDArray[np.float64]]] = {
    "normal": lambda rng: 1 + 0.1 * rng.standard_normal(100),
    "log-normal": lambda rng: np.exp(rng.standard_normal(100)),
    "rare": lambda rng: np.where(rng.random(100) < 0.02, 100, 1) * np.exp(0.3 * rng.standard_normal(100)),
}


@pytest.mark.parametrize(
    ("name", "least", "most"), [("normal", 0.03, 0.07), ("log-normal", 0.05, 0.11), ("rare", 0.1, 0.25)]
)
def test_equal_means_seldom_differ_unless_few_seeds_carry_them(name: str, least: float, most: float) -> None:
    rng, draw = np.random.default_rng(1), POPULATIONS[name]
    found = [compare_printed_mean(draw(rng), f"{draw(rng).mean():.6f}", 100).verdict for _ in range(1000)]
    assert least < np.mean([verdict is Verdict.DIFFERS for verdict in found]) < most


def test_a_seed_without_a_finite_error_is_never_dropped() -> None:
    found = compare_printed_mean([1.0, 2.0, math.inf, math.nan], "1.5", 100)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.reason == "no mean: 2 of 4 seeds have no finite error"


def test_a_small_distance_is_told_as_a_difference_and_a_large_one_as_a_factor() -> None:
    assert compare_printed_mean(spread(493.49, 1e-5), "493.65", 100).by == "0.15 better"
    assert compare_printed_mean(spread(110.0, 0.1), "100.0", 100).by == "1.10× worse"


def test_what_cannot_be_compared() -> None:
    assert compare_printed_mean([1.0], "1.5", 100).verdict is Verdict.INCONCLUSIVE
    assert compare_printed_mean([0.0, 0.0], "<0.0001", 100).verdict is Verdict.AGREES
    with pytest.raises(ValueError, match="must not be negative"):
        compare_printed_mean([1.0, -1.0], "1.5", 100)
    with pytest.raises(ValueError, match="printed must be a number"):
        compare_printed_mean([1.0, 1.0], "many", 100)
