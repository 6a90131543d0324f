"""One threshold for the progress bar and the table; a criterion may come from other runs."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nalu_bench.analysis.collect import collect
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.analysis.reports.success import Success
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, criteria, experiment
from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.machine import Machine
from nalu_bench.plan.result import BlockResult
from nalu_bench.running import runner
from nalu_bench.running.jobs import pending
from nalu_bench.store.reader import Store
from nalu_bench.store.writer import write_part
from nalu_bench.training import loop

TABLE2 = experiment.load("madsen2020/table2")


def invent(root: Path, cell: Cell, errors: list[float]) -> None:
    """Store one run a seed whose error is 10 before training and as given after it."""
    values = np.array([[10.0] * len(errors), errors], np.float32)
    columns = {f"{split}_{kind}": values for split in cell.task.evaluated for kind in ("mse", "mae")}
    count = len(errors)
    result = BlockResult(
        Block(0, len(errors)), np.array([0, cell.recipe.steps]), columns | {"sparsity_error": 0 * values},
        np.full(count, cell.recipe.steps), np.full(count, -1), parameters={},
        weights={"W": np.zeros((count, 1, 1))}, gates={}, tested={}, arrays={}, seconds=1.0,
    )  # fmt: skip
    write_part(root, cell, result, {"device": "cpu", "mode": "eager", "torch": "0", "commit": "none"})


def test_training_and_the_table_judge_by_one_threshold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    want = compose.plan_experiment(TABLE2, ["budget=smoke", "model=nmu"]).cells[0]
    limit = criteria.threshold(want.cell, "authors")
    assert limit is not None
    assert want.criterion == "authors"
    assert limit != criteria.threshold(want.cell)
    seen: list[float | None] = []

    def train_together(requests: list[Any], *_: object) -> list[Any]:
        seen.extend(request.threshold for request in requests)
        return []

    monkeypatch.setattr(loop, "train_together", train_together)
    store = Store(tmp_path)
    runner.run_jobs(pending([want], store, Machine("cpu", False, 1)), Machine("cpu", False, 1), quiet=True)
    assert seen == [limit]
    assert Success(TABLE2).criteria(want.cell, pd.DataFrame())["threshold"] == limit
    invent(tmp_path, want.cell, [0.999 * limit, 1.001 * limit])
    assert collect(Success(TABLE2), {}, [want], store, []).runs["solved"].tolist() == [True, False]


def test_an_unknown_criterion_is_refused_and_one_of_other_runs_is_not_known_before_them(
    make_cell: Callable[..., Cell],
) -> None:
    with pytest.raises(UsageError, match="unknown criterion 'author'"):
        criteria.threshold(make_cell(), "author")
    assert criteria.threshold(make_cell(), criteria.REFERENCE) is None


@pytest.mark.parametrize("value", [math.nan, "low", True])
def test_a_threshold_that_is_no_number_is_refused(
    value: object, make_cell: Callable[..., Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = make_cell()
    monkeypatch.setattr(type(cell.task), "threshold", lambda *_, **__: value)
    with pytest.raises(UsageError, match="must be a number or None, got"):
        criteria.threshold(cell)


class Beaten(Kind):
    """A run is solved if it is better than the median of the references of the same setting."""

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
        return runs.assign(solved=runs["extrapolation_mse"] < self.criteria(cell, others)["threshold"])

    def criteria(self, cell: Cell, others: pd.DataFrame) -> dict[str, Any]:
        same = others[others["operation"] == cell.task.setting()["operation"]] if len(others) else others
        return {"threshold": float(same["extrapolation_mse"].median()) if len(same) else float("nan")}


@pytest.fixture
def wanted(make_cell: Callable[..., Cell], make_task: Callable[..., Any]) -> list[Wanted]:
    """Two cells, one for each of two operations, then a reference for each."""
    return [
        Wanted(make_cell(layers, make_task(operation)), (0, 1, 2), role, criterion=criteria.REFERENCE)
        for role, layers in (("cell", "nau nmu"), (criteria.REFERENCE, "linear linear"))
        for operation in ("add", "mul")
    ]


def solved(found: Measured) -> dict[tuple[str, str], list[bool]]:
    groups = found.runs.groupby(["role", "operation"])
    return {keys: [bool(value) for value in group["solved"]] for keys, group in groups}  # type: ignore[misc]


def test_runs_are_judged_by_the_references_of_their_setting(tmp_path: Path, wanted: list[Wanted]) -> None:
    for want, errors in zip(wanted, ([1, 3, 5], [1, 3, 5], [2, 2, 2], [4, 4, 4]), strict=True):
        invent(tmp_path / "runs", want.cell, [float(error) for error in errors])
    judge = Beaten(replace(TABLE2, report={"kind": "beaten"}))
    found = collect(judge, {}, wanted, Store(tmp_path / "runs"), [])
    expected = {
        ("cell", "add"): [True, False, False], ("cell", "mul"): [True, True, False],
        ("reference", "add"): [False] * 3, ("reference", "mul"): [False] * 3,
    }  # fmt: skip
    assert solved(found) == expected
    assert found.manifest["cells"][wanted[0].cell.digest]["criteria"] == {"threshold": 2.0}
    assert [*dict.fromkeys(found.runs["cell"])] == [want.cell.digest for want in wanted], "in the order of the cells"


def test_references_that_only_committed_results_hold_judge_new_runs(tmp_path: Path, wanted: list[Wanted]) -> None:
    cell, reference = wanted[0], wanted[2]
    judge = Beaten(replace(TABLE2, report={"kind": "beaten"}))
    invent(tmp_path / "old", reference.cell, [2.0, 2.0, 2.0])
    before = collect(judge, {}, [reference], Store(tmp_path / "old"), [])
    invent(tmp_path / "new", cell.cell, [1.0, 3.0, 5.0])
    found = collect(judge, {}, [cell, reference], Store(tmp_path / "new"), [before])
    assert solved(found)["cell", "add"] == [True, False, False]
    assert len(found.runs) == 6


def test_a_threshold_that_cannot_be_computed_is_told_with_its_task(
    make_cell: Callable[..., Cell], monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = make_cell()

    def broken(*_: object, **__: object) -> float:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(type(cell.task), "threshold", broken)
    with pytest.raises(UsageError, match=f"threshold of the task {cell.task.kind} cannot be computed: ZeroDivision"):
        criteria.threshold(cell)
