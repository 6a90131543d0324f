"""The large-scale arithmetic task of the NPU's paper: sums, targets, wrong values."""

from typing import Any

import numpy as np
import pytest
import torch

from nalu_bench.errors import UsageError
from nalu_bench.tasks.npu_arithmetic import NPUArithmetic
from nalu_bench.training.data import tensors


def task(**changes: Any) -> NPUArithmetic:
    values: dict[str, Any] = {
        "kind": "npu_arithmetic", "name": "npu_arithmetic", "operation": "add", "features": 100, "subset_ratio": 0.5,
        "overlap_ratio": 0.25, "interpolation": [-1, 1], "extrapolation": [-2, 2],
    }  # fmt: skip
    return NPUArithmetic(**values | changes)


def test_a_is_the_sum_of_the_first_50_inputs_and_b_shares_12_of_them_for_every_seed() -> None:
    drawn = [task().seed_parameters(np.random.default_rng(seed))["members"] for seed in range(5)]
    assert all(np.array_equal(members, drawn[0]) for members in drawn)
    assert np.flatnonzero(drawn[0][0]).tolist() == list(range(50))
    assert np.flatnonzero(drawn[0][1]).tolist() == list(range(38, 88))


@pytest.mark.parametrize("operation", ["add", "mul", "div", "sqrt"])
def test_targets_are_exact_in_double_precision(operation: str) -> None:
    one, numbers = task(operation=operation, interpolation=[0, 2]), torch.rand(100, 40, dtype=torch.float64)
    members = {"members": torch.from_numpy(one.seed_parameters(np.random.default_rng(0))["members"]).double()}
    _, t = one.sample(numbers, members, tensors(one.split_parameters("train")))
    a, b = numbers[:50].sum(0), numbers[38:88].sum(0)
    expected = {"add": a + b, "mul": a * b, "div": 1 / a, "sqrt": a.sqrt()}[operation]
    torch.testing.assert_close(t[:, 0], expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"operation": "sub"}, "unknown operation 'sub'"),
        ({"operation": "sqrt"}, r"sqrt needs sums that cannot be negative, got task.interpolation=\[-1,1\]"),
        (
            {"operation": "div", "interpolation": [0, 0.5], "extrapolation": [-0.5, 0.5]},
            r"1 / a needs sums of one sign, got task.extrapolation=\[-0.5,0.5\], where a may be 0",
        ),
        ({"subset_ratio": 2}, "task.subset_ratio must lie between 0 and 1"),
    ],
)
def test_values_that_cannot_be_are_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        task(**changes).validate()


def test_ranges_of_one_sign_are_accepted_for_a_reciprocal() -> None:
    task(operation="div", interpolation=[0, 0.5], extrapolation=[-0.5, 0]).validate()
    assert task().threshold("task") is None


def test_a_reciprocal_needs_no_two_subsets() -> None:
    task(operation="div", interpolation=[0, 0.5], extrapolation=[-0.5, 0], overlap_ratio=1).validate()
