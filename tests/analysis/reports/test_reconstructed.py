"""A table under the protocol that explains it best: the numbers of the search, and its fitted cells are marked."""

from dataclasses import replace

import pandas as pd
import pytest

import nalu_bench
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.reports.kind import compared
from nalu_bench.analysis.reports.reconstructed_scores import ReconstructedScores
from nalu_bench.errors import UsageError
from nalu_bench.plan import experiment
from nalu_bench.plan.experiment import Experiment

TABLE1 = experiment.load("trask2018/table1")
WAY = TABLE1.report["reconstructed"]["arithmetic_terms"]


def with_way(**changes: str) -> Experiment:
    return replace(TABLE1, report=TABLE1.report | {"reconstructed": {"arithmetic_terms": WAY | changes}})


@pytest.fixture(scope="module")
def measured() -> Measured:
    """The committed runs of the static half."""
    found: Measured = nalu_bench.load("trask2018/table1").document.measured
    return replace(found, runs=found.runs[found.runs["task"] == "arithmetic_terms"])


def verdicts(kind: ReconstructedScores, measured: Measured) -> pd.DataFrame:
    table = compared(kind.rows(measured), kind.published)
    return table[(table["task"] == "arithmetic") & (table["n_seeds"] > 0)].reset_index(drop=True)


def test_its_numbers_are_those_of_the_experiment_that_found_the_protocol(measured: Measured) -> None:
    ours = verdicts(ReconstructedScores(TABLE1), measured)
    found = nalu_bench.load("trask2018/table1_finalist").table
    best = found[(found["metric"] == "score")].reset_index(drop=True)
    assert len(ours) == 48
    assert ours[["operation", "model", "split", "verdict"]].equals(best[["operation", "model", "split", "verdict"]])
    pd.testing.assert_frame_equal(ours[["ours", "ours_low", "ours_high"]], best[["ours", "ours_low", "ours_high"]])


def test_numbers_that_chose_the_protocol_are_fitted_and_no_others(measured: Measured) -> None:
    ours = verdicts(ReconstructedScores(TABLE1), measured)
    assert set(ours.loc[ours["verdict"] == "fitted", "model"]) == {"linear", "nac"}
    assert not (ours.loc[ours["model"].isin(["linear", "nac"]), "verdict"] != "fitted").any()


def test_half_trained_it_takes_the_seeds_and_models_that_are_there(measured: Measured) -> None:
    runs = measured.runs
    cell = runs["cell"].iloc[0]
    partly = runs[(runs["cell"] != cell) | (runs["seed"] < 50)]
    partly = partly[(partly["model"] != "nalu") & (partly["operation"] != "sqrt")]
    ours = verdicts(ReconstructedScores(TABLE1), replace(measured, runs=partly))
    assert set(ours["model"]) == {"relu6", "linear", "nac"}
    assert "sqrt" not in set(ours["operation"])
    assert set(ours["n_seeds"]) == {50}
    assert set(ours["note"].str.contains("50 of 100 seeds")) == {True}
    with pytest.raises(UsageError, match="at least 2 seeds must be there for every cell of arithmetic_terms"):
        ReconstructedScores(TABLE1).rows(replace(measured, runs=runs[(runs["cell"] != cell) | (runs["seed"] < 1)]))


def test_the_table_says_that_it_is_reconstructed_and_by_what(measured: Measured) -> None:
    kind = ReconstructedScores(TABLE1)
    first, _ = kind.tables(verdicts(kind, measured))
    assert "Reconstructed: the protocol that best explains the printed table (trask2018/table1_finalist)" in first.title
    assert "the mean squared error over that of the mean of the training targets" in first.title
    assert first.title.endswith("where validation_mae is smallest; Linear is linear_no_bias")
    assert first.rows[0][1] == "ours, best of 10 of 100 seeds [its middle 95 %]"


def test_a_score_that_is_no_choice_and_a_report_that_is_no_search_are_refused(measured: Measured) -> None:
    with pytest.raises(UsageError, match=r"score best, mea / mean, .* must be a choice of trask2018/table1_finalist"):
        ReconstructedScores(with_way(metric="mea")).rows(measured)
    with pytest.raises(UsageError, match="must be by a report of kind forensics, got madsen2020/table1"):
        ReconstructedScores(with_way(by="madsen2020/table1"))
