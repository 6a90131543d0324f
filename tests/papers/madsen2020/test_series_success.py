"""Series of several lengths judged by reference networks: thresholds, and facts for every length."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nalu_bench.analysis.measure.lengths import by_length, lengths
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.recheck import Check, findings
from nalu_bench.analysis.measure.record import kept_points
from nalu_bench.analysis.measure.solved import solved_facts_of
from nalu_bench.errors import UsageError
from nalu_bench.papers.madsen2020.series_success import SeriesSuccess
from nalu_bench.papers.trask2018.series_errors import SeriesErrors
from nalu_bench.plan import compose, experiment
from nalu_bench.plan.cell import Cell

PRODUCT = experiment.load("madsen2020/mnist_product")
KINDS = [SeriesErrors(experiment.load("trask2018/table2")), SeriesSuccess(PRODUCT)]


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
    errors = {"validation_mse": short, "test_mse_1": short, "test_mse_10": 5.0, "train_loss": [np.nan, *[1.0] * 4] * 2}
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


@pytest.mark.parametrize("kind", KINDS)
def test_two_references_of_one_operation_are_refused(kind: SeriesErrors | SeriesSuccess) -> None:
    cells = compose.plan_experiment(kind.experiment, ["budget=smoke"]).cells
    kind.check(cells)
    other = next(want for want in cells if want.role == "cell")
    with pytest.raises(UsageError, match=r"must have one cell of the role reference.*, got .* and "):
        kind.check([*cells, replace(other, role="reference")])


@pytest.mark.parametrize("name", ["madsen2020/mnist_product", "madsen2020/mnist_sum", "trask2018/table2"])
def test_only_the_smoke_budget_replaces_mnist(name: str) -> None:
    chosen = experiment.load(name)
    for budget, scale in chosen.budgets.items():
        assert ("task.dataset=digits" in scale.get("overrides", [])) == (budget == "smoke")
    cells = compose.plan_experiment(chosen, ["budget=paper"]).cells
    assert {want.cell.value("task.dataset") for want in cells} == {"mnist"}


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
