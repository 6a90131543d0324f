"""Verdicts: their rules, their rate of false alarms when nothing differs, and their power when something does."""

import itertools
import math
from collections.abc import Iterable

import numpy as np
import pytest
from numpy.typing import NDArray

from nalu_bench.analysis.stats.compare import compare_medians, compare_rates
from nalu_bench.analysis.stats.intervals import newcombe_interval
from nalu_bench.analysis.stats.ranges import compare_single
from nalu_bench.analysis.stats.verdicts import Comparison, Verdict, not_comparable, settle

RESOLUTION = 1000.0


def alone(comparison: Comparison) -> Verdict:
    return settle([comparison])[0].verdict


def share_of_differs(comparisons: Iterable[Comparison]) -> float:
    return float(np.mean([alone(comparison) is Verdict.DIFFERS for comparison in comparisons]))


def steps_on_the_grid(rng: np.random.Generator, seeds: int, median: float, spread: float) -> NDArray[np.float64]:
    """The first evaluation after log-normal crossing times."""
    return RESOLUTION * np.ceil(median * np.exp(spread * rng.standard_normal(seeds)) / RESOLUTION)


def with_p_values(p_values: list[float]) -> list[Comparison]:
    """Comparisons as they come before Holm's correction."""
    return [Comparison(Verdict.DIFFERS if p <= 0.05 else Verdict.AGREES, 0.1, 0.0, 0.2, p) for p in p_values]


def test_holm_rejects_step_by_step_and_stops_at_the_first_failure() -> None:
    # 0.01 <= 0.05/4 and 0.016 <= 0.05/3, but 0.03 > 0.05/2: the last 0.04 <= 0.05/1 comes too late.
    settled = settle(with_p_values([0.04, 0.01, 0.03, 0.016]))
    assert [c.verdict for c in settled] == ["inconclusive", "differs", "inconclusive", "differs"]
    assert [c.notes != () for c in settled] == [True, False, True, False]


def test_holm_equals_its_definition_over_all_intersections() -> None:
    """Closed testing: a hypothesis is rejected iff Bonferroni's test rejects every set that contains it."""
    p_values = np.random.default_rng(1).beta(0.3, 3.0, size=(60, 5))
    for row in p_values:
        sets = [s for size in range(1, 6) for s in itertools.combinations(range(5), size)]
        expected = [all(min(row[list(s)]) <= 0.05 / len(s) for s in sets if i in s) for i in range(5)]
        assert [c.verdict is Verdict.DIFFERS for c in settle(with_p_values(row.tolist()))] == expected


def test_settling_twice_changes_nothing() -> None:
    once = settle(with_p_values([0.04, 0.01, 0.03, 0.5]))
    assert settle(once) == once


def test_comparisons_without_a_p_value_neither_change_nor_count_in_holm() -> None:
    single = compare_single(np.linspace(1.0, 2.0, 40), "7.5")
    assert single.verdict is Verdict.DIFFERS
    settled = settle([single, *with_p_values([0.04]), not_comparable("other steps")])
    assert [c.verdict for c in settled] == ["differs", "differs", "not comparable"]
    assert settled[0] is single
    assert settle([]) == []


@pytest.mark.parametrize("counts", [(60, 100, 45, 100), (3, 10, 70, 100), (100, 100, 0, 50), (1, 1000, 0, 1000)])
def test_rate_p_value_inverts_the_newcombe_interval(counts: tuple[int, int, int, int]) -> None:
    p_value = compare_rates(*counts).p_value
    if p_value > 1e-10:
        limits = newcombe_interval(*counts, confidence=1 - p_value)
        assert min(abs(limit) for limit in limits) == pytest.approx(0, abs=1e-9)
    assert 0 <= p_value < 1


def test_rate_verdict_and_interval_say_the_same() -> None:
    for ours, printed in itertools.product(range(0, 51, 5), range(0, 101, 10)):
        comparison = compare_rates(ours, 50, printed, 100)
        assert (comparison.verdict is Verdict.DIFFERS) == (not comparison.low <= 0 <= comparison.high)
        assert comparison.low <= comparison.difference <= comparison.high


def test_equal_rates_have_p_value_1() -> None:
    assert compare_rates(5, 10, 50, 100).p_value == 1
    assert compare_rates(0, 10, 0, 100).p_value == 1


def test_rates_of_few_seeds_are_inconclusive_and_of_many_agree() -> None:
    assert alone(compare_rates(5, 10, 50, 100)) is Verdict.INCONCLUSIVE
    assert alone(compare_rates(94, 100, 94, 100)) is Verdict.AGREES
    assert alone(compare_rates(100, 100, 100, 100)) is Verdict.AGREES


def test_rates_agree_only_if_the_difference_is_small_not_if_it_is_badly_known() -> None:
    """Half-widths alone once called -3 points inconclusive and +12 points agreement."""
    assert alone(compare_rates(57, 100, 45, 100)) is Verdict.INCONCLUSIVE
    assert alone(compare_rates(88, 100, 91, 100)) is Verdict.AGREES
    near, far = compare_rates(50, 100, 47, 100), compare_rates(50, 100, 46, 100)
    assert (alone(near), alone(far)) == (Verdict.AGREES, Verdict.INCONCLUSIVE)


def test_a_rate_of_94_percent_differs_from_one_of_50_percent_either_way() -> None:
    better, worse = compare_rates(94, 100, 50, 100), compare_rates(50, 100, 94, 100)
    assert alone(better) is alone(worse) is Verdict.DIFFERS
    assert better.p_value == pytest.approx(worse.p_value)
    assert (better.low, better.high) == pytest.approx((-worse.high, -worse.low))
    assert {c.verdict for c in settle([better] * 60)} == {Verdict.DIFFERS}


@pytest.mark.parametrize(("rate", "seeds"), [(0.5, 100), (0.2, 50), (0.9, 100), (0.95, 10)])
def test_rates_differ_wrongly_in_at_most_about_5_percent(rate: float, seeds: int) -> None:
    rng = np.random.default_rng(2)
    ours, printed = rng.binomial(seeds, rate, 1500), rng.binomial(100, rate, 1500)
    share = share_of_differs(compare_rates(int(a), seeds, int(b), 100) for a, b in zip(ours, printed, strict=True))
    # 5 % and 3.3 standard errors. Newcombe's interval itself is off by up to a point for some rates.
    assert 0.005 < share < 0.05 + 0.01 + 3.3 * math.sqrt(0.05 * 0.95 / 1500)


def test_a_family_of_twelve_rates_differs_wrongly_in_at_most_about_5_percent() -> None:
    rng = np.random.default_rng(3)
    rates = np.linspace(0.1, 0.95, 12)
    wrong = 0
    for _ in range(400):
        ours, printed = rng.binomial(100, rates), rng.binomial(100, rates)
        family = [compare_rates(int(a), 100, int(b), 100) for a, b in zip(ours, printed, strict=True)]
        wrong += any(c.verdict is Verdict.DIFFERS for c in settle(family))
    assert wrong / 400 < 0.05 + 3.3 * math.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize(
    ("median", "spread", "seeds", "lowest"),
    [
        (1e6, 0.3, 100, 0.02),
        (1e6, 0.8, 30, 0.02),
        (6e4, 0.05, 100, 0.0),
        (5e3, 0.3, 100, 0.0),
        (1e3, 0.3, 100, 0.0),
        (1e3, 0.05, 25, 0.0),
    ],
)
def test_medians_on_a_1000_step_grid_differ_wrongly_in_at_most_about_5_percent(
    median: float, spread: float, seeds: int, lowest: float
) -> None:
    rng = np.random.default_rng(4)
    share = share_of_differs(
        compare_medians(
            steps_on_the_grid(rng, seeds, median, spread),
            float(np.median(steps_on_the_grid(rng, 100, median, spread))),
            100,
            RESOLUTION,
        )
        for _ in range(400)
    )
    # The bootstrap error is itself noisy, which costs a point for k >= 20. Ties only lower the share.
    assert lowest <= share < 0.05 + 0.02 + 3.3 * math.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize(("seeds", "highest"), [(6, 0.05), (10, 0.05)])
def test_medians_of_few_seeds_differ_wrongly_in_about_5_percent(seeds: int, highest: float) -> None:
    rng = np.random.default_rng(8)
    share = share_of_differs(
        compare_medians(
            steps_on_the_grid(rng, seeds, 1e6, 0.3),
            float(np.median(steps_on_the_grid(rng, 100, 1e6, 0.3))),
            100,
            RESOLUTION,
        )
        for _ in range(1000)
    )
    # With 1.96 it would be up to 12 %.
    assert 0.01 < share < highest + 3.3 * math.sqrt(highest * (1 - highest) / 1000)


def test_medians_half_as_large_or_twice_as_large_differ() -> None:
    steps = steps_on_the_grid(np.random.default_rng(5), 100, 1e6, 0.3)
    for printed in (5e5, 2e6):
        assert alone(compare_medians(steps, printed, 100, RESOLUTION)) is Verdict.DIFFERS
    assert alone(compare_medians(steps, float(np.median(steps)), 100, RESOLUTION)) is Verdict.AGREES


def test_median_interval_is_student_t_errors_wide_and_counts_both_sides() -> None:
    # Equal samples: the error is the floor, half an interval over the smaller median.
    comparison = compare_medians([4000.0] * 20, 5000.0, 60, RESOLUTION)
    half = 2.093024 * (500 / 4000) * math.sqrt(1 + 20 / 60)  # the 97.5 % quantile of 19 degrees of freedom
    assert comparison.difference == pytest.approx(math.log(4 / 5))
    assert comparison.high - comparison.difference == pytest.approx(half, rel=1e-6)
    assert comparison.difference - comparison.low == pytest.approx(half, rel=1e-6)


@pytest.mark.parametrize("seeds", [6, 20])
def test_median_p_value_inverts_its_interval(seeds: int) -> None:
    steps = steps_on_the_grid(np.random.default_rng(9), seeds, 1e6, 0.3)
    comparison = compare_medians(steps, 1e6, 100, RESOLUTION)
    half = comparison.high - comparison.difference
    touching = float(np.median(steps)) * math.exp(half)
    assert compare_medians(steps, touching, 100, RESOLUTION).p_value == pytest.approx(0.05)


@pytest.mark.parametrize("lower", [1000.0, 2000.0, 9000.0])
def test_neighbouring_grid_points_never_differ(lower: float) -> None:
    for ours, printed in [(lower, lower + RESOLUTION), (lower + RESOLUTION, lower)]:
        assert alone(compare_medians([ours] * 100, printed, 100, RESOLUTION)) is not Verdict.DIFFERS


def test_wide_median_intervals_are_inconclusive() -> None:
    steps = 1e6 * np.exp(2 * np.random.default_rng(6).standard_normal(20))
    assert alone(compare_medians(steps, float(np.median(steps)), 100, RESOLUTION)) is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("ours", "printed_solved"), [(0, 100), (5, 100), (50, 1), (50, 0)])
def test_medians_of_too_few_solved_seeds_are_inconclusive(ours: int, printed_solved: int) -> None:
    comparison = compare_medians([1e6] * ours, math.nan, printed_solved, RESOLUTION)
    assert comparison.verdict is Verdict.INCONCLUSIVE
    told = f"medians need 6 solved seeds of ours and 2 printed ones, got {ours} and {printed_solved}"
    assert comparison.notes == (told,)
    assert math.isnan(comparison.p_value)


def test_impossible_median_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="samples must be positive and finite"):
        compare_medians([1000.0, math.nan], 1000.0, 10, RESOLUTION)
    with pytest.raises(ValueError, match="printed_median must be positive and finite, got nan"):
        compare_medians([1000.0, 2000.0] * 3, math.nan, 10, RESOLUTION)
    with pytest.raises(ValueError, match="resolution must be positive, got 0"):
        compare_medians([1000.0, 2000.0], 1000.0, 10, 0.0)


def test_not_comparable_keeps_its_reason_and_asks_for_one() -> None:
    comparison = not_comparable("declared beforehand: other step count")
    assert comparison.verdict == "not comparable"
    assert comparison.notes == ("declared beforehand: other step count",)
    assert settle([comparison]) == [comparison]
    with pytest.raises(ValueError, match="reason must not be empty"):
        not_comparable(" ")
