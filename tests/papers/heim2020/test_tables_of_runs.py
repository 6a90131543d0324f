"""Means, medians and the best of a few runs, on samples of which the outcome is known."""

import numpy as np
import pytest

from nalu_bench.analysis.stats.intervals import middle_range
from nalu_bench.papers.heim2020.tables_of_runs import drawn, mean_and_error, median_and_deviation

RUNS = np.arange(100.0)


def test_spreads_are_the_standard_error_and_the_median_absolute_deviation() -> None:
    errors = np.random.default_rng(0).exponential(size=(3, 20))
    mean, error = mean_and_error(errors)
    assert mean == pytest.approx(errors.mean(1))
    assert error == pytest.approx([each.std(ddof=1) / 20**0.5 for each in errors])
    median, deviation = median_and_deviation(errors)
    assert median == pytest.approx(np.median(errors, axis=1))
    assert deviation == pytest.approx([np.median(abs(each - np.median(each))) for each in errors])


def test_infinite_errors_are_the_worst() -> None:
    errors = np.array([[1.0, 2.0, 3.0, np.inf, np.inf]])
    assert [each.tolist() for each in median_and_deviation(errors)] == [[3.0], [2.0]]
    assert [each.tolist() for each in mean_and_error(errors)] == [[np.inf], [np.inf]]
    assert [each.tolist() for each in median_and_deviation(np.full((1, 3), np.inf))] == [[np.inf], [np.inf]]


def test_the_best_of_a_draw_are_those_with_the_smallest_ranks_and_not_the_smallest_errors() -> None:
    tables = drawn(RUNS, -RUNS, 20, 10, "any")
    assert tables.shape[1] == 10
    assert (np.diff(tables) <= 0).all(), "in the order of their ranks"
    # The median of the best half of 20 uniform numbers is about their upper quartile.
    assert np.median(tables) == pytest.approx(75, abs=1.5)
    assert np.median(drawn(RUNS, RUNS, 20, 10, "any")) == pytest.approx(24, abs=1.5)


def test_the_best_10_of_10_are_all() -> None:
    assert np.median(drawn(RUNS, -RUNS, 10, 10, "any")) == pytest.approx(49.5, abs=1.5)


def test_the_range_holds_the_statistic_of_a_new_table_as_often_as_it_says() -> None:
    generator, missed = np.random.default_rng(1), 0
    for number in range(300):
        ours, theirs = generator.lognormal(size=50), generator.lognormal(size=20)
        low, high = middle_range(np.median(drawn(ours, ours, 20, 20, str(number)), axis=1))
        missed += not low <= np.median(theirs) <= high
    assert 0.02 <= missed / 300 <= 0.09


def test_equal_names_give_equal_draws() -> None:
    assert np.array_equal(drawn(RUNS, RUNS, 5, 5, "one"), drawn(RUNS, RUNS, 5, 5, "one"))
    assert not np.array_equal(drawn(RUNS, RUNS, 5, 5, "one"), drawn(RUNS, RUNS, 5, 5, "two"))
