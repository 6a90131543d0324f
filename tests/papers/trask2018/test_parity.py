"""Accuracies of last layers, and contrasts that are paired by seed."""

import numpy as np
import pandas as pd
import pytest
from reported import runs_of

from nalu_bench.analysis.table.claim import Claim
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018.parity import Contrast, Parity, _by_seed, _claim
from nalu_bench.plan import compose, experiment

NAME = "trask2018/table4"


def accuracies(**values: list[float]) -> dict[str, "pd.Series[float]"]:
    return {model: pd.Series(found, index=range(len(found))) for model, found in values.items()}


def contrast(**changes: object) -> Contrast:
    values: dict[str, object] = {"of": ["a"], "than": ["b"], "at_least": 0.0}
    return Contrast(**values | changes)  # type: ignore[arg-type]


def test_a_difference_is_paired_by_seed() -> None:
    found = accuracies(a=[90.0, 70.0, 80.0], b=[88.0, 67.0, 79.0])
    claim = _claim(contrast(), found)
    assert claim.value == pytest.approx(2.0)
    assert claim.limits is not None
    low, high = claim.limits(0.95)
    assert (low, high) == pytest.approx((2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), abs=1e-3)


def test_a_relative_one_is_the_share_of_the_error_that_is_gone() -> None:
    claim = _claim(contrast(relative=True), accuracies(a=[90.0, 95.0], b=[80.0, 90.0]))
    assert claim.value == pytest.approx(50.0)


def test_several_models_count_by_their_mean_on_common_seeds() -> None:
    found = accuracies(a=[90.0, 92.0], b=[80.0, 82.0, 99.0], c=[70.0, 72.0, 0.0])
    assert _claim(contrast(than=["b", "c"]), found).value == pytest.approx(15.0)


def test_a_contrast_without_two_common_seeds_is_not_tested() -> None:
    for found in (accuracies(a=[90.0], b=[80.0]), accuracies(a=[90.0, 91.0])):
        claim: Claim = _claim(contrast(), found)
        assert "fewer than 2 seeds" in claim.untested


def test_a_claim_on_a_model_that_there_is_not_is_refused() -> None:
    loaded = experiment.load(NAME)
    loaded.report["claims"]["bias"]["of"] = ["canvas_nacc"]
    plan = compose.plan_experiment(loaded, ["budget=smoke"])
    with pytest.raises(UsageError, match=r"model of the claim bias of .* 'canvas_nacc'; did you mean 'canvas_nac'"):
        Parity(loaded).check_printed(plan.cells)


def test_a_claim_that_is_not_on_two_sides_is_refused() -> None:
    with pytest.raises(UsageError, match="the claim bias must name models in of and in than"):
        contrast(than=[]).check("bias")


def test_a_network_without_finite_predictions_counts_as_0() -> None:
    runs = runs_of("canvas_nac", 2, test_correct=[0.5, np.nan])
    assert _by_seed(runs).tolist() == [50.0, 0.0]
