"""Arithmetic over time."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from nalu_bench.cli import main
from nalu_bench.models.network import Recurrence
from nalu_bench.plan import compose
from nalu_bench.tasks.recurrent_arithmetic import RecurrentArithmetic
from nalu_bench.tasks.subset_sums import OPERATIONS
from nalu_bench.units.nac import NAC
from nalu_bench.units.nalu import NALU


def task(*overrides: str) -> RecurrentArithmetic:
    found = compose.plan_cells(["task=recurrent_arithmetic", "model=rnn_nac", *overrides], multirun=False).cells[0]
    assert isinstance(found.cell.task, RecurrentArithmetic)
    return found.cell.task


def sample(chosen: RecurrentArithmetic, seed: int, split: str = "train") -> tuple[torch.Tensor, ...]:
    drawn = chosen.seed_parameters(np.random.default_rng(seed)), chosen.split_parameters(split)
    constants = [{name: torch.from_numpy(value) for name, value in part.items()} for part in drawn]
    x, t = chosen.sample(1 + torch.rand(chosen.example_size(split), 20), *constants)
    return x, t, constants[0]["members"]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("split", "length"), [("train", 10), ("validation", 10), ("extrapolation", 1000)])
def test_targets_are_the_operation_on_sums_over_subsets_and_time(operation: str, split: str, length: int) -> None:
    x, t, members = sample(task(f"task.operation={operation}"), seed=3, split=split)
    assert x.shape == (20, length, 10)
    a, b = (x.double().sum(1) @ members.double().T).T
    torch.testing.assert_close(t[:, 0].double(), OPERATIONS[operation](a, b), rtol=1e-4, atol=1e-2)
    assert members.sum(1).tolist() == [2, 2]
    assert (members[0] * members[1]).sum() == 1


def test_a_recurrence_of_exact_weights_adds_over_a_thousand_steps() -> None:
    x, t, members = sample(task("task.operation=add"), seed=5, split="extrapolation")
    with torch.no_grad():
        cell, head = NAC(12, 2).double(), NAC(2, 1).double()
        cell.W_hat.copy_(100 * torch.cat([members, torch.eye(2)], dim=1))
        head.W_hat.fill_(100)
        for unit in (cell, head):
            unit.M_hat.fill_(100)
        y = Recurrence(cell, head)(x.double())
    torch.testing.assert_close(y, t.double(), rtol=1e-5, atol=0)


def test_a_nalu_starts_from_a_state_of_zeros_without_a_fault() -> None:
    network = Recurrence(NALU(12, 2), NALU(2, 1))
    y = network(1 + torch.rand(4, 10, 10))
    y.sum().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in network.parameters())


@pytest.mark.parametrize("key", ["length", "extrapolation_length"])
def test_a_length_of_zero_is_refused(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "task=recurrent_arithmetic", "model=rnn_nac", f"task.{key}=0", "budget=smoke"]) == 2
    assert f"task.{key} must be at least 1, got 0" in capsys.readouterr().err


def test_vectors_and_sequences_are_kept_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "task=recurrent_arithmetic", "model=nac", "budget=smoke"]) == 2
    assert "a two_layer model takes vector inputs, recurrent_arithmetic gives sequences" in capsys.readouterr().out


def test_long_sequences_are_judged_once_by_the_selected_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    sizes = ["task.extrapolation_length=30", "recipe.evaluation_size=50"]
    arguments = ["task=recurrent_arithmetic", "model=rnn_nac", "budget=smoke", *sizes, "device.workers=1"]
    assert main(["run", *arguments]) == 0
    (part,) = tmp_path.glob("runs/recurrent_arithmetic/rnn_nac/*/parts/0-24")
    runs, curves = (pd.read_parquet(part / f"{name}.parquet") for name in ("runs", "curves"))
    assert "extrapolation_mae" not in curves
    assert runs["extrapolation_mae"].between(0, 1e6).all()
