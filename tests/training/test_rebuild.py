"""A network can be rebuilt from the record of its run, and tested again."""

from pathlib import Path

import numpy as np
import pytest
import torch

from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.store.reader import Store
from nalu_bench.training.data import Data
from nalu_bench.training.rebuild import network


@pytest.mark.parametrize(
    ("task", "model"),
    [
        ("ten_parameter", "nmu"),
        ("recurrent_arithmetic", "lstm"),
        ("number_words", "text_lstm_nalu"),
        ("identity", "mlp"),
    ],
)
def test_a_rebuilt_network_has_the_errors_of_its_run(
    task: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    short = ["task.extrapolation_length=20"] if task == "recurrent_arithmetic" else []
    short += ["recipe.evaluation_size=100"] if task != "number_words" else []
    overrides = [f"task={task}", f"model={model}", "budget=smoke", *short]
    assert main(["run", *overrides, "device.workers=1"]) == 0
    cell = compose.plan_cells(overrides, multirun=False).cells[0].cell
    store = Store(tmp_path / "runs")
    examples = next(iter(Data(cell, list(range(25)), torch.device("cpu")).evaluated[cell.task.evaluated[0]]))
    for seed, error in enumerate(store.runs(cell)[cell.task.selects].head(3)):
        rebuilt = network(cell, store.parameters(cell, seed))
        x = examples.x if examples.shared else examples.x[seed]
        with torch.no_grad():
            found = cell.task.measure(rebuilt, x, examples.t[seed])[cell.task.selecting]
        assert float(found) == pytest.approx(error, rel=1e-5)


def test_gates_and_weights_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    overrides = ["task=ten_parameter", "model=nalu", "budget=smoke"]
    assert main(["run", *overrides, "device.workers=1"]) == 0
    cell = compose.plan_cells(overrides, multirun=False).cells[0].cell
    rows = Store(tmp_path / "runs").weights(cell)
    assert set(zip(rows["name"], rows["kind"], strict=True)) == {
        ("layers.0.W", "weight"), ("layers.1.W", "weight"), ("layers.0.g", "gate"), ("layers.1.g", "gate"),
    }  # fmt: skip
    gates = np.concatenate(rows["values"][rows["kind"] == "gate"].tolist())
    assert ((gates > 0) & (gates < 1)).all()


def test_a_run_without_kept_parameters_is_named(tmp_path: Path) -> None:
    cell = compose.plan_cells(["task=ten_parameter", "model=nmu"], multirun=False).cells[0].cell
    with pytest.raises(UsageError, match=r"must hold parameters.npz of seed 0 of ten_parameter"):
        Store(tmp_path).parameters(cell, 0)
