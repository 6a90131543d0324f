"""Shares of right predictions and recovered weights."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reported import cells_of, line_with, lines_of, measured_of, runs_of

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.table.line import Line
from nalu_bench.errors import UsageError
from nalu_bench.papers.iit_report.accuracies import WEIGHT, Accuracies
from nalu_bench.plan import experiment

TABLES = experiment.load("iit_report/tables")
SEEDS = 40
SIGNS = [1, 1, -1, 1, -1, 1, -1, -1]


def cell(model: str, operation: str, setting: str, lenient: Any, strict: Any = 0.0, share: float = 1) -> pd.DataFrame:
    steps = int(share * (62_500 if model == "iit_nac" else 156_250))
    words = {"cell": f"{model} {operation} {setting}", "task": "operands", "setting": setting, "operation": operation}
    shares = {"test_accuracy_0.1": lenient, "test_accuracy_1e-05": strict}
    return runs_of(model, SEEDS, steps=steps, **words, **shares)


def measured(weight: float = 1.0, share: float = 1) -> Measured:
    ramp = np.linspace(0.8, 0.987, SEEDS)
    runs = [
        cell("iit_nac", "add", "operands=2;reinitialized=15", 1.0, 1.0, share),
        cell("iit_nac", "signed_sum", "operands=8;reinitialized=15", 1.0, 1.0, share),
        cell("iit_nalu", "add", "operands=2;reinitialized=15", ramp, 0.5, share),
        cell("iit_nalu", "add", "operands=2;reinitialized=0", np.where(np.arange(SEEDS) < 10, np.nan, 1.0)),
        cell("iit_nalu", "sub", "operands=2;reinitialized=15", 0.25),
        cell("iit_nalu", "sqrt", "operands=1;reinitialized=15", np.linspace(0.97, 0.987, SEEDS)),
        cell("iit_nalu_separate", "add", "operands=2;reinitialized=15", 1.0),
    ]
    probes = pd.DataFrame({"probe": range(8), "output": 0, "target": SIGNS, "prediction": weight * np.array(SIGNS)})
    seeds = pd.DataFrame({"seed": range(SEEDS), "cell": "iit_nac signed_sum operands=8;reinitialized=15"})
    return measured_of(*runs, predictions=seeds.merge(probes, how="cross"))


def row(lines: list[Line], model: str, operation: str, setting: str, metric: str) -> Line:
    return line_with(lines, model=model, operation=operation, setting=setting, metric=metric)


def weights(lines: list[Line]) -> list[Line]:
    return [line for line in lines if line.place.metric.startswith(WEIGHT)]


@pytest.fixture
def lines() -> list[Line]:
    return lines_of(Accuracies(TABLES), measured())


def test_accuracies_are_percent_over_seeds_and_missing_ones_are_zero_and_noted(lines: list[Line]) -> None:
    found = row(lines, "iit_nalu", "add", "operands=2;reinitialized=15", "accuracy")
    assert found.ours.value == pytest.approx(100 * np.median(np.linspace(0.8, 0.987, SEEDS)))
    assert found.ours[1:] == pytest.approx((80, 98.7), abs=0.5)
    mean = row(lines, "iit_nalu", "add", "operands=2;reinitialized=0", "mean")
    assert mean.ours.value == pytest.approx(75)
    assert mean.ours.low < 75 < mean.ours.high < 100
    assert mean.notes == ("10 seeds without a finite prediction count as 0",)
    assert row(lines, "iit_nalu", "add", "operands=2;reinitialized=15", "strict").ours.value == pytest.approx(50)


def test_a_printed_accuracy_is_held_against_the_range_of_the_seeds(lines: list[Line]) -> None:
    reinitialised = "operands=2;reinitialized=15"
    assert row(lines, "iit_nac", "add", reinitialised, "accuracy").verdict == "exact"
    far = row(lines, "iit_nalu", "add", reinitialised, "accuracy")
    assert (far.verdict, far.by) == ("differs", "10 points worse"), "99.80, counted on 1,000, is above 98.7"
    assert row(lines, "iit_nalu", "sub", reinitialised, "accuracy").verdict == "differs"
    near = row(lines, "iit_nalu", "sqrt", "operands=1;reinitialized=15", "accuracy")
    assert (near.verdict, near.notes) == ("agrees", ()), "99.10, counted on 1,000, may well be 98.7"
    assert row(lines, "iit_nalu", "add", "operands=2;reinitialized=0", "accuracy").verdict is None, "printed with it"


def test_other_lengths_than_the_printed_protocols_are_not_compared() -> None:
    lines = lines_of(Accuracies(TABLES), measured(share=0.2))
    found = row(lines, "iit_nac", "add", "operands=2;reinitialized=15", "accuracy")
    assert (found.verdict, found.notes) == ("not comparable", ("trained for 12,500 steps, printed for 62,500",))
    assert {line.verdict for line in weights(lines)} == {"not comparable"}


@pytest.mark.parametrize(("key", "values"), [("models", ["iit_nalu"]), ("operations", ["add"])])
def test_a_cell_without_a_table_is_refused(key: str, values: list[str]) -> None:
    families = [family | {key: values} for family in TABLES.report["tables"]]
    kind = Accuracies(replace(TABLES, report=TABLES.report | {"tables": families}))
    with pytest.raises(UsageError, match="exactly one table of iit_report/tables must list the model"):
        kind.rows(measured())


@pytest.mark.parametrize(("weight", "verdict"), [(1.0, "exact"), (0.99996, "exact"), (0.9999, "differs")])
def test_a_recovered_weight_is_held_against_four_digits(weight: float, verdict: str) -> None:
    found = weights(lines_of(Accuracies(TABLES), measured(weight)))
    assert [line.verdict for line in found] == [verdict] * 8
    assert [line.ours.value for line in found] == pytest.approx([weight * sign for sign in SIGNS])


def test_there_is_a_table_for_each_family_and_one_for_the_weights(lines: list[Line]) -> None:
    nac, nalu, _, recovered = Accuracies(TABLES).tables(lines)
    assert "never reinitialised: mean" not in nac.header
    assert nalu.header[-2:] == ["never reinitialised: mean", "strict, mean"]
    rows = {cells[0]: cells[1:] for cells in cells_of(nalu)}
    assert rows["+, 2 operands"][3:5] == ["99.80", "differs, 10 points worse"]
    assert rows["+, 2 operands"][5].startswith("75.0 [")
    assert rows["x², 1 operand"][0] == "–", "printed, and no runs of ours"
    assert [cells[0] for cells in cells_of(recovered)] == [f"x{number}" for number in range(1, 9)]


def test_the_figure_shows_every_mean_and_printed_number(lines: list[Line]) -> None:
    figure, drawn = Accuracies(TABLES).figure(measured(), lines)
    assert len(drawn) == 7
    assert set(drawn["printed"]) == {"100.00", "99.80", "87.30", "99.10", ""}
    left, right = figure.axes
    assert left.get_ylabel() == "Accuracy at 10 % tolerance, %"
    assert [text.get_text() for text in right.get_xticklabels()] == ["2", "2", "1"]
    assert [text.get_text() for text in right.texts] == ["+", "−", "√x"]
