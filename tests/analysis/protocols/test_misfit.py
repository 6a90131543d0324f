"""How improbable a printed number is."""

import math

import numpy as np
import pytest

from nalu_bench.analysis.protocols.misfit import log_scores, misfit


def one(text: str, score: float, deviation: float = 0.0, discrepancy: float = 0.1) -> float:
    return float(misfit(text, math.log(score), deviation, 24, discrepancy))


def test_it_is_least_where_the_number_is_printed() -> None:
    found = [one("21.4", score) for score in (5.0, 15.0, 21.4, 30.0, 90.0)]
    assert min(found) == found[2]
    assert found == pytest.approx(found, abs=0)
    assert all(np.isfinite(found))


def test_it_integrates_to_one_over_all_numbers_that_can_be_printed() -> None:
    numbers = ["0.0", *(f"{number / 10:.1f}" for number in range(1, 9991)), ">999"]
    total = sum(math.exp(-one(text, 40.0, 0.5)) for text in numbers)
    assert total == pytest.approx(1, abs=1e-4)


def test_a_vague_hypothesis_gains_nothing() -> None:
    assert one("21.4", 21.4, 3.0) > one("21.4", 21.4, 0.3) > one("21.4", 21.4, 0.0)
    assert one("0.0", 21.4, 10.0) > one("0.0", 0.01, 0.0)


def test_zero_and_above_999_are_tails() -> None:
    assert one("0.0", 0.001) == pytest.approx(0, abs=1e-3)
    assert one("0.0", 0.05) == pytest.approx(math.log(2))
    assert one(">999", 999.0) == pytest.approx(math.log(2))
    assert one(">999", 1e5) == pytest.approx(0, abs=1e-3)
    assert one("0.0", 90.0) > 50


def test_both_tails_are_as_exact() -> None:
    below, above = one("10.0", 10 / 3), one("10.0", 30.0)
    assert below == pytest.approx(above, rel=0.02)


def test_scores_without_a_number_are_the_worst() -> None:
    assert log_scores([0.0, 1.0, np.inf, np.nan]).tolist() == pytest.approx([math.log(1e-3), 0, *[math.log(1e6)] * 2])
