"""The tasks of the iNALU's paper: targets, subsets, fixed examples, wrong values."""

from typing import Any

import numpy as np
import pytest
import torch

from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.plan.cell import Cell
from nalu_bench.tasks.inalu_arithmetic import NOT_ZERO, InaluArithmetic
from nalu_bench.training.compilation import Mode
from nalu_bench.training.data import check_data, sharing_key, tensors, training_numbers

EAGER = Mode("cpu", compiled=False)


def task(**changes: Any) -> InaluArithmetic:
    values: dict[str, Any] = {
        "kind": "inalu_arithmetic", "name": "inalu_arithmetic", "operation": "sub", "features": 2, "members": "first",
        "interpolation": ["normal", -3, 3], "extrapolation": ["normal", 8, 10], "training": 64_000,
    }  # fmt: skip
    return InaluArithmetic(**values | changes)


def cell(*words: str) -> Cell:
    chosen = ["task=inalu_arithmetic", "model=single", "unit=inalu", "recipe=schlor2020", "budget=smoke", *words]
    return compose.plan_cells(chosen, multirun=False).cells[0].cell


def members_of(features: int, seed: int) -> np.ndarray:
    """The subsets of a seed, drawn."""
    return task(features=features, members="drawn").seed_parameters(np.random.default_rng(seed))["members"]


@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("features", [2, 10])
def test_a_is_the_first_input_and_b_the_second(operation: str, features: int) -> None:
    one = task(operation=operation, features=features)
    numbers = one.distribution("train").of(torch.rand(features, 50))
    members = tensors(one.seed_parameters(np.random.default_rng(0)))
    x, t = one.sample(numbers, members, tensors(one.split_parameters("train")))
    a, b = x[:, 0], x[:, 1]
    expected = {"add": a + b, "sub": a - b, "mul": a * b, "div": a / b}[operation]
    torch.testing.assert_close(t[:, 0], expected)
    assert x.shape == (50, features)


def test_drawn_subsets_are_disjoint_never_empty_and_hold_a_half_and_a_quarter() -> None:
    drawn = [members_of(100, seed) for seed in range(200)]
    assert max(members.sum(0).max() for members in drawn) == 1
    assert np.mean([members.mean(1) for members in drawn], axis=0) == pytest.approx([0.5, 0.25], abs=0.01)
    assert not all(np.array_equal(members, drawn[0]) for members in drawn)
    assert all(members_of(2, seed).any(1).all() for seed in range(50))


def test_a_divisor_of_zero_gives_a_finite_target() -> None:
    one = task(operation="div")
    members = tensors(one.seed_parameters(np.random.default_rng(0)))
    _, t = one.sample(torch.tensor([[1.0], [0.0]]), members, tensors(one.split_parameters("train")))
    assert t.item() == 1 / NOT_ZERO


def test_examples_come_again_in_every_epoch_and_are_those_of_the_distribution() -> None:
    chosen = cell("task.training=192", "task.interpolation=[exponential,0.2]")
    draw = training_numbers(chosen, [0, 1], EAGER)
    batches = [draw(step).clone() for step in range(1, 8)]
    for step in range(4):
        assert torch.equal(batches[step], batches[step + 3])
    epoch = torch.cat(batches[:3], dim=-1)
    assert epoch.shape == (2, 2, 192)
    assert len(epoch.unique()) > 760, "a batch within the epoch is new"
    assert epoch.min() > 0
    assert epoch.mean().item() == pytest.approx(0.2, abs=0.03)
    evaluated = chosen.task.distribution("validation").of(torch.rand(1000))
    assert evaluated.min() > 0


def test_a_draw_is_shared_by_operations_and_not_by_distributions_or_numbers_of_examples() -> None:
    key = sharing_key(cell())
    assert sharing_key(cell("task.operation=div")) == key
    assert sharing_key(cell("task.extrapolation=[normal,20,30]")) == key
    for other in ("task.interpolation=[normal,-3,4]", "task.interpolation=[uniform,-3,3]", "task.training=640"):
        assert sharing_key(cell(other)) != key


def test_success_is_a_final_error_below_1e_5() -> None:
    assert task().threshold("task") == 1e-5
    assert task().setting() == {"operation": "sub", "range": "N(-3,3)"}
    with pytest.raises(UsageError, match="unknown criterion 'authors'"):
        task().threshold("authors")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"operation": "sqrt"}, "unknown operation 'sqrt'"),
        ({"members": "last"}, "unknown members 'last'"),
        ({"features": 1}, "task.features must be at least 2, got 1"),
        ({"training": 0}, "task.training must be at least 1, got 0"),
        ({"interpolation": [1, 2]}, "task.interpolation must be one of"),
        ({"extrapolation": ["exponential", -1]}, "task.extrapolation must have a deviation"),
    ],
)
def test_values_that_cannot_be_are_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        task(**changes).validate()


def test_fixed_examples_must_fill_batches_and_have_streams_of_ours() -> None:
    with pytest.raises(UsageError, match=r"batch_size must divide the number of examples .*100., got 64"):
        check_data(cell("task.training=100"))
    with pytest.raises(UsageError, match="stable_nalu needs a task of uniform vectors"):
        check_data(cell("recipe.streams=stable_nalu"))
