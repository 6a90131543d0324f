"""The range of our seeds against a printed number: the verdicts, and those that carry no information."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from nalu_bench.analysis.stats.compare import compare_rates
from nalu_bench.analysis.stats.intervals import wilson_interval
from nalu_bench.analysis.stats.ranges import ENOUGH, Span, compare_share, compare_single, of_one_more
from nalu_bench.analysis.stats.verdicts import Comparison, Verdict, settle
from nalu_bench.analysis.stats.words import Better


def alone(comparison: Comparison) -> Verdict:
    return settle([comparison])[0].verdict


def seeds(*samples: float) -> NDArray[np.float64]:
    """So many of each that the middle 95 % is the range of all, and no interval reaches beyond it."""
    return np.repeat(samples, math.ceil(ENOUGH / len(samples)))


@pytest.mark.parametrize(
    ("samples", "printed", "verdict"),
    [
        ([20.0, 21.0, 22.0], "21.4", Verdict.AGREES),
        ([21.45, 21.5, 22.0], "21.4", Verdict.AGREES),
        ([21.46, 21.5, 22.0], "21.4", Verdict.DIFFERS),
        ([20.0, 21.0, 21.34], "21.4", Verdict.DIFFERS),
        ([0.0, 0.0, 0.04], "0.0", Verdict.EXACT),
        ([1e-9, 1e-8, 1e-7], "0.0", Verdict.EXACT),
        ([0.06, 0.07, 0.08], "0.0", Verdict.DIFFERS),
        ([1.0, 2.0, 3.0], "21", Verdict.DIFFERS),
        ([21.5, 30.0, 40.0], " 21 ", Verdict.AGREES),
        ([998.0, 1000.0, 1001.0], ">999", Verdict.AGREES),
        ([10.0, 999.0, 1e9], ">999", Verdict.DIFFERS),
        ([1.0, math.inf, math.nan], ">999", Verdict.UNINFORMATIVE),
        ([math.inf, math.inf], ">999", Verdict.EXACT),
        ([1e-9, 9e-5], "<.0001", Verdict.EXACT),
        ([9e-5, 2e-4], "<.0001", Verdict.AGREES),
        ([1.1e-4, 2e-4], "<.0001", Verdict.DIFFERS),
        ([math.nan, math.nan, math.inf], "21.4", Verdict.DIFFERS),
        ([1.0, 2.0, math.nan], "21.4", Verdict.UNINFORMATIVE),
        ([30.0, 31.0, -math.inf], "21.4", Verdict.DIFFERS),
    ],
)
def test_single_printed_numbers_get_their_verdict(samples: list[float], printed: str, verdict: Verdict) -> None:
    comparison = compare_single(seeds(*samples), printed)
    assert comparison.verdict is verdict
    assert "reconstructed protocol" in comparison.notes
    assert math.isnan(comparison.p_value)
    if ">" not in printed:
        assert (comparison.low <= 0 <= comparison.high) == (verdict is not Verdict.DIFFERS)
    assert alone(comparison) is verdict


def test_single_comparison_leaves_out_the_outer_five_percent_of_seeds() -> None:
    samples = np.concatenate([[0.0, 0.0], np.linspace(50, 60, 96), [100.0, 100.0]])
    assert compare_single(samples, "0.0").verdict is Verdict.DIFFERS
    assert compare_single(samples, "100.0").verdict is Verdict.DIFFERS
    assert compare_single(samples, "51.5").verdict is Verdict.AGREES


def test_diverged_seeds_are_counted_in_the_note_and_in_the_range() -> None:
    comparison = compare_single([1.0, 2.0, 3.0, math.nan], "2.0")
    assert comparison.notes == ("reconstructed protocol", "seeds without a finite error, the worst: 1")
    assert comparison.high == math.inf
    assert comparison.difference == pytest.approx(0.5)


def test_a_diverged_seed_is_the_worst_where_higher_is_better() -> None:
    comparison = compare_single([0.7, 0.8, 0.9, math.nan], "0.8", (0, 1), Better.HIGHER)
    assert comparison.low == -math.inf
    assert comparison.difference == pytest.approx(-0.05)


@pytest.mark.parametrize(
    ("samples", "printed", "verdict"),
    [
        ([1.0, 5.0, 15.8], "5.0", Verdict.AGREES),  # 1.2 of 4 decades
        ([1.0, 5.0, 15.9], "5.0", Verdict.UNINFORMATIVE),
        ([1.0, 5.0, 15.9], "50.0", Verdict.DIFFERS),
        ([0.0, 1e-9, 0.5], "0.0", Verdict.AGREES),
        ([0.0, 1e-9, 1.6], "0.0", Verdict.UNINFORMATIVE),
        ([1.0, math.inf, math.nan], ">999", Verdict.UNINFORMATIVE),
        ([100.0, 1000.0, 1001.0], ">999", Verdict.AGREES),
    ],
)
def test_a_range_that_most_numbers_meet_is_uninformative(samples: list[float], printed: str, verdict: Verdict) -> None:
    assert compare_single(seeds(*samples), printed).verdict is verdict


def test_numbers_with_two_bounds_count_as_uniform_between_them() -> None:
    weights: Span = (-1, 1)
    assert compare_single(seeds(0.35, 0.9), "0.5", weights).verdict is Verdict.AGREES
    assert compare_single(seeds(0.2, 0.9), "0.5", weights).verdict is Verdict.UNINFORMATIVE
    assert compare_single(seeds(0.2, 0.4), "-0.5", weights, Better.NEITHER).by == "0.8 higher"


def test_shares_count_by_the_intervals_that_would_meet_ours() -> None:
    assert compare_share(seeds(0.7, 0.95), 0.9, 100).verdict is Verdict.UNINFORMATIVE
    assert compare_share(seeds(0.8, 0.9), 0.9, 100).verdict is Verdict.AGREES
    meeting = [low <= 0.69 and high >= 0.4 for low, high in (wilson_interval(k, 1000) for k in range(1001))]
    assert f"{100 * np.mean(meeting):.0f} % of all numbers" in compare_share(seeds(0.4, 0.69), 0.5, 1000).reason


@pytest.mark.parametrize(
    ("ours", "printed", "words"),
    [
        ([5.2, 5.4, 5.6], "0.2", "27× worse"), ([0.1, 0.1], "2.0", "20× better"), ([6.0, 6.0], "5.7", "1.05× worse"),
        ([0.1, 0.1], "0.0", "≥2.0× worse"), ([math.inf, math.inf], "0.0", ">999× worse"), ([20.9, 21.9], "21.4", ""),
        ([3.0, 4.0], ">999", "285× better"),
    ],
)  # fmt: skip
def test_differs_says_in_which_direction_and_by_what_factor(ours: list[float], printed: str, words: str) -> None:
    assert compare_single(seeds(*ours), printed).by == words


@pytest.mark.parametrize(
    ("samples", "printed", "verdict"),
    [
        ([2e3, 3e5, 1e15], "238771", Verdict.UNINFORMATIVE),  # far above the usual numbers
        ([2e-9, 1e-5, 0.087], "<.0001", Verdict.UNINFORMATIVE), ([2e-9, 1e-7, 5e-5], "<.0001", Verdict.EXACT),
        ([1e-4, 2e-4, 1.5e-3], ".0005", Verdict.AGREES), ([1e-4, 2e-4, 1.7e-3], ".0005", Verdict.UNINFORMATIVE),
        ([1e-9, 0.06, 0.06], "0.0", Verdict.AGREES),  # all below 0.1 is printed as 0.0 or 0.1
        ([500.0, 2e3, 1e12], ">999", Verdict.AGREES), ([500.0, 2e3, math.inf], "800", Verdict.UNINFORMATIVE),
    ],
)  # fmt: skip
def test_a_range_is_informative_by_its_width_wherever_it_lies(
    samples: list[float], printed: str, verdict: Verdict
) -> None:
    assert compare_single(seeds(*samples), printed).verdict is verdict


def test_shares_differ_by_points() -> None:
    assert compare_share(seeds(0.2, 0.2, 0.2), 0.5, 100).by == "30 points worse"
    assert compare_rates(40, 100, 14, 100).by == "26 points better"


def test_a_reason_names_what_was_compared() -> None:
    assert compare_single(seeds(20.9, 21.2, 21.9), "21.4").reason == (
        "the middle 95 % of our seeds, 20.9 to 21.9, meets 21.4 as it is rounded; 1 % of all numbers would meet it"
    )
    settled = settle([compare_rates(94, 100, 97, 100)])[0]
    assert settled.reason == (
        "94 of 100 against 97 of 100: a difference of -3.0 points, from -9.8 to 3.3 with 95 % confidence (Newcombe); "
        "with 90 % confidence within 15 points; p = 0.31, and Holm's limit is 0.05 among 1 comparisons"
    )


@pytest.mark.parametrize(
    ("samples", "verdict"),
    [([0.94, 0.97], Verdict.AGREES), ([0.9, 0.95], Verdict.AGREES), ([0.99, 1.0], Verdict.DIFFERS)],
)
def test_a_number_that_was_read_off_a_figure_may_be_so_far_off(samples: list[float], verdict: Verdict) -> None:
    found = compare_single(seeds(*samples), "0.95", (-1, 1), Better.HIGHER, off=0.02)
    assert found.verdict == verdict, "never exact"
    assert "0.95 ± 0.02, as it is read off a figure" in found.reason


def test_a_single_seed_is_inconclusive_against_a_single_number() -> None:
    for samples in ([], [21.4]):
        comparison = compare_single(samples, "21.4")
        assert comparison.verdict is Verdict.INCONCLUSIVE
        assert "reconstructed protocol" in comparison.notes


@pytest.mark.parametrize("printed", ["", "n/a", "nan", "inf", ">", "21,4", "<"])
def test_printed_text_that_is_no_number_is_refused(printed: str) -> None:
    with pytest.raises(ValueError, match="printed must be a number such as"):
        compare_single([1.0, 2.0], printed)


@pytest.mark.parametrize("count", [2, 5, 10, 25])
def test_one_more_of_few_seeds_lies_in_their_range_in_95_percent_of_all_cases(count: int) -> None:
    drawn = np.exp(np.random.default_rng(count).normal(size=(2000, count + 1)))
    held = [low <= more <= high for *few, more in drawn for low, high in [of_one_more(np.array(few))]]
    assert np.mean(held) >= 0.94
    assert (np.mean((drawn[:, -1] >= drawn[:, :-1].min(axis=1)) & (drawn[:, -1] <= drawn[:, :-1].max(axis=1)))
            < 0.94)  # fmt: skip


def test_one_more_seed_of_a_share_lies_within_its_span_and_a_diverged_seed_leaves_the_range() -> None:
    assert of_one_more(np.array([0.5, 0.9, 0.99]), (0, 1)) == (0.0, 1.0)
    assert of_one_more(np.array([1.0, 2.0, math.inf])) == (1.0, math.inf)


def test_few_seeds_that_are_all_alike_differ_from_nothing() -> None:
    found = compare_single([1.0, 1.0, 1.0], "1.2")
    assert (found.verdict, found.notes[-1]) == (Verdict.INCONCLUSIVE, "all 3 seeds are alike")
    assert compare_single([1.0] * 6, "1.2").verdict is Verdict.DIFFERS
