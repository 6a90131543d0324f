"""The affine baselines."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from nalu_bench.units import Linear, ReLU, ReLU6, Unit


def inputs(*shape: int) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 6 - 3


@pytest.mark.parametrize(
    ("cls", "activation"),
    [(Linear, lambda z: z), (ReLU, lambda z: z.clamp(min=0)), (ReLU6, lambda z: z.clamp(0, 6))],
)
def test_affine_units_apply_their_activation_to_a_linear_layer(
    cls: type[Linear], activation: Callable[[Tensor], Tensor]
) -> None:
    x, unit = inputs(50, 3), cls(3, 2).double()
    nn.init.normal_(unit.W, std=3.0, generator=torch.Generator().manual_seed(1))
    nn.init.normal_(unit.b, generator=torch.Generator().manual_seed(2))
    z = nn.functional.linear(x, unit.W, unit.b)
    torch.testing.assert_close(unit(x), activation(z), rtol=1e-14, atol=1e-14)


def test_linear_with_exact_weights_adds_and_subtracts_exactly() -> None:
    x, unit = inputs(50, 3), Linear(3, 2).double()
    unit.W = nn.Parameter(torch.tensor([[1, 1, 0], [0, 1, -1]], dtype=torch.float64))
    targets = torch.stack([x[:, 0] + x[:, 1], x[:, 1] - x[:, 2]], dim=-1)
    assert (unit(x) - targets).square().mean() == 0


def test_relu_is_bounded_below_and_relu6_on_both_sides() -> None:
    x = torch.tensor([[-5.0], [-0.0], [2.5], [6.0], [6.5], [100.0]], dtype=torch.float64)
    for cls, expected in ((ReLU, [0, 0, 2.5, 6, 6.5, 100]), (ReLU6, [0, 0, 2.5, 6, 6, 6])):
        unit = cls(1, 1).double()
        nn.init.ones_(unit.W)
        assert unit(x)[:, 0].tolist() == expected


@pytest.mark.parametrize("cls", [Linear, ReLU, ReLU6])
def test_gradients_are_right(cls: type[Unit], check_gradients: Callable[[Unit, Tensor], None]) -> None:
    check_gradients(cls(3, 2), inputs(4, 3))


@pytest.mark.parametrize(
    ("cls", "bound"), [(Linear, math.sqrt(6 / 250)), (ReLU, math.sqrt(6 / 200)), (ReLU6, math.sqrt(6 / 200))]
)
def test_weights_start_xavier_or_kaiming_uniform_and_biases_at_zero(cls: type[Linear], bound: float) -> None:
    unit = cls(200, 50)
    unit.reset_parameters(torch.Generator().manual_seed(0))
    assert 0.999 * bound < unit.W.abs().max().item() <= bound * (1 + 1e-6)
    assert unit.W.var().item() == pytest.approx(bound**2 / 3, rel=0.03)
    assert torch.equal(unit.b, torch.zeros(50))


@pytest.mark.parametrize("cls", [Linear, ReLU, ReLU6])
def test_the_bias_is_not_a_weight_of_the_sparsity_error(cls: type[Linear]) -> None:
    assert set(cls(3, 2).weights()) == {"W"}
