"""The function of four inputs."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from nalu_bench.tasks.subset_sums import OPERATIONS
from nalu_bench.tasks.task import Task

MakeTask = Callable[..., Task]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_targets_are_the_operation_on_the_first_two_and_on_all_four_inputs(make_task: MakeTask, operation: str) -> None:
    task = make_task(operation)
    members = torch.from_numpy(task.seed_parameters(np.random.default_rng(3))["members"]).double()
    split = {name: torch.from_numpy(array) for name, array in task.split_parameters("extrapolation").items()}
    numbers = 2 + 4 * torch.rand(4, 64, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    x, t = task.sample(numbers, {"members": members}, split)
    a, b = x[:, 0] + x[:, 1], x[:, 0] + x[:, 1] + x[:, 2] + x[:, 3]
    naive = {"add": a + b, "sub": a - b, "mul": a * b, "div": a / b, "square": a**2, "sqrt": a.sqrt()}
    torch.testing.assert_close(t[:, 0], naive[operation], rtol=1e-13, atol=1e-13)
    assert torch.equal(x, numbers.mT)


def test_every_seed_has_the_same_subsets(make_task: MakeTask) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert make_task().seed_parameters(rng)["members"].tolist() == [[1, 1, 0, 0], [1, 1, 1, 1]]


def test_both_criteria_are_the_same(make_task: MakeTask) -> None:
    task = make_task("mul")
    assert task.threshold("authors", samples=20_000) == task.threshold("task", samples=20_000)


def test_it_shares_its_program_with_the_arithmetic_task_of_four_inputs(make_task: MakeTask) -> None:
    assert make_task("mul").program() == make_task("add", features=4).program()
