"""The simple arithmetic task of the NPU's paper: targets, grids, errors of each function, wrong values."""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.tasks.npu_simple import FUNCTIONS, NPUSimple, axis


def task(**changes: Any) -> NPUSimple:
    values: dict[str, Any] = {
        "kind": "npu_simple", "name": "npu_simple", "interpolation": [0.1, 2.1], "signed": [-4.1, 0.2, 4],
        "positive": [0.1, 0.1, 4],
    }  # fmt: skip
    return NPUSimple(**values | changes)


def grid(split: str) -> Tensor:
    numbers = task().fixed_numbers(split)
    assert numbers is not None
    return torch.from_numpy(numbers)


def test_targets_are_exact_in_double_precision() -> None:
    numbers = 0.1 + 2 * torch.rand(2, 1000, dtype=torch.float64)
    x, t = task().sample(numbers, {}, {})
    a, b = numbers
    assert torch.equal(x, torch.stack([a, b], -1))
    assert torch.equal(t, torch.stack([a + b, a * b, a / b, a.sqrt()], -1))


def test_the_grids_are_the_decimals_of_the_paper() -> None:
    signed, positive = axis("", task().signed), axis("", task().positive)
    assert signed.tolist() == [float(Decimal("-4.1") + k * Decimal("0.2")) for k in range(41)]
    assert positive.tolist() == [float(k * Decimal("0.1")) for k in range(1, 41)]
    assert (signed[-1], min(abs(signed))) == (3.9, 0.1)
    assert grid("extrapolation").shape == (2, 41 * 41)
    assert grid("roots").shape == (2, 40 * 40)
    assert np.array_equal(grid("roots").unique().numpy(), positive.astype(np.float32))
    assert len(grid("extrapolation").T.unique(dim=0)) == 41 * 41
    assert task().fixed_numbers("validation") is None


def test_errors_are_means_over_the_grid_and_leave_out_roots_of_negative_numbers() -> None:
    x, t = task().sample(grid("extrapolation").double(), {}, {})
    found = task().measure(lambda x: torch.zeros(len(x), 4, dtype=torch.float64), x, t)
    a, b = x.T
    assert found["mae_add"] == pytest.approx((a + b).abs().mean().item())
    assert found["mae_div"] == pytest.approx((a / b).abs().mean().item())
    assert found["mae_sqrt"] == pytest.approx(a[a > 0].sqrt().mean().item())
    everything = torch.cat([a + b, a * b, a / b, a[a > 0].sqrt()])
    assert found["mse"] == pytest.approx(everything.square().mean().item())
    exact = task().measure(lambda x: t.nan_to_num(7.0), x, t)
    assert exact == {"mse": 0, "mae": 0} | {f"mae_{name}": 0 for name in FUNCTIONS}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"interpolation": [-1, 1]}, "task.interpolation must lie above 0, where x / y and √x are defined, got -1"),
        ({"interpolation": [0, 1]}, "task.interpolation must lie above 0"),
        ({"signed": [-4, 0.2, 4]}, "task.signed must not hold 0, at which x / y has no value"),
        ({"positive": [-0.1, 0.2, 4]}, "task.positive must lie above 0, where √x is defined, got -0.1"),
        ({"signed": [-4.1, 0, 4]}, r"task.signed must be \[first,step,last\] with a step above 0"),
        ({"signed": [1, 2]}, r"task.signed must be \[first,step,last\]"),
        ({"signed": [-4.1, 0.0002, 4]}, "task.signed must have at most 1,000 points, got 40,501"),
    ],
)
def test_values_that_cannot_be_are_refused(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        task(**changes).validate()
