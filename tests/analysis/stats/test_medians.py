"""Medians of errors of which some may be infinite, and their ratios."""

import numpy as np
import pandas as pd

from nalu_bench.analysis.stats.medians import between_of, finite_or_worst, ratio_of


def test_what_diverged_is_the_worst_whichever_way_is_better() -> None:
    values = pd.Series([0.5, np.nan, np.inf])
    assert finite_or_worst(values).tolist() == [0.5, np.inf, np.inf]
    assert finite_or_worst(values, larger_is_better=True).tolist() == [0.5, -np.inf, -np.inf]


def test_the_interval_of_a_ratio_holds_the_true_ratio_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(200):
        samples, reference = np.exp(rng.normal(np.log(3), 0.3, 5)), np.exp(rng.normal(0, 0.3, 5))
        _, low, high = ratio_of(samples, reference, resamples=500)
        held += low <= 3 <= high
    assert 0.88 <= held / 200 <= 0.99


def test_infinite_errors_make_the_upper_limit_infinite_and_no_limit_nan() -> None:
    inf = np.inf
    assert ratio_of(np.array([1.0, 2.0, inf]), np.ones(3))[2] == inf
    assert ratio_of(np.full(3, inf), np.ones(3)) == (inf, inf, inf)
    assert not np.isnan(ratio_of(np.array([1.0, 1.0, inf]), np.array([1.0, inf, inf]))[1:]).any()


def test_the_share_of_the_way_is_nowhere_where_the_reference_is_beyond_its_end() -> None:
    assert np.isnan(between_of(np.ones(3), np.full(3, 2.0), far=1.0)).all()


def test_a_reference_that_may_be_beyond_the_end_leaves_the_share_unbounded() -> None:
    share, low, high = between_of(np.full(3, 2.0), np.array([1.0, 1.0, 9.0]), far=5.0)
    assert (share, low, high) == (0.25, 0.25, np.inf)
