"""Errors inside and outside the training range, and the claims about them."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.printed import published
from nalu_bench.analysis.reports.kind import compared
from nalu_bench.analysis.reports.papers.identity import Identity
from nalu_bench.analysis.reports.papers.identity_claims import Claims, Errors, Thresholds, nonlinearity
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
        runs.append(
            seeds.assign(
                cell=name, task="identity", setting=f"activation={name}", operation="", model="mlp", role="cell",
                steps=100, asked=SEEDS,
            )
        )  # fmt: skip
        frame = seeds.merge(pd.DataFrame({"probe": range(len(X)), "output": 0, "target": X}), how="cross")
        distance = np.maximum(np.abs(frame["target"]) - 5, 0)
        error = 0.01 + slope * distance * (1 + 0.1 * np.sin(frame["seed"]))
        predicted = np.where(frame["seed"] < broken, np.nan, frame["target"] + error)
        predictions.append(frame.assign(cell=name, prediction=predicted))
    return Measured(pd.concat(runs, ignore_index=True), predictions=pd.concat(predictions, ignore_index=True))


def table(found: Measured) -> pd.DataFrame:
    kind = Identity(FIGURE1)
    return compared(kind.rows(found), kind.published)


def row(rows: pd.DataFrame, activation: str, split: str, metric: str) -> Any:
    keys = {"setting": f"activation={activation}", "split": split, "metric": metric}
    (line,) = rows[np.logical_and.reduce([rows[key] == value for key, value in keys.items()])].to_dict("records")
    return line


def test_errors_are_means_over_the_probes_of_a_range_and_then_over_seeds() -> None:
    rows = table(measured())
    assert row(rows, "tanh", "inside", "mae")["ours"] == pytest.approx(0.01)
    grows = 1 + 0.1 * np.sin(np.arange(SEEDS))
    outside = np.abs(X[np.abs(X) > 5]) - 5
    expected = 0.01 + outside.mean() * grows
    found = row(rows, "tanh", "outside", "mae")
    assert found["ours"] == pytest.approx(expected.mean())
    assert found["ours_high"] - found["ours"] == pytest.approx(2.0227 * expected.std(ddof=1) / np.sqrt(SEEDS), rel=1e-4)
    assert row(rows, "tanh", "outside", "ratio")["ours"] == pytest.approx(expected.mean() / 0.01)
    assert row(rows, "tanh", "below", "mae")["ours"] == pytest.approx(found["ours"])
    assert [row(rows, name, "outside", "rank")["ours"] for name in SLOPES] == [1, 2, 3, 4, 5]


def test_a_seed_fails_from_one_percent_of_the_mean_input_outside() -> None:
    slope = 0.115 / 7.625  # x is 12.625 on average and 7.625 from the range: half of the seeds err by 0.12625 and more
    rows = table(measured(SLOPES | {"elu": slope}))
    grows = 0.01 + 0.115 * (1 + 0.1 * np.sin(np.arange(SEEDS)))
    assert row(rows, "elu", "outside", "failing")["ours"] == (grows >= 0.12625).mean()
    assert 0.3 < (grows >= 0.12625).mean() < 0.7
    assert [row(rows, name, "outside", "failing")["ours"] for name in ("linear", "tanh")] == [0, 1]


def test_runs_without_finite_predictions_are_left_out_and_noted() -> None:
    found = row(table(measured(broken=3)), "elu", "outside", "mae")
    assert found["n_seeds"] == SEEDS - 3
    assert found["note"] == "3 seeds have no finite prediction"
    assert row(table(measured(broken=3)), "linear", "outside", "failing")["ours"] == 3 / SEEDS


def claims(rows: pd.DataFrame) -> dict[str, str]:
    chosen = rows[rows["metric"].str.startswith("claim_")]
    return dict(zip(chosen["metric"], chosen["verdict"], strict=True))


def test_claims_that_hold_agree() -> None:
    verdicts = claims(table(measured()))
    assert verdicts.pop("claim_consistent") == "inconclusive", "40 of 40 seeds do not show 95 %"
    assert verdicts == dict.fromkeys(["claim_fail", "claim_ramps", "claim_severity", "claim_linear"], "agrees")


def test_one_activation_that_does_not_fail_is_enough_to_differ() -> None:
    verdicts = claims(table(measured(SLOPES | {"elu": 0.0, "sigmoid": 0.0})))
    assert verdicts["claim_fail"] == verdicts["claim_ramps"] == verdicts["claim_consistent"] == "differs"


def test_a_prelu_that_is_worse_than_the_others_differs() -> None:
    assert claims(table(measured(SLOPES | {"prelu": 0.95})))["claim_linear"] == "differs"


def claims_of(errors: dict[str, Errors]) -> Claims:
    limits = Thresholds("linear", 0.01, 0.5, 10.0, 0.5, "prelu", ["sigmoid", "tanh"], 0.95)
    return Claims(errors, limits, scale=12.5, trained=(-5.0, 5.0), tested=(-20.0, 20.0))


def test_the_severity_is_spearmans_correlation_with_the_non_linearity_without_the_control() -> None:
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    names = ["linear", "relu", "elu", "sigmoid", "softsign", "tanhshrink"]
    errors = {name: {"inside": np.ones(9), "outside": rng.random(9)} for name in names}
    expected = spearmanr(
        [nonlinearity(name, -20, 20) for name in names[1:]], [errors[name]["outside"].mean() for name in names[1:]]
    ).statistic
    found = claims_of(errors).severity()
    assert found.value == pytest.approx(expected)
    assert found.low < found.value < found.high
    assert "over [-20, 20]; over the training range [-5, 5] it is" in found.what


def test_a_few_bad_seeds_are_no_failure_of_an_activation() -> None:
    good, bad = np.full(20, 0.01), np.array([*np.full(19, 0.01), 100.0])
    errors = {name: {"inside": good, "outside": bad} for name in ("linear", "prelu", "sigmoid", "tanh")}
    found = claims_of(errors).fail()
    assert (found.value, found.high < found.threshold) == (0.05, True)


def test_the_non_linearity_of_a_relu_is_that_of_its_formula() -> None:
    # over [-a, a]: Var(relu) = 5 a²/48, Cov(x, relu) = a²/6, Var(x) = a²/3, so R² = (1/6)² / (1/3 · 5/48) = 4/5
    assert nonlinearity("relu", -20, 20, points=200_001) == pytest.approx(0.2, rel=1e-4)


@pytest.mark.parametrize("name", ["trask2018/figure1", "iit_report/identity"])
def test_the_claims_are_quoted_from_their_sources(name: str) -> None:
    seeds = paths.CHECKOUT.parent / "shared" / "seeds"
    if not seeds.exists():
        pytest.skip("the sources are not at hand")
    for line in published.read(experiment.load(name).published).to_dict("records"):
        file = re.search(r"seeds/([\w-]+\.txt)", line["source"])
        assert file
        text = " ".join((seeds / file[1]).read_text(encoding="utf-8").split())
        assert line["printed"] in text


def test_the_figure_has_a_line_with_a_band_and_a_name_for_every_activation() -> None:
    kind, found = Identity(FIGURE1), measured()
    figure, drawn = kind.figure(found, table(found))
    assert set(drawn["activation"]) == set(SLOPES)
    assert (drawn["low"] <= drawn["mae"]).all()
    (axis,) = figure.axes
    assert len(axis.lines) == len(SLOPES)
    assert {"PReLU", "Tanh"} <= {text.get_text() for text in axis.texts}


def test_the_report_of_the_student_project_has_both_its_test_ranges() -> None:
    chosen = experiment.load("iit_report/identity")
    kind = Identity(replace(chosen, report=chosen.report))
    found = measured()
    header = kind.tables(compared(kind.rows(found), kind.published))[0].header
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
