"""The arithmetic tasks whose subsections have lengths and places of their own."""

from typing import Any

import numpy as np
import pytest
import torch

from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.training.data import tensors


def task(*overrides: str, name: str = "subsections") -> Any:
    return compose.plan_cells([f"task={name}", *overrides], multirun=False).cells[0].cell.task


def members(chosen: Any, seed: int) -> np.ndarray:
    found: np.ndarray = chosen.seed_parameters(np.random.default_rng(seed))["members"]
    return found


def test_every_seed_has_two_contiguous_subsections_with_lengths_and_places_of_their_own() -> None:
    chosen = task("task.lengths=[2,5]", "task.features=12")
    drawn = [row for seed in range(200) for row in members(chosen, seed)]
    assert {int(row.sum()) for row in drawn} == {2, 3, 4, 5}
    assert all(np.abs(np.diff(np.pad(row, 1))).sum() == 2 for row in drawn), "one run of ones"
    assert {int(row.argmax()) for row in drawn} == set(range(11))
    assert any(members(chosen, seed).prod(0).any() for seed in range(50)), "they may overlap"


@pytest.mark.parametrize(("operation", "target"), [("sub", lambda a, b: a - b), ("a", lambda a, b: a)])
def test_the_target_is_the_operation_on_both_sums(operation: str, target: Any) -> None:
    chosen = task(f"task.operation={operation}")
    seed, numbers = members(chosen, 0), torch.rand(100, 50, generator=torch.Generator().manual_seed(0))
    x, t = chosen.sample(numbers, tensors({"members": seed}), tensors(chosen.split_parameters("train")))
    a, b = x @ torch.as_tensor(seed).T.unbind(1)[0], x @ torch.as_tensor(seed).T.unbind(1)[1]
    torch.testing.assert_close(t[:, 0], target(a, b), rtol=1e-5, atol=1e-5)


def test_a_sequence_is_summed_over_all_of_its_steps() -> None:
    chosen = task("task.operation=a", name="recurrent_subsections")
    seed = members(chosen, 0)
    numbers = torch.rand(100, 7, generator=torch.Generator().manual_seed(0))
    x, t = chosen.sample(numbers, tensors({"members": seed}), tensors(chosen.split_parameters("train")))
    assert x.shape == (7, 10, 10)
    torch.testing.assert_close(t[:, 0], (x * torch.as_tensor(seed[0])).sum((1, 2)))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("task.lengths=[3,101]", "from 1 to task.features=100, got"), ("task.lengths=[0,3]", "task.lengths must be"),
        ("task.lengths=[4,3]", "task.lengths must be"), ("task.lengths=[4]", "task.lengths must be"),
        ("task.lengths=5", r"task.lengths must be a list, got '5': write one as in 'task.lengths=\["),
        ("task.features=0", "task.features must be at least 1, got 0"),
        ("task.operation=modulo", "unknown operation 'modulo'"), ("task.interpolation=[2,1]", "low < high"),
    ],
)  # fmt: skip
def test_an_impossible_task_is_refused(override: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        task(override)


@pytest.mark.parametrize(
    ("length", "told"),
    [(5, "task.extrapolation_length must be above task.length=10, as the ranges are the same, got 5"),
     (10, "task.extrapolation_length must be above task.length=10, as the ranges are the same, got 10")],
)  # fmt: skip
def test_longer_sequences_must_be_longer(length: int, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        task(f"task.extrapolation_length={length}", name="recurrent_subsections")
