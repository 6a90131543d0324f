"""The columns of runs and curves are those of their cells: figures of the task, the network and the recipe."""

from dataclasses import replace

import pandas as pd
import pytest

from nalu_bench.analysis.measure.asked import row_words
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.read import CURVES
from nalu_bench.plan import compose, experiment
from nalu_bench.plan.cell import Wanted
from nalu_bench.verify.columns import column_faults, followed, recorded


def first(name: str, *words: str) -> Wanted:
    return compose.plan_experiment(experiment.load(name), ["budget=smoke", *words]).cells[0]


SERIES = first("trask2018/table2", "model=image_lstm")
ONCE = first("trask2018/table8", "model=sequence_nac", "task.operation=add")


def measured(want: Wanted, status: str = "finished") -> Measured:
    """One run with a curve of one point; every figure is 1."""
    words = row_words(want) | {"seed": 0, "status": status, "note": ""}
    figures = dict.fromkeys(recorded(want.cell), 1.0) if status == "finished" else {}
    curve = {"cell": want.cell.digest, "seed": 0, "step": 0} | dict.fromkeys(followed(want.cell), 1.0)
    curves = pd.DataFrame([curve]) if figures else pd.DataFrame(columns=CURVES)
    return Measured(pd.DataFrame([figures | words]), curves)


def test_a_series_is_tested_at_every_evaluation_by_length_and_an_addition_is_tested_once() -> None:
    assert {"validation_mse", "test_mse_1", "test_digits_1", "train_loss"} <= {*followed(SERIES.cell)}
    assert "test_mse" not in followed(SERIES.cell)
    assert "extrapolation_mse" in {*recorded(ONCE.cell)} - {*followed(ONCE.cell)}


@pytest.mark.parametrize("want", [SERIES, ONCE], ids=["followed", "once"])
def test_what_a_cell_gives_is_no_fault(want: Wanted) -> None:
    assert not list(column_faults(measured(want), [want]))
    assert not list(column_faults(measured(want, "failed"), [want]))


def test_a_followed_figure_without_a_curve_is_named() -> None:
    found = measured(SERIES)
    forged = replace(found, curves=found.curves.drop(columns=["test_mse_1", "test_mae_1"]))
    (line,) = column_faults(forged, [SERIES])
    assert "its curves must have the figures that its task follows, and lack test_mse_1, test_mae_1" in line


def test_a_figure_that_is_lost_in_the_runs_is_named() -> None:
    found = measured(ONCE)
    (line,) = column_faults(replace(found, runs=found.runs.drop(columns="extrapolation_mse")), [ONCE])
    assert "its runs must have the figures that its task measures, and lack extrapolation_mse" in line


@pytest.mark.parametrize("column", ["extrapolation_accuracy", "test_accuracy_0", "reinitialized", "award"])
@pytest.mark.parametrize("value", [1.0, None])
def test_a_figure_of_a_curve_that_nothing_follows_is_named(column: str, value: float | None) -> None:
    found = measured(ONCE)
    faults = list(column_faults(replace(found, curves=found.curves.assign(**{column: value})), [ONCE]))
    assert f"curves have the column {column}, which is a figure of no cell" in faults


def test_a_figure_of_a_run_that_was_not_trained_is_named() -> None:
    found = measured(ONCE, "failed")
    (line,) = column_faults(replace(found, runs=found.runs.assign(solved=True)), [ONCE])
    assert "its runs that were not trained must have no solved, and have one" in line
