"""Samples against samples: false alarms, power, censoring, pairs."""

import numpy as np
import pytest
from scipy.stats import norm

from nalu_bench.analysis.stats.samples import compare_times, compare_values, log_rank, paired
from nalu_bench.analysis.stats.verdicts import Verdict

TRAINED = 100.0


def times(rng: np.random.Generator, seeds: int, scale: float) -> np.ndarray:
    """Times of which those above the end of training are unknown."""
    drawn = rng.exponential(scale, seeds)
    return np.where(drawn > TRAINED, np.nan, drawn)


def test_samples_of_one_distribution_differ_wrongly_in_about_5_percent() -> None:
    rng = np.random.default_rng(0)
    values = [compare_values(rng.exponential(1, 50), rng.exponential(1, 100)).p_value for _ in range(400)]
    late = [compare_times(times(rng, 50, 60), times(rng, 100, 60), TRAINED, TRAINED).p_value for _ in range(400)]
    assert 0.02 < np.mean(np.array(values) < 0.05) < 0.08
    assert 0.02 < np.mean(np.array(late) < 0.05) < 0.08


def test_samples_of_others_differ() -> None:
    rng = np.random.default_rng(1)
    assert compare_values(rng.normal(0, 1, 50), rng.normal(2, 1, 100)).verdict is Verdict.DIFFERS
    slower = compare_times(times(rng, 50, 120), times(rng, 100, 30), TRAINED, TRAINED)
    assert (slower.verdict, slower.difference > 0) == (Verdict.DIFFERS, True)


def test_large_equal_samples_agree_and_small_ones_leave_it_open() -> None:
    sample = np.arange(1.0, 101)
    assert compare_values(sample, sample + 0.5).verdict is Verdict.AGREES
    assert compare_values(sample[::20], sample[10::20]).verdict is Verdict.INCONCLUSIVE


def test_the_log_rank_test_is_that_of_a_plain_loop() -> None:
    one, two = np.array([14.0, 20, 20, 45, np.inf, np.inf]), np.array([13.0, 14, 15, 20, 22, np.inf])
    seen = expected = variance = 0.0
    for time in np.unique(np.concatenate([one, two])):
        if np.isfinite(time):
            n1, n = (one >= time).sum(), (one >= time).sum() + (two >= time).sum()
            d1, d = (one == time).sum(), (one == time).sum() + (two == time).sum()
            seen, expected = seen + d1, expected + d * n1 / n
            variance += d * (n1 / n) * (1 - n1 / n) * (n - d) / (n - 1) if n > 1 else 0.0
    assert log_rank(one, two, 60, 60) == pytest.approx(2 * norm.sf(abs(seen - expected) / np.sqrt(variance)))
    assert log_rank(np.full(3, np.inf), np.full(3, np.inf), 60, 60) == 1


def test_a_few_seeds_that_are_all_alike_leave_it_open() -> None:
    assert compare_values([0.0, 0.0], [0.0, 0.0]).verdict is Verdict.INCONCLUSIVE
    assert compare_times([5.0] * 3, [5.0] * 3, TRAINED, TRAINED).verdict is Verdict.INCONCLUSIVE
    alike = compare_times([5.0] * 25, [5.0] * 25, TRAINED, TRAINED)
    assert (alike.verdict, alike.p_value) == (Verdict.AGREES, 1)


def test_unsolved_seeds_are_no_agreement_on_speed() -> None:
    few = np.where(np.arange(100) < 20, 10.0 + np.arange(100), np.nan)
    assert compare_times(few, few + 1, TRAINED, TRAINED).verdict is Verdict.INCONCLUSIVE
    nothing = np.full(10, np.nan)
    assert compare_times(nothing, few, TRAINED, TRAINED).notes == ("no seed is solved on one side",)
    assert compare_times(nothing, nothing, TRAINED, TRAINED).verdict is Verdict.NOT_COMPARABLE


@pytest.mark.parametrize(("ours", "p"), [([1, 1, 1, 1, 1, 1, 0, 0], "0.031"), ([0] * 8, "1")])
def test_pairs_are_tested_by_those_that_end_otherwise(ours: list[int], p: str) -> None:
    assert paired(np.array(ours, bool), np.zeros(8, bool)).endswith(f"(McNemar, p = {p})")
