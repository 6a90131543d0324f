"""Every kind of report renders models, operations and tasks that it does not know."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from reported import lines_of, runs_of

from nalu_bench import registry
from nalu_bench.analysis import results
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.latex import latex
from nalu_bench.analysis.render.markdown import markdown
from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018.timing import CURVES, OUTCOMES
from nalu_bench.plan import compose, experiment
from nalu_bench.plan.experiment import Experiment

SEEDS = 3
BUDGETS = {"smoke": {"seeds": SEEDS, "steps": 20, "log_every": 10, "ramp_scale": 1.0}}
TABLE = {"title": "All", "steps": 20, "models": ["mystery"], "operations": ["modulo"]}
PANEL = {"model": "nmu", "lowest": 0, "options": {}}
MANIFEST = {"parts": {}, "cells": {"cell mystery": {"criteria": {"threshold": 0.15}}}}
REPORTS: dict[str, dict[str, Any]] = {
    "success": {"criterion": "task"},
    "gating": {"criterion": "task", "gate": "layers.1.g", "consistent": {"at_most": 0.95}},
    "final_errors": {"criterion": "task", "columns": "operation"},
    "sweep": {"criterion": "task", "against": "size", "axis": "Size"},
    "sweep_columns": {"criterion": "task", "against": "size", "axis": "Size", "values": ["2"]},
    "all_models": {"criterion": "task"},
    "series_success": {"criterion": "reference", "against": "length", "axis": "Length"},
    "series_errors": {
        "holds": 2, "fails": 10,
        "claims": {"all": {"models": ["mystery"], "lengths": [1, 10], "verdict": "holds"}},
    },
    "timing": {
        "trained": [1, 1], "failed": 0.5, "shown": [10],
        "claims": {"all": {"models": ["mystery"], "times": [1, 10], "at_least": 0.5}},
        "differences": [["mystery", "mystery"]],
    },
    "leaderboard": {"criterion": "task"},
    "relative_errors": {
        "chosen": {"size": "2"}, "claims": {"all": {"models": ["mystery"], "splits": ["validation"], "at_most": 10}},
    },
    "parity": {"claims": {"all": {"of": ["mystery"], "than": ["mystery"], "at_least": 0}}},
    "accuracies": {"examples": 10, "tables": [TABLE]},
    "best_of": {
        "count": 2, "over": {"size": ["2"]}, "splits": {"validation": "Validation"},
        "claims": {"all": {"numbers": [["mystery validation"]], "at_most": 10}},
    },
    "surface": {
        "task": "riddle", "operation": "modulo", "x": [1, 2], "target": 2, "first": [[1, 0], [0, 1]],
        "second": [[1, 1]], "points": 3, "highest": 5, "panels": [PANEL, PANEL],
    },
}  # fmt: skip


def runs(model: str, role: str = "cell") -> pd.DataFrame:
    error = np.linspace(0.1, 0.2, SEEDS)
    lengths = {
        "test_mse_1": error, "solved_test_mse_1": True, "solved_at_test_mse_1": 10.0,
        "test_mse_10": error, "solved_test_mse_10": False, "solved_at_test_mse_10": np.nan,
        "test_mae_1": error, "test_rounds_1": error, "test_mae_10": error, "test_rounds_10": error,
    }  # fmt: skip
    outcomes = {f"test_{name}_{T}": error for name in (*CURVES, *OUTCOMES) for T in (1, 10)}
    return runs_of(
        model, SEEDS, cell=f"{role} {model}", role=role, task="riddle", setting="size=2", operation="modulo", steps=20,
        log_every=10, late_gain=0.0, solved=True, solved_at=[10.0, 10, 20], sparsity_error=0.1 * error,
        validation_mae=error, extrapolation_mae=error, validation_mse=error, extrapolation_mse=error,
        test_correct=error, **{"test_accuracy_0.1": error, "test_accuracy_1e-05": error}, **lengths, **outcomes,
    )  # fmt: skip


def kind_of(name: str, folder: Path) -> Kind:
    report = {"kind": name} | REPORTS[name]
    kind: Kind = registry.reports.load(name)(Experiment("mine/it", folder, "Mine", "nowhere", BUDGETS, [], report))
    return kind


OPERATIONS_UNSAID = (
    "success",
    "gating",
    "sweep",
    "sweep_columns",
    "series_success",
    "surface",
    "best_of",
    "timing",
    "parity",
)


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_renders_with_an_unknown_model_operation_and_task(name: str, tmp_path: Path) -> None:
    probes = pd.DataFrame({"probe": [0, 1], "output": 0, "label": ["a", "b"], "target": 5.0, "prediction": [1.0, 4.0]})
    seeds = pd.DataFrame({"seed": range(SEEDS), "cell": "cell mystery"})
    beside = {
        "relative_errors": ["baseline"],
        "series_success": ["reference"],
        "series_errors": ["reference"],
    }.get(name, [])
    others = [runs("oracle" if "series" in name else "mystery", role) for role in beside]
    rows = pd.concat([runs("mystery"), *others], ignore_index=True)
    errors = pd.DataFrame({"step": [0, 10, 20], "validation_mse": [0.3, 0.2, 0.1], "validation_mae": [0.5, 0.4, 0.3]})
    curves = rows[["cell", "seed"]].merge(errors, how="cross")
    weights = pd.DataFrame(columns=["cell", "seed", "name", "shape", "values"])
    measured = Measured(rows, curves, seeds.merge(probes, how="cross"), weights, MANIFEST)
    kind = kind_of(name, tmp_path)
    lines = lines_of(kind, measured)
    notes = Footnotes.of(lines)
    tables = "".join(markdown(layout, notes) + latex(layout, notes) for layout in kind.tables(lines))
    assert "mystery" in tables or name in ("accuracies", "surface")
    assert "modulo" in tables or name in OPERATIONS_UNSAID
    figure, drawn = kind.figure(measured, lines)
    figure.draw_without_rendering()
    assert len(drawn)


OTHERS = {"identity", "identity_integers", "program_curves", "errors_of_runs", "cells", "theory"}
"""Kinds about one known task or none, or whose settings name every model, and the one that asks each cell's task."""


def test_every_other_kind_is_tried_with_unknown_names() -> None:
    assert set(REPORTS) == set(registry.reports.entries) - OTHERS


def test_cells_that_a_table_would_mix_are_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "experiments" / "mine").mkdir(parents=True)
    (tmp_path / "experiments" / "mine" / "it.yaml").write_text(
        "title: Mine\nsource: nowhere\nbudgets: {smoke: {seeds: 1, steps: 20, log_every: 10, ramp_scale: 1}}\n"
        "cells: [{overrides: [task=ten_parameter, model=nmu], grid: {model.hidden_size: [2, 3]}}]\n"
        "report: {kind: success, criterion: task}\n"
    )
    monkeypatch.setenv("NALU_BENCH_CONF", str(tmp_path))
    chosen = experiment.load("mine/it")
    plan = compose.plan_experiment(chosen, ["budget=smoke"])
    with pytest.raises(UsageError, match="apart by operation and setting and model, and mine/it has both ten_param"):
        results.check(plan, plan.cells)
