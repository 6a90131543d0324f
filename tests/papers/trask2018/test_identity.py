"""Errors inside and outside the training range, and the claims about them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reported import claims_of, line_with, lines_of, measured_of, runs_of, verdicts_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.table.line import Line
from nalu_bench.papers.trask2018 import identity_claims
from nalu_bench.papers.trask2018.identity import Identity
from nalu_bench.papers.trask2018.identity_claims import Errors, Thresholds, nonlinearity
from nalu_bench.plan import experiment

FIGURE1 = experiment.load("trask2018/figure1")
SEEDS = 40
X = np.arange(-20, 20.25, 0.25)
SLOPES = {"linear": 0.0, "prelu": 0.05, "elu": 0.3, "sigmoid": 0.9, "tanh": 1.0}
"""Growth of an activation's error outside [-5, 5]. Inside, the error is 0.01."""


def measured(slopes: dict[str, float] = SLOPES, broken: int = 0) -> Measured:
    """Networks with error 0.01 inside, growing with the distance outside. `broken` seeds of each predict nan."""
    runs, predictions = [], []
    for name, slope in slopes.items():
        seeds = pd.DataFrame({"seed": range(SEEDS)})
        runs.append(runs_of("mlp", SEEDS, cell=name, task="identity", setting=f"activation={name}"))
        frame = seeds.merge(pd.DataFrame({"probe": range(len(X)), "output": 0, "target": X}), how="cross")
        distance = np.maximum(np.abs(frame["target"]) - 5, 0)
        error = 0.01 + slope * distance * (1 + 0.1 * np.sin(frame["seed"]))
        predicted = np.where(frame["seed"] < broken, np.nan, frame["target"] + error)
        predictions.append(frame.assign(cell=name, prediction=predicted))
    return measured_of(*runs, predictions=pd.concat(predictions, ignore_index=True))


def lines(found: Measured) -> list[Line]:
    return lines_of(Identity(FIGURE1), found)


def row(rows: list[Line], activation: str, split: str, metric: str) -> Line:
    return line_with(rows, setting=f"activation={activation}", split=split, metric=metric)


def ours(rows: list[Line], activation: str, split: str, metric: str) -> float:
    return row(rows, activation, split, metric).ours.value


def test_errors_are_means_over_the_probes_of_a_range_and_then_over_seeds() -> None:
    rows = lines(measured())
    assert ours(rows, "tanh", "inside", "mae") == pytest.approx(0.01)
    grows = 1 + 0.1 * np.sin(np.arange(SEEDS))
    outside = np.abs(X[np.abs(X) > 5]) - 5
    expected = 0.01 + outside.mean() * grows
    found = row(rows, "tanh", "outside", "mae").ours
    assert found.value == pytest.approx(expected.mean())
    assert found.high - found.value == pytest.approx(2.0227 * expected.std(ddof=1) / np.sqrt(SEEDS), rel=1e-4)
    assert ours(rows, "tanh", "outside", "ratio") == pytest.approx(expected.mean() / 0.01)
    assert ours(rows, "tanh", "below", "mae") == pytest.approx(found.value)
    assert [ours(rows, name, "outside", "rank") for name in SLOPES] == [1, 2, 3, 4, 5]


def test_a_seed_fails_from_one_percent_of_the_mean_input_outside() -> None:
    slope = 0.115 / 7.625  # x is 12.625 on average and 7.625 from the range: half of the seeds err by 0.12625 and more
    rows = lines(measured(SLOPES | {"elu": slope}))
    grows = 0.01 + 0.115 * (1 + 0.1 * np.sin(np.arange(SEEDS)))
    assert ours(rows, "elu", "outside", "failing") == (grows >= 0.12625).mean()
    assert 0.3 < (grows >= 0.12625).mean() < 0.7
    assert [ours(rows, name, "outside", "failing") for name in ("linear", "tanh")] == [0, 1]


def test_runs_without_finite_predictions_are_left_out_and_noted() -> None:
    found = row(lines(measured(broken=3)), "elu", "outside", "mae")
    assert found.n_seeds == SEEDS - 3
    assert found.notes == ("3 seeds have no finite prediction",)
    assert ours(lines(measured(broken=3)), "linear", "outside", "failing") == 3 / SEEDS


def claims(rows: list[Line]) -> dict[str, str]:
    return verdicts_of(claims_of(rows))


def test_claims_that_hold_agree() -> None:
    verdicts = claims(lines(measured()))
    assert verdicts.pop("claim_consistent") == "inconclusive", "40 of 40 seeds do not show 95 %"
    assert verdicts == dict.fromkeys(["claim_fail", "claim_ramps", "claim_severity", "claim_linear"], "agrees")


def test_one_activation_that_does_not_fail_is_enough_to_differ() -> None:
    verdicts = claims(lines(measured(SLOPES | {"elu": 0.0, "sigmoid": 0.0})))
    assert verdicts["claim_fail"] == verdicts["claim_ramps"] == verdicts["claim_consistent"] == "differs"


def test_a_prelu_that_is_worse_than_the_others_differs() -> None:
    assert claims(lines(measured(SLOPES | {"prelu": 0.95})))["claim_linear"] == "differs"


def checks_of(errors: dict[str, Errors]) -> identity_claims.Tests:
    limits = Thresholds("linear", 0.01, 0.5, 10.0, 0.5, "prelu", ["sigmoid", "tanh"], 0.95)
    return identity_claims.Tests(errors, limits, scale=12.5, trained=(-5.0, 5.0), tested=(-20.0, 20.0))


def test_the_severity_is_spearmans_correlation_with_the_non_linearity_without_the_control() -> None:
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    names = ["linear", "relu", "elu", "sigmoid", "softsign", "tanhshrink"]
    errors = {name: {"inside": np.ones(9), "outside": rng.random(9)} for name in names}
    expected = spearmanr(
        [nonlinearity(name, -20, 20) for name in names[1:]], [errors[name]["outside"].mean() for name in names[1:]]
    ).statistic
    found = checks_of(errors).severity()
    assert found.ours.value == pytest.approx(expected)
    assert found.ours.low < found.ours.value < found.ours.high
    assert "over [-20, 20]; over the training range [-5, 5] it is" in found.quantity


def test_a_few_bad_seeds_are_no_failure_of_an_activation() -> None:
    good, bad = np.full(20, 0.01), np.array([*np.full(19, 0.01), 100.0])
    errors = {name: {"inside": good, "outside": bad} for name in ("linear", "prelu", "sigmoid", "tanh")}
    found = checks_of(errors).fail()
    assert (found.ours.value, found.ours.high < found.threshold) == (0.05, True)


def test_the_non_linearity_of_a_relu_is_that_of_its_formula() -> None:
    # over [-a, a]: Var(relu) = 5 a²/48, Cov(x, relu) = a²/6, Var(x) = a²/3, so R² = (1/6)² / (1/3 · 5/48) = 4/5
    assert nonlinearity("relu", -20, 20, points=200_001) == pytest.approx(0.2, rel=1e-4)


def test_the_figure_has_a_line_with_a_band_and_a_name_for_every_activation() -> None:
    found = measured()
    figure, drawn = Identity(FIGURE1).figure(found, lines(found))
    assert set(drawn["activation"]) == set(SLOPES)
    assert (drawn["low"] <= drawn["mae"]).all()
    (axis,) = figure.axes
    assert len(axis.lines) == len(SLOPES)
    assert {"PReLU", "Tanh"} <= {text.get_text() for text in axis.texts}


def test_the_report_of_the_student_project_has_both_its_test_ranges() -> None:
    kind = Identity(experiment.load("iit_report/identity"))
    header = kind.tables(lines_of(kind, measured()))[0].header
    assert header[1:] == [
        "Error in [-10, 10]", "failing seeds", "Error in the rest of [-20, 20]", "ratio", "rank",
        "failing seeds", "Error in the rest of [-10, 20]", "ratio", "rank",
    ]  # fmt: skip


def test_results_keep_the_predictions_and_some_activations_are_no_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nalu_bench.cli import main

    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    arguments = ["experiment=trask2018/figure1", "budget=smoke", "model.activation=tanh,linear"]
    assert main(["run", *arguments, "device.workers=1"]) == 0
    assert main(["report", "--no-page", *arguments[0].split("=")[1:], *arguments[1:]]) == 0
    kept = pd.read_parquet(tmp_path / "results/local/trask2018/figure1/predictions.parquet")
    assert len(kept) == 2 * 2 * 161
    assert kept["prediction"].notna().all()
    assert "no runs of ours" in (tmp_path / "results/local/trask2018/figure1/table.md").read_text(encoding="utf-8")
