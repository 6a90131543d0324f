"""Series of several lengths: thresholds from reference networks, facts for every length, claims by ratios."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nalu_bench.analysis.measure.lengths import by_length, lengths
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.recheck import Check, findings
from nalu_bench.analysis.measure.record import kept_points
from nalu_bench.analysis.measure.solved import solved_facts_of
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import compared
from nalu_bench.analysis.reports.papers import series_panels
from nalu_bench.analysis.reports.papers.series_errors import SeriesErrors
from nalu_bench.analysis.reports.papers.series_success import SeriesSuccess
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, experiment
from nalu_bench.plan.cell import Cell

PRODUCT = experiment.load("madsen2020/mnist_product")
TABLE2 = experiment.load("trask2018/table2")


@pytest.fixture(scope="module")
def cell() -> Cell:
    return compose.plan_experiment(PRODUCT, ["budget=smoke"]).cells[0].cell


def references(errors: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"seed": range(len(errors)), "role": "reference", "test_mse_1": errors, "test_mse_10": errors})


def test_a_threshold_is_students_upper_limit_over_the_references(cell: Cell) -> None:
    found = SeriesSuccess(PRODUCT).criteria(cell, references([1.0, 2.0, 3.0]))
    limit = 2 + 6.9645567 * 1 / 3**0.5  # Student's 99 % quantile of 2 degrees of freedom
    assert found["thresholds"] == {"test_mse_1": pytest.approx(limit), "test_mse_10": pytest.approx(limit)}


def test_a_reference_that_has_not_learned_the_task_does_not_count(cell: Cell) -> None:
    kind = SeriesSuccess(PRODUCT)
    clean = kind.criteria(cell, references([1.0, 2.0, 3.0]))
    assert kind.criteria(cell, references([1.0, 2.0, 3.0, 30.0])) == clean
    assert kind.criteria(cell, references([1.0, 2.0, 3.0, float("nan")])) == clean
    assert kind.criteria(cell, references([1.0, *[float("nan")] * 2])) == {}


def test_the_threshold_of_kept_references_is_that_of_the_trained_ones(cell: Cell) -> None:
    kind = SeriesSuccess(PRODUCT)
    trained = references([6.2816452, 7.3108091, 7.4874141, 8.4211629]).astype({"test_mse_1": "f4", "test_mse_10": "f4"})
    kept = pd.read_csv(io.StringIO(trained.to_csv(index=False)))
    assert kind.criteria(cell, kept) == kind.criteria(cell, trained)


def test_without_two_references_nothing_is_judged(cell: Cell) -> None:
    kind = SeriesSuccess(PRODUCT)
    assert kind.criteria(cell, references([1.0])) == {}
    with pytest.raises(UsageError, match="at least 2 references that have learned the task, and there are 1 yet"):
        kind.require(Measured(references([1.0])))


def curves() -> pd.DataFrame:
    """Two seeds at steps 0 to 4: the first meets 1.0 at length 1 from step 2 on, and never at length 10."""
    steps = np.tile(np.arange(5), 2)
    short = [9, 5, 0.9, 0.8, 0.7, 9, 8, 7, 6, 5]
    errors = {"validation_mse": short, "test_mse_1": short, "test_mse_10": 5.0, "train_loss": 1.0}
    return pd.DataFrame({"seed": np.repeat([0, 1], 5), "step": steps} | errors)


def run_rows(cell: Cell) -> pd.DataFrame:
    last = curves()[curves()["step"] == 4].drop(columns="step")
    ends = {"selected_step": 4, "last_step": 4, "diverged_at": pd.NA, "status": "finished"}
    rows = last.assign(**ends, steps=4, log_every=1, cell=cell.digest)
    return solved_facts_of(rows, curves(), {"test_mse_1": 1.0, "test_mse_10": 1.0}, cell.task)


def test_a_run_is_judged_at_every_length(cell: Cell) -> None:
    runs = run_rows(cell)
    assert runs["solved_test_mse_1"].tolist() == [True, False]
    assert runs["solved_at_test_mse_1"].tolist() == [2, pd.NA]
    assert not runs["solved_test_mse_10"].any()
    longer = dict(by_length(runs.assign(setting=""), "mse"))
    assert lengths(runs, "mse") == {1: "test_mse_1", 10: "test_mse_10"}
    assert longer[1]["setting"].tolist() == ["length=1"] * 2
    assert longer[1]["solved_at"].tolist() == [2, pd.NA]


def test_the_facts_of_every_length_are_recomputed_from_the_kept_curve(cell: Cell) -> None:
    runs = run_rows(cell)
    kept = kept_points(curves(), runs).assign(cell=cell.digest)
    entry = {
        "identity": cell.identity(), "criteria": {"thresholds": {"test_mse_1": 1.0, "test_mse_10": 1.0}},
    }  # fmt: skip

    def checks(runs: pd.DataFrame) -> dict[str, Check]:
        found = findings(Measured(runs, kept), {"cells": {cell.digest: entry}})
        return {finding.fact: finding.check for finding in found if finding.seed == 0}

    assert checks(runs)["solved_at_test_mse_1"] == Check.RECOMPUTED
    forged = runs.assign(solved_at_test_mse_1=pd.array([1, None], dtype="Int64"))
    assert checks(forged)["solved_at_test_mse_1"] == Check.CONTRADICTED
    assert checks(runs.assign(solved_test_mse_10=True))["solved_test_mse_10"] == Check.CONTRADICTED


def errors_of(role: str, model: str, at: dict[int, list[float]]) -> pd.DataFrame:
    columns: dict[str, Any] = {f"test_mae_{length}": errors for length, errors in at.items()}
    columns |= {f"test_rounds_{length}": 0.5 for length in at}
    words = {"task": "digit_series", "setting": "", "operation": "sum", "model": model, "role": role}
    frame = pd.DataFrame(columns).assign(**words, cell=model, steps=17_200, test_digits_1=0.9)
    return frame.assign(seed=range(len(frame)), asked=len(frame))


def table_of(runs: pd.DataFrame) -> pd.DataFrame:
    kind = SeriesErrors(TABLE2)
    return compared(kind.rows(Measured(runs)), kind.published)


def interpolation(runs: pd.DataFrame) -> pd.Series:
    """The claim that sums are learned at the trained length, with its verdict."""
    table = table_of(runs)
    return table[(table["operation"] == "sum") & (table["metric"] == "claim_interpolate")].iloc[0]


def test_claims_are_tested_where_they_are_furthest_from_true() -> None:
    good, bad = [1.0, 1.1, 1.2, 1.3, 1.4], [50.0, 60.0, 70.0, 80.0, 90.0]
    standard = [
        errors_of("cell", f"image_{name}", {1: good, 10: good, 100: bad, 1000: bad})
        for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")
    ]
    arithmetic = [
        errors_of("cell", "image_nac_xavier", {1: good, 10: good, 100: good, 1000: good}),
        errors_of("cell", "image_nalu_xavier", {1: good, 10: good, 100: good, 1000: [float("nan")] * 5}),
    ]
    reference = errors_of("reference", "image_solved_sum", {1: good, 10: good, 100: good, 1000: good})
    kind = SeriesErrors(TABLE2)
    measured = Measured(pd.concat([*standard, *arithmetic, reference], ignore_index=True))
    kind.require(measured)
    table = compared(kind.rows(measured), kind.published)
    claims = table[(table["operation"] == "sum") & table["metric"].str.startswith("claim_")].set_index("metric")
    assert claims["verdict"].to_dict() == {
        "claim_interpolate": "agrees", "claim_extrapolate": "agrees", "claim_shorter": "differs",
        "claim_arithmetic": "differs",
    }  # fmt: skip
    assert claims.loc["claim_arithmetic", "note"].startswith("NALU at length 1,000;")
    assert "inf [inf, inf]" in kind.tables(table)[0].markdown()
    text = kind.tables(table)[1].markdown()
    assert "1.00 [0.786, 1.27] holds" in text
    assert "inf [inf, inf] fails" in text
    assert "Reference" not in text


def test_a_claim_is_tested_by_intervals_and_not_by_medians() -> None:
    good = [1.0, 1.1, 1.2, 1.3, 1.4]
    wide = [1.0, 1.1, 1.6, 90.0, 90.0]  # the smaller median, and an interval that reaches further
    cells = [
        errors_of("cell", f"image_{name}", {10: errors})
        for name, errors in {"lstm": wide, "gru": [2.0] * 5, "rnn_tanh": good, "rnn_relu": good}.items()
    ]
    reference = errors_of("reference", "image_solved_sum", {10: good})
    runs = pd.concat([*cells, reference], ignore_index=True)
    claim = interpolation(runs)
    assert claim["verdict"] == "inconclusive"
    assert claim["note"].startswith("LSTM at length 10;")
    assert "open" in SeriesErrors(TABLE2).tables(table_of(runs))[1].markdown()


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [(1, 2, "holds"), (10, np.inf, "fails"), (3, 9, "between"), (1.5, 9, "open"), (3, 11, "open"), (1, 99, "open")],
)
def test_a_ratio_says_what_its_whole_interval_says(low: float, high: float, says: str) -> None:
    assert SeriesErrors(TABLE2)._says(low, high) == says


@pytest.mark.parametrize(("model", "words"), [("image_gru", "GRU"), ("image_solved_sum", "Reference")])
def test_a_claim_waits_for_all_seeds_that_were_asked_for(model: str, words: str) -> None:
    at = {10: [1.0, 1.1, 1.2]}
    names = [f"image_{name}" for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")]
    cells = [errors_of("cell", name, at) for name in names] + [errors_of("reference", "image_solved_sum", at)]
    runs = pd.concat(cells, ignore_index=True)
    runs.loc[runs["model"] == model, "asked"] = 5
    claim = interpolation(runs)
    assert claim["verdict"] == "not comparable"
    assert f"unfinished: {words}, 3 of 5 seeds" in claim["note"]


@pytest.mark.parametrize(
    ("lengths", "models", "steps", "reason"),
    [
        ([1, 10], ["gru", "rnn_tanh", "rnn_relu"], 17_200, "no runs of ours: LSTM at length 10"),
        ([1], ["lstm", "gru", "rnn_tanh", "rnn_relu"], 17_200, "no runs of ours"),
        ([1, 10], ["lstm", "gru", "rnn_tanh", "rnn_relu"], 1032, "trained for 1,032 steps"),
    ],
)
def test_a_claim_is_tested_on_all_of_it_or_not_at_all(
    lengths: list[int], models: list[str], steps: int, reason: str
) -> None:
    at = {length: [1.0, 1.1, 1.2] for length in lengths}
    cells = [errors_of("cell", f"image_{name}", at) for name in models]
    runs = pd.concat([*cells, errors_of("reference", "image_solved_sum", at)], ignore_index=True)
    claim = interpolation(runs.assign(steps=steps))
    assert claim["verdict"] == "not comparable"
    assert reason in claim["note"]


def test_a_claim_without_any_runs_keeps_its_place() -> None:
    at = {1: [1.0, 1.1], 10: [1.0, 1.1], 100: [9.0, 9.1]}
    runs = [errors_of("cell", "image_nac_xavier", at), errors_of("reference", "image_solved_sum", at)]
    kind = SeriesErrors(TABLE2)
    table = compared(kind.rows(Measured(pd.concat(runs, ignore_index=True))), kind.published)
    claims = table[(table["operation"] == "sum") & table["metric"].str.startswith("claim_")]
    assert claims["metric"].tolist() == [f"claim_{name}" for name in TABLE2.report["claims"]]
    assert claims["note"].iloc[0].endswith("no runs of ours: LSTM, GRU, RNN-tanh, RNN-ReLU at length 10")


def test_the_late_fall_is_what_the_smallest_error_still_fell_by_over_the_last_fifth_of_the_steps() -> None:
    runs = errors_of("reference", "image_solved_sum", {1: [1.0, 1.0, 1.0]})
    errors = {0: [9.0, 4.0, 5.0, 2.0, 1.0], 1: [9.0, 4.0, 3.0, 2.0, 3.0], 2: [9.0, 4.0, 3.0, 2.0, 1.5]}
    curves = pd.concat(
        pd.DataFrame({"cell": "image_solved_sum", "seed": seed, "step": [0, 25, 50, 80, 100], "validation_mse": curve})
        for seed, curve in errors.items()
    )
    table = compared(SeriesErrors(TABLE2).rows(Measured(runs, curves)), SeriesErrors(TABLE2).published)
    (fall,) = table[table["metric"] == "late_fall"]["ours"]
    assert fall == 0.25  # of 50 %, 0 and 25 %


def test_errors_far_above_all_others_leave_the_panel() -> None:
    _, ((axis,),) = style.new_figure(4, 3)
    models, errors = ["image_solved_sum"] * 2 + ["image_rnn_relu"] * 2, [0.1, 2.0, 1.0, 1e9]
    rows = {"model": models, "setting": ["length=1", "length=10"] * 2}
    table = pd.DataFrame(rows | dict.fromkeys(["ours", "ours_low", "ours_high"], errors))
    drawn = series_panels._errors(axis, table)
    assert axis.get_ylim()[1] == 2000
    assert drawn["y"].max() == 1e9  # the numbers beside the figure keep it


def test_of_counts_it_is_shown_what_an_image_adds_to_each() -> None:
    _, ((axis,),) = style.new_figure(4, 3)
    mean = np.array([[1.0, 2.0], [3.0, 4.0]])
    W = np.array([[0.0, 1.0, 9.0, 9.0], [5.0, 0.0, 9.0, 9.0]])  # reads [z, h]
    runs = errors_of("cell", "image_nac_xavier", {1: [1.0]}).assign(recurrent_weight=1.0)
    kept = pd.DataFrame({"name": ["encoder_mean", "recurrence.cell.W"], "shape": [(2, 2), (2, 4)]})
    kept = kept.assign(values=[mean.ravel(), W.ravel()], cell="image_nac_xavier", seed=0)
    drawn = series_panels._encoders(axis, Measured(runs, weights=kept), runs)
    assert drawn["y"].tolist() == [2, 5, 4, 15]  # digit by digit: z₂ and 5 z₁
    drawn = series_panels._encoders(axis, Measured(runs, weights=kept.iloc[:1]), runs)
    assert drawn["y"].tolist() == mean.ravel().tolist()


def test_errors_are_not_compared_with_a_reference_that_has_none() -> None:
    nothing = Measured(errors_of("reference", "image_solved_sum", {1: [1.0] * 3, 10: [1.0, np.nan, np.inf]}))
    with pytest.raises(UsageError, match="must be finite, got inf for sum at length 10; train more seeds"):
        SeriesErrors(TABLE2).require(nothing)


@pytest.mark.parametrize("kind", [SeriesErrors(TABLE2), SeriesSuccess(PRODUCT)])
def test_two_references_of_one_operation_are_refused(kind: SeriesErrors | SeriesSuccess) -> None:
    cells = compose.plan_experiment(kind.experiment, ["budget=smoke"]).cells
    kind.check(cells)
    other = next(want for want in cells if want.role == "cell")
    with pytest.raises(UsageError, match=r"must have one cell of the role reference.*, got .* and "):
        kind.check([*cells, replace(other, role="reference")])


def test_errors_without_a_reference_are_not_reported() -> None:
    alone = Measured(errors_of("cell", "image_nac", {1: [1.0], 10: [1.0]}))
    with pytest.raises(UsageError, match="there are none for sum yet; train them: nalu-bench run trask2018/table2"):
        SeriesErrors(TABLE2).require(alone)


@pytest.mark.parametrize("name", ["madsen2020/mnist_product", "madsen2020/mnist_sum", "trask2018/table2"])
def test_only_the_smoke_budget_replaces_mnist(name: str) -> None:
    chosen = experiment.load(name)
    for budget in chosen.budgets:
        cells = compose.plan_experiment(chosen, [f"budget={budget}"]).cells
        assert {want.cell.value("task.dataset") for want in cells} == {"digits" if budget == "smoke" else "mnist"}


@pytest.mark.slow
def test_small_recorded_arrays_are_among_the_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nalu_bench.cli import main

    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    assert main(["run", "experiment=madsen2020/mnist_sum", "budget=smoke", "seeds=2", "device.workers=1"]) == 0
    assert main(["report", "--no-page", "madsen2020/mnist_sum", "budget=smoke", "seeds=2"]) == 0
    (path,) = tmp_path.glob("results/local/madsen2020/mnist_sum/weights.parquet")
    arrays = pd.read_parquet(path).query("kind == 'array'")
    assert set(arrays["name"]) == {"encoder_mean", "encoder_deviation"}
    assert [list(shape) for shape in arrays["shape"].iloc[:1]] == [[10, 1]]
