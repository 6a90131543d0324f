"""The stochastic NMU: noise that is divided out again."""

import re
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nalu_bench.errors import UsageError
from nalu_bench.models.network import Stack
from nalu_bench.units import NMU, SNMU, Linear


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def snmu_with(W: list[list[float]], **options: Any) -> SNMU:
    unit = SNMU(len(W[0]), len(W), **options).double()
    unit.W = nn.Parameter(torch.tensor(W, dtype=torch.float64))
    return unit


@pytest.mark.parametrize("noise_range", [[1, 5], [0.01, 0.05], [5, 10], "batch"])
def test_at_exact_weights_noise_changes_nothing(noise_range: Any) -> None:
    unit, x = snmu_with([[1, 1, 0], [0, 1, 1]], noise_range=noise_range), 6 * draw(50, 3) - 3
    targets = torch.stack([x[:, 0] * x[:, 1], x[:, 1] * x[:, 2]], -1)
    assert torch.equal(unit(x), targets)
    torch.testing.assert_close(unit.disturbed(x, draw(3, 50, seed=1)), targets, rtol=1e-12, atol=0)


@pytest.mark.parametrize("noise_range", [[1.0, 5.0], "batch"])
def test_in_training_it_equals_its_formula_and_in_evaluation_an_nmu(noise_range: Any) -> None:
    W = [[0.3, 0.9], [0.5, 0.25]]
    unit, x, noise = snmu_with(W, noise_range=noise_range), 6 * draw(50, 2) - 3, draw(2, 50, seed=1)
    high = 1 + 1 / x.std() if noise_range == "batch" else 5.0
    n = 1 + (high - 1) * noise.T

    def product(z: Tensor) -> Tensor:
        return (z.unsqueeze(1) * unit.W + 1 - unit.W).prod(-1)

    torch.testing.assert_close(unit.disturbed(x, noise), product(x * n) / product(n), rtol=1e-13, atol=1e-15)
    torch.testing.assert_close(unit(x), product(x), rtol=1e-13, atol=1e-15)


def test_gradients_of_the_disturbed_output_are_right_and_the_batchs_range_has_none() -> None:
    x, noise = (2 * draw(4, 3)).requires_grad_(), draw(3, 4, seed=1)
    unit = SNMU(3, 2).double()
    W = unit.W.detach().clone().requires_grad_()

    def output(x: Tensor, W: Tensor) -> Tensor:
        result: Tensor = torch.func.functional_call(Disturbed(unit), {"unit.W": W}, (x, noise))
        return result

    assert torch.autograd.gradcheck(output, (x, W))
    batch = snmu_with([[0.5, 0.5, 0.5]], noise_range="batch")
    high = 1 + 1 / x.detach().std().item()
    fixed = snmu_with([[0.5, 0.5, 0.5]], noise_range=[1.0, high])
    gradients = [torch.autograd.grad(unit.disturbed(x, noise).sum(), x)[0] for unit in (batch, fixed)]
    torch.testing.assert_close(*gradients)


class Disturbed(nn.Module):
    """The disturbed output as a module."""

    def __init__(self, unit: SNMU) -> None:
        super().__init__()
        self.unit = unit

    def forward(self, x: Tensor, noise: Tensor) -> Tensor:
        return self.unit.disturbed(x, noise)


def test_it_asks_for_one_number_an_input_and_takes_its_own() -> None:
    network = Stack(Linear(4, 3), SNMU(3, 1)).double()
    assert network.noise == 3
    x, noise = draw(50, 4), draw(3, 50, seed=1)
    first, second = network.layers
    assert isinstance(second, SNMU)
    assert torch.equal(network.predict(x, noise)[0], second.disturbed(first(x), noise))
    assert torch.equal(network.predict(x)[0], second(first(x)))


def test_all_else_is_the_nmus() -> None:
    unit = SNMU(200, 50)
    unit.reset_parameters(torch.Generator().manual_seed(0))
    nmu = NMU(200, 50)
    nmu.reset_parameters(torch.Generator().manual_seed(0))
    assert torch.equal(unit.W, nmu.W)
    assert torch.equal(unit.penalties(draw(5, 200))["sparsity"], nmu.penalties(draw(5, 200))["sparsity"])


@pytest.mark.parametrize(
    "given", [[0, 5], [-1, 5], [-3, -1], [5, 1], [2, 2], [1], [1, 2, 3], "uniform", None, [1, float("inf")], ["a", "b"]]
)
def test_a_range_that_holds_0_and_one_that_is_none_are_refused(given: Any) -> None:
    told = f'noise_range must be [low, high] with 0 < low < high, or "batch", got {given}'
    with pytest.raises(UsageError, match=re.escape(told)):
        SNMU(3, 2, noise_range=given)
