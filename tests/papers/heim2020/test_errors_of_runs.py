"""The report of a few runs with their spread: what is compared with what, and what is not."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reported import cells_of, line_with, lines_of, lines_with, measured_of, runs_of

from nalu_bench.errors import UsageError
from nalu_bench.papers.heim2020.errors_of_runs import ErrorsOfRuns
from nalu_bench.plan import experiment
from nalu_bench.plan.compose import plan_experiment

SIMPLE, LARGE = experiment.load("heim2020/simple"), experiment.load("heim2020/large_scale")

NPU = "two_layer-heim_nau_tenth-heim_npu_tenth"
REAL = "two_layer-heim_nau_tenth-heim_real_npu_tenth"
CODE = "protocol=heim2020_code"


def simple(seeds: int = 100, setting: str = CODE, **errors: float) -> pd.DataFrame:
    """Runs of the dense network; the errors of a function are about those that are given."""
    near = {"add": 2.1, "mul": 3.55, "div": 14.16, "sqrt": 0.084} | errors
    factor = np.random.default_rng(0).lognormal(0, 0.1, seeds)
    columns = {f"{'roots' if name == 'sqrt' else 'extrapolation'}_mae_{name}": of * factor for name, of in near.items()}
    return runs_of(
        "heim_dense", seeds, task="npu_simple", setting=setting, extrapolation_mae=factor, steps=20_000, **columns
    )


def large(model: str = NPU, seeds: int = 50, **columns: Any) -> pd.DataFrame:
    errors = np.linspace(0.07, 0.12, seeds)
    usual = {"extrapolation_mse": errors, "validation_mse": errors / 5, "operation": "add", "setting": CODE}
    return runs_of(model, seeds, **{"task": "npu_arithmetic", "steps": 100_000} | usual | columns)


def test_a_printed_mean_is_compared_with_tables_of_20_runs() -> None:
    line = line_with(
        lines_of(ErrorsOfRuns(SIMPLE), measured_of(simple())), operation="div", metric="mean", model="heim_dense"
    )
    assert (str(line.verdict), line.printed_text, line.n_seeds) == ("fitted", "14.16", 100)
    assert "tables of 20 runs, drawn from 100 of ours" in line.reason
    spread = line_with(
        lines_of(ErrorsOfRuns(SIMPLE), measured_of(simple())), operation="div", metric="mean_spread", model="heim_dense"
    )
    assert spread.ours.value == pytest.approx(14.16 * 0.1 / 20**0.5, rel=0.2)
    far = lines_of(ErrorsOfRuns(SIMPLE), measured_of(simple(div=3.0)))
    assert str(line_with(far, operation="div", metric="mean", model="heim_dense").verdict) == "differs"


def test_the_reading_of_the_caption_and_the_protocol_of_the_table_are_shown_and_not_compared() -> None:
    measured = measured_of(simple(), simple(setting="protocol=heim2020_table"))
    lines = [line for line in lines_of(ErrorsOfRuns(SIMPLE), measured) if line.n_seeds]
    assert {line.place.metric for line in lines if line.verdict} == {"mean", "mean_spread"}
    assert {str(line.place.setting) for line in lines if line.verdict} == {CODE}
    mean, median = ErrorsOfRuns(SIMPLE).tables(lines)
    assert [row[1] for row in cells_of(mean)[:8]] == [
        "ours, protocol=heim2020_code", "printed", "verdict", "±", "printed ±", "verdict ±",
        "ours, protocol=heim2020_table", "±",
    ]  # fmt: skip
    assert {row[1] for row in cells_of(median)} == {
        "ours, protocol=heim2020_code", "ours, protocol=heim2020_table", "±",
    }  # fmt: skip


def test_the_best_10_of_20_products_count_and_all_runs_stand_beside() -> None:
    ranked = large(operation="mul", extrapolation_mse=np.arange(50.0))
    lines = lines_with(lines_of(ErrorsOfRuns(LARGE), measured_of(ranked)), split="extrapolation")
    assert line_with(lines, metric="best", operation="mul", model=NPU).ours.value == pytest.approx(12, abs=1.5)
    assert line_with(lines, metric="all", operation="mul", model=NPU).ours.value == 24.5
    real = large(REAL, extrapolation_mse=np.linspace(0.05, 0.09, 50))
    sums = lines_with(lines_of(ErrorsOfRuns(LARGE), measured_of(real)), split="extrapolation", model=REAL)
    best, every = (line_with(sums, operation="add", metric=metric) for metric in ("best", "all"))
    assert best.ours.value == pytest.approx(every.ours.value, rel=0.05), "the best 10 of 10 are all"
    assert str(best.verdict) == "agrees"


def test_the_best_of_an_unknown_number_of_runs_and_the_error_of_one_batch_of_a_nalu_are_not_compared() -> None:
    nalu = large("two_layer-heim_nalu_tenth", extrapolation_mse=740.0)
    lines = lines_with(lines_of(ErrorsOfRuns(LARGE), measured_of(large(), nalu)), operation="add", metric="best")
    found = {(line.place.split, line.place.model): line for line in lines if line.n_seeds and line.printed_text}
    assert {place for place, line in found.items() if str(line.verdict) != "not comparable"} == {
        ("extrapolation", "two_layer-heim_nalu_tenth")
    }
    assert found["validation", NPU].notes == ("it is of the best 10 of a number of runs that is not known",)
    assert found["validation", "two_layer-heim_nalu_tenth"].notes == (
        "theirs is the error of a batch, ours of 10,000 points, a few of which decide it",
    )


def test_runs_that_diverged_are_left_out_as_in_the_authors_code_unless_all_did() -> None:
    runs = large(status=["finished"] * 40 + ["diverged"] * 10)
    line = line_with(lines_of(ErrorsOfRuns(LARGE), measured_of(runs)), split="extrapolation", metric="all")
    assert line.ours.value == pytest.approx(np.median(np.linspace(0.07, 0.12, 50)[:40]))
    assert line.notes == ("10 diverged runs are left out",)
    gone = large(status="diverged", extrapolation_mse=np.nan)
    line = line_with(lines_of(ErrorsOfRuns(LARGE), measured_of(gone)), split="extrapolation", metric="all")
    assert line.ours.value == np.inf


def test_what_single_precision_cannot_hold_and_what_is_too_short_or_too_few_is_not_compared() -> None:
    nalu = large("two_layer-heim_nalu_tenth", operation="mul", extrapolation_mse=np.inf)
    line = line_with(lines_of(ErrorsOfRuns(LARGE), measured_of(nalu)), metric="best", split="extrapolation",
                     operation="mul", model="two_layer-heim_nalu_tenth")  # fmt: skip
    assert "theirs is double precision" in line.notes[-1]
    few = line_with(
        lines_of(ErrorsOfRuns(SIMPLE), measured_of(simple(19))), operation="div", metric="mean", model="heim_dense"
    )
    assert few.notes[-1] == "a table has 20 runs, and 19 of ours are there"
    short = measured_of(simple().assign(steps=2_000))
    line = line_with(lines_of(ErrorsOfRuns(SIMPLE), short), operation="div", metric="mean", model="heim_dense")
    assert line.notes[-1] == "trained for 2,000 steps, printed for 20,000"


def test_a_figure_has_a_panel_for_each_operation_and_split() -> None:
    measured = measured_of(large(), large(operation="mul", extrapolation_mse=np.inf))
    kind = ErrorsOfRuns(LARGE)
    _, numbers = kind.figure(measured, lines_of(kind, measured))
    assert set(zip(numbers["split"], numbers["operation"], strict=True)) == {
        (split, operation) for split in ("extrapolation", "validation") for operation in ("add", "mul")
    }


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"statistic": "mode"}, "unknown statistic of the reading best 'mode'"),
        (
            {"best": 11},
            "the reading best must have best from 0 to its number of runs, and at least one run, got best=11",
        ),
    ],
)
def test_a_reading_that_cannot_be_is_refused(change: dict[str, Any], told: str) -> None:
    report = LARGE.report | {"readings": {"best": LARGE.report["readings"]["best"] | change}}
    with pytest.raises(UsageError, match=told):
        ErrorsOfRuns(replace(LARGE, report=report)).check([])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"of": {"npu": ["add"]}}, "unknown heading in not_compared 'npu'; did you mean 'NPU'?"),
        ({"of": {"NPU": ["plus"]}}, "unknown operation in not_compared 'plus'"),
        ({"split": "training"}, "unknown split in not_compared 'training'"),
    ],
)
def test_what_is_not_compared_must_be_there(change: dict[str, Any], told: str) -> None:
    exempt = LARGE.report["not_compared"][0] | change
    kind = ErrorsOfRuns(replace(LARGE, report=LARGE.report | {"not_compared": [exempt]}))
    with pytest.raises(UsageError, match=re.escape(told)):
        kind.check_printed(plan_experiment(LARGE, []).cells)


def test_the_last_network_counts_also_if_its_error_of_training_is_not_finite() -> None:
    """The network that is kept then is an older one."""
    runs = large(seeds=20, selected_step=50_000, last_step=100_000, extrapolation_mse=1e30)
    runs.loc[0, "selected_step"] = 100_000
    steps = [{"step": 50_000, "extrapolation_mse": 1e30}, {"step": 100_000, "extrapolation_mse": 7.0}]
    curves = pd.DataFrame([{"cell": runs["cell"][0], "seed": seed} | one for seed in range(20) for one in steps])
    lines = lines_of(ErrorsOfRuns(LARGE), measured_of(runs, curves=curves))
    assert line_with(lines, split="extrapolation", metric="all").ours.value == 7.0
    assert measured_of(runs, curves=curves).ended(["extrapolation_mse"])["extrapolation_mse"][0] == 1e30
