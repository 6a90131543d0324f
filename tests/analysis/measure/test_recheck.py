"""The facts of a run follow from its curve, and forged facts are found. `test_verify` checks all committed runs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.recheck import findings

CELL = {
    "identity": {"task": {"kind": "ten_parameter"}, "recipe": {"selection": "best_validation"}},
    "criteria": {"threshold": 1.0},
}
STEPS = [0, 10, 20, 30, 40]
VALIDATION = [9.0, 5.0, 3.0, 2.0, 4.0]
EXTRAPOLATION = [9.0, 5.0, 0.5, 0.4, 3.0]
LOSS = [np.nan, 6.0, 3.0, 2.0, 4.0]


def measured(kept: list[int] = STEPS, loss: list[float] = LOSS, **forged: Any) -> Measured:
    curve = pd.DataFrame(
        {"cell": "c", "seed": 0, "step": STEPS, "validation_mse": np.float32(VALIDATION)}
        | {"extrapolation_mse": np.float32(EXTRAPOLATION), "train_loss": np.float32(loss)}
    )
    run = {
        "cell": "c", "seed": 0, "status": "finished", "steps": 40, "log_every": 10, "last_step": 40,
        "diverged_at": pd.NA, "selected_step": 30, "validation_mse": 2.0, "extrapolation_mse": 0.4, "train_loss": 2.0,
        "solved": True, "solved_at": 20,
    }  # fmt: skip
    return Measured(pd.DataFrame([run | forged]), curve[curve["step"].isin(kept)])


def checks(found: Measured) -> dict[str, str]:
    return {finding.fact: str(finding.check) for finding in findings(found, {"cells": {"c": CELL}})}


def test_with_the_rows_at_and_before_the_steps_all_is_recomputed() -> None:
    facts = ("status", "selected_step", "errors", "solved_at")
    assert checks(measured()) == dict.fromkeys(facts, "recomputed")
    assert checks(measured(kept=[0, 10, 20, 30, 40])) == dict.fromkeys(facts, "recomputed")


def test_thinned_points_bracket_the_steps() -> None:
    found = {"status": "recomputed", "selected_step": "bracketed", "solved_at": "bracketed"}
    assert checks(measured(kept=[0, 40])) == found


def test_a_run_that_diverges_has_no_loss_from_then_on() -> None:
    gone = [np.nan, 6.0, 3.0, 2.0, np.nan]
    diverged: dict[str, Any] = {"loss": gone, "status": "diverged", "last_step": 33, "diverged_at": 33}
    assert checks(measured(**diverged))["status"] == "recomputed"
    for forged in ({"last_step": 25, "diverged_at": 25}, {"diverged_at": 34}, {"status": "finished"}, {"loss": LOSS}):
        assert checks(measured(**diverged | forged))["status"] == "contradicted"


@pytest.mark.parametrize(
    ("forged", "fact"),
    [
        ({"selected_step": 20}, "errors"),
        ({"selected_step": 20, "validation_mse": 3.0, "extrapolation_mse": 0.5}, "selected_step"),
        ({"selected_step": 40}, "errors"),
        ({"selected_step": pd.NA}, "selected_step"),
        ({"validation_mse": 1.0}, "errors"),
        ({"extrapolation_mse": 0.1}, "errors"),
        ({"solved": False}, "solved"),
        ({"solved_at": 10}, "solved_at"),
        ({"solved_at": 30}, "solved_at"),
        ({"solved_at": pd.NA}, "solved"),
        ({"solved": pd.NA, "solved_at": pd.NA}, "solved"),
        ({"solved_at": 15, "kept": [0, 40]}, "solved_at"),
        ({"last_step": 30}, "status"),
        ({"kept": []}, "status"),
    ],
)
def test_a_forged_fact_is_contradicted(forged: dict[str, Any], fact: str) -> None:
    assert checks(measured(**forged))[fact] == "contradicted"


def test_a_figure_of_a_followed_split_that_the_curve_lacks_is_contradicted() -> None:
    assert checks(measured(extrapolation_mae=0.1))["errors"] == "contradicted"
    assert checks(measured(extrapolation_mae=np.nan))["errors"] == "recomputed", "a figure of other cells"


@pytest.mark.parametrize(("solved_at", "told"), [(pd.NA, "recomputed"), (20, "contradicted")])
def test_a_run_judged_by_a_split_that_is_tested_alone_has_no_step_at_which_it_is_solved(
    solved_at: Any, told: str
) -> None:
    cell = {
        "identity": {"task": {"kind": "digit_canvas"}, "recipe": {"selection": "best_validation"}},
        "criteria": {"threshold": 0.5},
    }
    curve = pd.DataFrame(
        {"cell": "c", "seed": 0, "step": STEPS, "train_loss": LOSS, "validation_correct": [0, 0, 0, 1, 0]}
    )
    run = {
        "cell": "c", "seed": 0, "status": "finished", "steps": 40, "log_every": 10, "last_step": 40,
        "diverged_at": pd.NA, "selected_step": 30, "validation_correct": 1.0, "test_correct": 0.9, "train_loss": 2.0,
        "solved": True, "solved_at": solved_at,
    }  # fmt: skip
    found = findings(Measured(pd.DataFrame([run]), curve), {"cells": {"c": cell}})
    assert {one.fact: str(one.check) for one in found}["solved"] == told


def test_a_run_without_a_selected_step_has_no_figures() -> None:
    none = {"selected_step": pd.NA, "solved": False, "solved_at": pd.NA, "validation_mse": np.nan}
    gone = measured(**none)
    gone.curves[["validation_mse", "extrapolation_mse"]] = np.nan
    assert checks(gone)["errors"] == "contradicted"
    assert "errors" not in checks(replace(gone, runs=gone.runs.assign(extrapolation_mse=np.nan)))
