"""Errors by the length of a series: claims by ratios to a reference network, and the figure."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from reported import cells_of, claims_of, line_with, lines_of, measured_of, runs_of, verdicts_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.render import style
from nalu_bench.analysis.table.line import Line, Value
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import series_constant, series_panels, series_tables
from nalu_bench.papers.trask2018.series_errors import SeriesErrors
from nalu_bench.plan import experiment

KIND = SeriesErrors(experiment.load("trask2018/table2"))


def errors_of(role: str, model: str, at: dict[int, list[float]]) -> pd.DataFrame:
    columns: dict[str, Any] = {f"test_mae_{length}": errors for length, errors in at.items()}
    columns |= {f"test_rounds_{length}": 0.5 for length in at}
    words = {"cell": model, "task": "digit_series", "operation": "sum", "role": role}
    return runs_of(model, len(next(iter(at.values()))), steps=17_200, test_digits_1=0.9, **words, **columns)


def beside_reference(cells: dict[str, dict[int, list[float]]], reference: dict[int, list[float]]) -> Measured:
    """Cells of these models, by length, and the reference network."""
    runs = [errors_of("cell", f"image_{name}", at) for name, at in cells.items()]
    return measured_of(*runs, errors_of("reference", "image_solved_sum", reference))


def interpolation(found: Measured) -> Line:
    """The claim that sums are learned at the trained length, with its verdict."""
    return line_with(lines_of(KIND, found), operation="sum", metric="claim_interpolate")


def rows_of(lines: list[Line], title: str) -> dict[tuple[str, str], list[str]]:
    """(model, what) -> the texts of the shortest table whose title begins so."""
    table = min((each for each in KIND.tables(lines) if each.title.startswith(title)), key=lambda each: len(each.title))
    found, model = {}, ""
    for name, what, *texts in cells_of(table):
        model = name or model
        found[model, what] = texts
    return found


STANDARD = ("lstm", "gru", "rnn_tanh", "rnn_relu")


def test_claims_are_tested_where_they_are_furthest_from_true() -> None:
    good, bad = [1.0, 1.1, 1.2, 1.3, 1.4], [50.0, 60.0, 70.0, 80.0, 90.0]
    solved = dict.fromkeys((1, 10, 100, 1000), good)
    cells = dict.fromkeys(STANDARD, solved | {100: bad, 1000: bad})
    cells |= {"nac_xavier": solved, "nalu_xavier": solved | {1000: [float("nan")] * 5}}
    measured = beside_reference(cells, solved)
    KIND.require(measured)
    lines = lines_of(KIND, measured)
    assert verdicts_of(claims_of(lines, operation="sum")) == {
        "claim_interpolate": "agrees", "claim_extrapolate": "agrees", "claim_shorter": "differs",
        "claim_arithmetic": "inconclusive",
    }, "five seeds that fail at one of eight places cannot be told from chance"  # fmt: skip
    worst = line_with(lines, operation="sum", metric="claim_arithmetic")
    assert worst.told() == (
        "ratio to the reference of NALU at length 1,000",
        "a claim in words, our threshold: at most 2",
    )
    errors, ratios = (rows_of(lines, title) for title in ("Sum, mean absolute error", "Sum, mean absolute error as"))
    assert errors["NALU", "ours"][3] == "inf [inf, inf]"
    assert (ratios["NALU", "×"][0], ratios["NALU", "×"][3]) == ("1.00 [0.786, 1.27] holds", "inf [inf, inf] fails")
    assert [name for name, what in errors if (name, "×") not in ratios and what != "printed"] == [
        "Reference", "Constant",
    ]  # fmt: skip


def test_a_claim_is_tested_by_intervals_and_not_by_medians() -> None:
    good = [1.0, 1.1, 1.2, 1.3, 1.4]
    wide = [1.0, 1.1, 1.6, 90.0, 90.0]  # the smaller median, and an interval that reaches further
    errors = {"lstm": wide, "gru": [2.0] * 5, "rnn_tanh": good, "rnn_relu": good}
    measured = beside_reference({name: {10: each} for name, each in errors.items()}, {10: good})
    claim = interpolation(measured)
    assert claim.verdict == "inconclusive"
    assert claim.notes == ("ratio to the reference of LSTM at length 10",)
    shown = rows_of(lines_of(KIND, measured), "Sum, mean absolute error as")
    assert shown["LSTM", "×"][0].endswith("open")


@pytest.mark.parametrize(
    ("low", "high", "says"),
    [(1, 2, "holds"), (10, np.inf, "fails"), (3, 9, "between"), (1.5, 9, "open"), (3, 11, "open"), (1, 99, "open")],
)
def test_a_ratio_says_what_its_whole_interval_says(low: float, high: float, says: str) -> None:
    assert series_tables._says(KIND.report, Value(low, low, high)) == says


@pytest.mark.parametrize(("model", "words"), [("image_gru", "GRU"), ("image_solved_sum", "Reference")])
def test_a_claim_waits_for_all_seeds_that_were_asked_for(model: str, words: str) -> None:
    at = {10: [1.0, 1.1, 1.2]}
    measured = beside_reference(dict.fromkeys(STANDARD, at), at)
    measured.runs.loc[measured.runs["model"] == model, "asked"] = 5
    claim = interpolation(measured)
    assert claim.verdict == "not comparable"
    assert f"unfinished: {words}, 3 of 5 seeds" in claim.notes


@pytest.mark.parametrize(
    ("lengths", "models", "reason"),
    [([1, 10], STANDARD[1:], "no runs of ours: LSTM at length 10"), ([1], STANDARD, "no runs of ours")],
)
def test_a_claim_is_tested_on_all_of_it_or_not_at_all(lengths: list[int], models: tuple[str, ...], reason: str) -> None:
    at = {length: [1.0, 1.1, 1.2] for length in lengths}
    claim = interpolation(beside_reference(dict.fromkeys(models, at), at))
    assert claim.verdict == "not comparable"
    assert any(note.startswith(reason) for note in claim.notes)


def test_a_claim_without_any_runs_keeps_its_place() -> None:
    at = {1: [1.0, 1.1], 10: [1.0, 1.1], 100: [9.0, 9.1]}
    claims = claims_of(lines_of(KIND, beside_reference({"nac_xavier": at}, at)), operation="sum")
    assert [line.place.metric for line in claims] == [f"claim_{name}" for name in KIND.report.claims]
    assert claims[0].notes == ("no runs of ours: LSTM, GRU, RNN-tanh, RNN-ReLU at length 10",)


def test_the_late_fall_is_what_the_smallest_error_still_fell_by_over_the_last_fifth_of_the_steps() -> None:
    runs = errors_of("reference", "image_solved_sum", {1: [1.0, 1.0, 1.0]})
    errors = {0: [9.0, 4.0, 5.0, 2.0, 1.0], 1: [9.0, 4.0, 3.0, 2.0, 3.0], 2: [9.0, 4.0, 3.0, 2.0, 1.5]}
    curves = pd.concat(
        pd.DataFrame({"cell": "image_solved_sum", "seed": seed, "step": [0, 25, 50, 80, 100], "validation_mse": curve})
        for seed, curve in errors.items()
    )
    fall = line_with(lines_of(KIND, Measured(runs, curves)), metric="late_fall")
    assert fall.ours.value == 0.25  # of 50 %, 0 and 25 %


def test_errors_far_above_all_others_leave_the_panel() -> None:
    _, ((axis,),) = style.new_figure(4, 3)
    models, errors = ["image_solved_sum"] * 2 + ["image_rnn_relu"] * 2, [0.1, 2.0, 1.0, 1e9]
    rows = {"model": models, "length": [1, 10] * 2}
    table = pd.DataFrame(rows | dict.fromkeys(["ours", "ours_low", "ours_high"], errors) | {"printed": ""})
    drawn = series_panels._errors(axis, table)
    assert axis.get_ylim()[1] == 2000
    assert drawn["y"].max() == 1e9  # the numbers beside the figure keep it


def test_printed_errors_stand_hollow_beside_ours() -> None:
    _, ((axis,),) = style.new_figure(4, 3)
    rows = {"model": "image_lstm", "length": [1, 10], "printed": ["", "0.79"]}
    drawn = series_panels._errors(axis, pd.DataFrame(rows | dict.fromkeys(["ours", "ours_low", "ours_high"], 0.1)))
    assert drawn.loc[drawn["panel"] == "printed", ["x", "y"]].to_numpy().tolist() == [[10, 0.79]]
    assert axis.lines[-1].get_fillstyle() == "none"


def test_the_printed_errors_and_accuracies_stand_beside_ours_with_a_factor() -> None:
    at = {10: [1.4, 1.5, 1.6] * 2, 100: [8.0, 9.0, 10.0] * 2}
    measured = beside_reference({"lstm": at}, at)
    measured.runs["test_mse_10"] = 1.0
    lines = lines_of(KIND, measured)
    line = line_with(lines, operation="sum", model="image_lstm", metric="mae", setting="length=10")
    assert (line.printed_text, line.verdict, line.by) == ("14.8", "differs", "9.9× better")
    assert rows_of(lines, "Sum, mean absolute error")["LSTM", "printed"] == ["14.8", "800.8"]
    assert rows_of(lines, "Sum, mean absolute error")["LSTM", "factor"] == ["9.9× better", "89× better"]
    assert rows_of(lines, "Sum, mean squared error")["LSTM", "verdict"][0].startswith("differs")
    read = line_with(lines, operation="sum", model="image_lstm", metric="digits")
    assert (read.printed_text, read.verdict, read.by) == ("0.0", "differs", "90 points better")
    (single,) = (table for table in KIND.tables(lines) if table.title.startswith("Sum, accuracy"))
    assert cells_of(single)[0] == ["LSTM", "90.0 %", "0.0 %", "differs, 90 points better", "–"]


def test_an_error_is_shown_on_the_way_from_the_reference_to_a_constant() -> None:
    far = series_constant.errors("sum", 100)[0]
    cells = {"lstm": {100: [far] * 5}, "gru": {100: [(far + 4) / 2] * 5}, "rnn_relu": {100: [99 * far] * 5}}
    lines = lines_of(KIND, beside_reference(cells, {100: [4.0] * 5}))
    shown = rows_of(lines, "Sum, mean absolute error as")
    assert [shown[name, "way"][0] for name in ("LSTM", "GRU", "RNN-ReLU")] == [
        "100 % [100 %, 100 %]", "50 % [50 %, 50 %]", ">999 % [>999 %, >999 %]",
    ]  # fmt: skip
    assert line_with(lines, model="constant", metric="mae").ours.value == far


def test_the_table_of_contradictions_marks_what_no_rounding_explains() -> None:
    at = {10: [1.0, 1.0]}
    lines = lines_of(KIND, beside_reference({"lstm": at}, at))
    (table,) = (table for table in KIND.tables(lines) if table.title.startswith("Printed"))
    assert "21 of 36 are" in table.title
    assert cells_of(table)[-1] == ["NALU", "0.601", "0.980", "1.01", "1.20 !", "0.774", "0.736"]


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
        KIND.require(nothing)


def test_errors_without_a_reference_are_not_reported() -> None:
    alone = Measured(errors_of("cell", "image_nac", {1: [1.0], 10: [1.0]}))
    with pytest.raises(UsageError, match="there are none for sum yet; train them: nalu-bench run trask2018/table2"):
        KIND.require(alone)
