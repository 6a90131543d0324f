"""Errors inside and outside the training range, and the claims about them."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reported import cells_of, claims_of, line_with, lines_of, measured_of, runs_of, verdicts_of

from nalu_bench import paths
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.printed import published
from nalu_bench.analysis.table.line import Line
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import identity_claims
from nalu_bench.papers.trask2018.identity import Identity
from nalu_bench.papers.trask2018.identity_claims import Errors, Thresholds, nonlinearity
from nalu_bench.papers.trask2018.identity_integers import IdentityIntegers
from nalu_bench.plan import compose, experiment
from nalu_bench.tasks.identity import IdentityOnIntegers
from tests.papers.trask2018 import identity_search

TABLE5 = experiment.load("trask2018/table5")
SEEDS = 40
X = np.arange(-20, 20.25, 0.25)
SLOPES = {"linear": 0.0, "prelu": 0.05, "elu": 0.3, "sigmoid": 0.9, "tanh": 1.0}
"""Growth of an activation's error outside [-5, 5]. Inside, the error is 0.01."""


def measured(slopes: dict[str, float] = SLOPES, broken: int = 0) -> Measured:
    """Networks with error 0.01 inside, growing with the distance outside. `broken` seeds of each predict nan."""
    runs, predictions = [], []
    for name, slope in slopes.items():
        seeds = pd.DataFrame({"seed": range(SEEDS)})
        far = np.where(np.arange(SEEDS) < broken, np.nan, 500 * slope * (1 + 0.1 * np.sin(np.arange(SEEDS))))
        told = {"task": "identity_integers", "setting": f"activation={name}", "steps": 10_000, "integers_mae": far}
        runs.append(runs_of("mlp", SEEDS, cell=name, **told))
        frame = seeds.merge(pd.DataFrame({"probe": range(len(X)), "output": 0, "target": X}), how="cross")
        distance = np.maximum(np.abs(frame["target"]) - 5, 0)
        error = 0.01 + slope * distance * (1 + 0.1 * np.sin(frame["seed"]))
        predicted = np.where(frame["seed"] < broken, np.nan, frame["target"] + error)
        predictions.append(frame.assign(cell=name, prediction=predicted))
    return measured_of(*runs, predictions=pd.concat(predictions, ignore_index=True))


def lines(found: Measured) -> list[Line]:
    return lines_of(IdentityIntegers(TABLE5), found)


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
    figure, drawn = IdentityIntegers(TABLE5).figure(found, lines(found))
    assert set(drawn["activation"]) == set(SLOPES)
    assert (drawn["low"] <= drawn["mae"]).all()
    (axis,) = figure.axes
    assert len(axis.lines) == len(SLOPES)
    assert {"PReLU", "Tanh"} <= {text.get_text() for text in axis.texts}


def test_the_report_of_the_student_project_has_both_its_test_ranges() -> None:
    kind = Identity(experiment.load("iit_report/identity"))
    header = kind.tables(lines_of(kind, measured()))[-1].header
    assert header[1:] == [
        "Error in [-10, 10]", "failing seeds", "Error in the rest of [-20, 20]", "ratio", "rank",
        "failing seeds", "Error in the rest of [-10, 20]", "ratio", "rank",
    ]  # fmt: skip


def test_results_keep_the_predictions_and_some_activations_are_no_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from nalu_bench.cli import main

    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    arguments = ["experiment=trask2018/table5", "budget=smoke", "model.activation=tanh,linear"]
    assert main(["run", *arguments, "device.workers=1"]) == 0
    assert main(["report", "--no-page", *arguments[0].split("=")[1:], *arguments[1:]]) == 0
    kept = pd.read_parquet(tmp_path / "results/local/trask2018/table5/predictions.parquet")
    assert len(kept) == 2 * 2 * 161
    assert kept["prediction"].notna().all()
    assert "no runs of ours" in (tmp_path / "results/local/trask2018/table5/table.md").read_text(encoding="utf-8")


def far(rows: list[Line], activation: str) -> Line:
    return row(rows, activation, "integers", "mae")


def test_the_error_over_the_integers_is_a_mean_over_seeds_beside_the_printed_mean() -> None:
    rows = lines(measured())
    expected = 500 * SLOPES["elu"] * (1 + 0.1 * np.sin(np.arange(SEEDS)))
    assert far(rows, "elu").ours.value == pytest.approx(expected.mean())
    assert far(rows, "elu").printed_text == "142.83"
    assert {name: str(far(rows, name).verdict) for name in SLOPES} == {
        "linear": "agrees", "prelu": "differs", "elu": "differs", "sigmoid": "differs", "tanh": "fitted",
    }  # fmt: skip


def test_numbers_by_which_the_optimiser_was_chosen_are_fitted() -> None:
    rows = lines(measured({"tanh": 0.9873, "sigmoid": 0.9863, "linear": 0.0}))
    assert [str(far(rows, name).verdict) for name in ("tanh", "sigmoid")] == ["fitted", "agrees"]


def test_a_mean_without_some_of_its_networks_has_no_verdict() -> None:
    found = far(lines(measured(broken=3)), "elu")
    assert (found.n_seeds, str(found.verdict)) == (SEEDS - 3, "inconclusive")
    assert found.notes == ("3 seeds have no finite error",)


def without(*activations: str) -> Measured:
    """Networks of which some activations have no finite prediction at all."""
    found = measured()
    found.runs.loc[found.runs["cell"].isin(activations), "integers_mae"] = np.nan
    found.predictions.loc[found.predictions["cell"].isin(activations), "prediction"] = np.nan
    return found


@pytest.mark.filterwarnings("error")
def test_an_activation_without_any_finite_network_keeps_its_rows_and_fails() -> None:
    kind, found = IdentityIntegers(TABLE5), without("elu")
    rows = lines_of(kind, found)
    assert ours(rows, "elu", "outside", "failing") == 1
    assert ours(rows, "elu", "outside", "rank") == len(SLOPES)
    shown = next(line for line in cells_of(kind.tables(rows)[1]) if line[0] == "ELU")
    assert shown[1:] == ["–", "142.83", "inconclusive", f"{SEEDS} seeds have no finite error"]
    assert claims(rows)["claim_linear"] == "agrees"
    figure, drawn = kind.figure(found, rows)
    assert "elu" not in set(drawn["activation"])
    assert "without a finite prediction: ELU" in figure.axes[0].get_xlabel()


@pytest.mark.filterwarnings("error")
def test_without_a_finite_network_of_any_activation_all_are_named_and_none_is_drawn() -> None:
    kind, found = IdentityIntegers(TABLE5), without(*SLOPES)
    rows = lines_of(kind, found)
    assert {ours(rows, name, "outside", "failing") for name in SLOPES} == {1}
    assert {line[1] for line in cells_of(kind.tables(rows)[1])[1:]} == {"–"}
    figure, drawn = kind.figure(found, rows)
    assert drawn.empty
    assert figure.axes[0].get_xlabel().count(",") == len(SLOPES) - 1


def test_without_a_finite_network_of_an_activation_that_claims_are_about_none_is_tested() -> None:
    assert set(claims(lines(without("prelu"))).values()) == {"not comparable"}


def test_claims_count_networks_without_a_finite_prediction_as_failing_and_name_them() -> None:
    (claim,) = [line for line in claims_of(lines(measured(broken=3))) if line.place.metric == "claim_linear"]
    assert claim.notes[-1].startswith("seeds without a finite prediction, in no mean: 3 of prelu, 3 of elu")
    shares = line_with(lines(measured(SLOPES | {"elu": 0.0}, broken=3)), metric="claim_fail")
    assert shares.ours.value == 3 / SEEDS


def test_another_number_of_steps_is_not_compared() -> None:
    found = measured()
    found.runs["steps"] = 2000
    assert str(far(lines(found), "elu").verdict) == "not comparable"


def test_cells_without_the_test_on_the_integers_are_refused() -> None:
    cells = compose.plan_experiment(experiment.load("iit_report/identity"), ["budget=smoke"]).cells
    with pytest.raises(UsageError, match=r"must have task=identity_integers with task\.reach=1000"):
        IdentityIntegers(TABLE5).check(cells)


def test_the_printed_errors_are_those_of_the_paper() -> None:
    source = paths.CHECKOUT.parent / "shared/published/trask2018_table5_identity.csv"
    if not source.exists():
        pytest.skip("the sources are not at hand")
    printed = pd.read_csv(source, dtype=str, keep_default_na=False)
    printed = printed[printed["metric"].str.startswith("mean absolute error")].set_index("model")["value"]
    ours = published.read(TABLE5.published).query("metric == 'mae'").set_index("printed_model")["printed"]
    assert ours.to_dict() == printed.to_dict()


def test_the_optimiser_is_the_nearest_of_the_search_and_judged_by_other_activations() -> None:
    with identity_search.path().open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    nearest = next(iter(identity_search.distances(rows)))
    cell = compose.plan_experiment(TABLE5, ["budget=smoke"]).cells[0].cell
    assert isinstance(cell.task, IdentityOnIntegers)
    assert nearest == (cell.recipe.optimizer, "integers" if cell.task.whole else "reals")
    assert TABLE5.report["fitted"] == list(identity_search.PRINTED)
    assert len(rows) == 18
