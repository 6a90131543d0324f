"""NRU and NMRU: division by reciprocals."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call

from nalu_bench.errors import UsageError
from nalu_bench.units import NMRU, NRU, Unit
from nalu_bench.units.nau import nau_range


def inputs(*shape: int, low: float = -3.0, high: float = 3.0) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return low + (high - low) * torch.rand(*shape, dtype=torch.float64, generator=generator)


def made(cls: type[Unit], W: list[list[float]], size_in: int, **options: Any) -> Any:
    unit = cls(size_in, len(W), **options).double()
    unit.W = nn.Parameter(torch.tensor(W, dtype=torch.float64))
    return unit


def nru(W: list[list[float]], **options: Any) -> Any:
    return made(NRU, W, len(W[0]), **options)


def nmru(W: list[list[float]], **options: Any) -> Any:
    return made(NMRU, W, len(W[0]) // 2, **options)


@pytest.mark.parametrize("separate_sign", [False, True])
def test_nru_with_exact_weights_multiplies_and_divides_inputs_of_any_sign(separate_sign: bool) -> None:
    x = inputs(200, 3)
    a, b, _ = x.T
    unit = nru([[1, -1, 0], [1, 1, 0], [0, -1, 0], [0, 0, 0]], separate_sign=separate_sign)
    targets = torch.stack([a / b, a * b, 1 / b, torch.ones(200, dtype=torch.float64)], -1)
    torch.testing.assert_close(unit(x), targets, rtol=1e-14, atol=0)
    torch.testing.assert_close(unit.disturbed(x, torch.zeros(1, 200)), targets, rtol=1e-14, atol=0)


def test_nru_equals_its_formula_in_evaluation_and_in_training() -> None:
    x, unit = inputs(50, 3), nru([[0.6, -0.3, 0.0004], [-0.001, 1, 0.05]])
    W, z = unit.W, x.unsqueeze(1)
    powers = z.sign() * z.abs() ** W
    for y, share in ((unit(x), W.abs()), (unit.disturbed(x, torch.zeros(1, 50)), torch.tanh(1000 * W) ** 2)):
        torch.testing.assert_close(y, (powers * share + 1 - share).prod(-1), rtol=1e-13, atol=1e-15)


def test_a_sign_of_its_own_counts_weights_that_are_nearer_to_1_than_to_0() -> None:
    x, unit = inputs(50, 2), nru([[0.6, -0.4]], separate_sign=True)
    size = x.abs() ** unit.W * unit.W.abs() + 1 - unit.W.abs()
    torch.testing.assert_close(unit(x)[:, 0], size.prod(-1) * x[:, 0].sign(), rtol=1e-13, atol=0)


def test_nmru_with_exact_weights_multiplies_and_divides_inputs_of_any_sign() -> None:
    x = inputs(200, 2)
    a, b = x.T
    unit = nmru([[1, 0, 0, 1], [1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [1, 0, 1, 0]])
    ones = torch.ones(200, dtype=torch.float64)
    targets = torch.stack([a / b, a * b, 1 / b, ones, ones], -1)
    torch.testing.assert_close(unit(x), targets, rtol=1e-13, atol=0)
    plain = nmru(unit.W.tolist(), sign=False)
    torch.testing.assert_close(plain(x), targets, rtol=1e-13, atol=0)


def test_nmru_equals_its_formula_and_adds_epsilon_in_training_alone() -> None:
    x, unit = inputs(50, 2), nmru([[0.3, 0.8, 0.1, 0.6]])
    for y, epsilon in ((unit(x), 0.0), (unit.disturbed(x, torch.zeros(1, 50)), 2**-23)):
        z = torch.cat([x, 1 / (x + epsilon)], -1)
        size = (z.abs() * unit.W + 1 - unit.W).prod(-1)
        expected = size * torch.cos((math.pi * (z < 0).double()) @ unit.W.T)[:, 0]
        torch.testing.assert_close(y[:, 0], expected, rtol=1e-13, atol=1e-15)
    zero = torch.tensor([[2.0, 0.0]], dtype=torch.float64)
    assert unit.disturbed(zero, torch.zeros(1, 1)).isfinite().all()


@pytest.mark.parametrize("unit", [NRU(3, 2), NRU(3, 2, separate_sign=True), NMRU(3, 2), NMRU(3, 2, sign=False)])
def test_gradients_of_outputs_and_penalties_are_right(
    unit: Any, check_gradients: Callable[[Unit, Tensor], None]
) -> None:
    check_gradients(unit, inputs(4, 3, low=0.5))
    check_gradients(unit, -inputs(4, 3, low=0.5))

    class Disturbed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.unit = unit

        def forward(self, x: Tensor) -> Tensor:
            result: Tensor = self.unit.disturbed(x, torch.zeros(1, 4))
            return result

    module, W = Disturbed(), unit.W.detach().clone().requires_grad_()
    x = inputs(4, 3, low=0.5).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, W: functional_call(module, {"unit.W": W}, (x,)), (x, W))


def test_they_start_as_a_nau_and_as_an_nmu_over_twice_the_inputs() -> None:
    first, second = NRU(200, 50), NMRU(200, 50)
    for unit in (first, second):
        unit.reset_parameters(torch.Generator().manual_seed(0))
    r = nau_range(200, 50)
    assert 0.999 * r < first.W.abs().max().item() <= r * (1 + 1e-6)
    assert second.W.shape == (50, 400)
    assert 0.25 <= second.W.min() < 0.2501
    assert 0.7499 < second.W.max() <= 0.75
    assert torch.equal(torch.cat([*second.weights().values()], -1), second.W)


def test_penalties_are_zero_at_discrete_weights_and_the_clamps_keep_their_ranges() -> None:
    first, second = nru([[1, -1, 0]]), nmru([[1, 0, 0, 1]])
    assert first.penalties(inputs(5, 3))["sparsity"].item() == 0
    assert second.penalties(inputs(5, 2))["sparsity"].item() == 0
    for unit, low in ((first, -1.0), (second, 0.0)):
        nn.init.constant_(unit.W, 0.25)
        assert unit.penalties(inputs(5, unit.in_features))["sparsity"].item() == 0.25
        for value, bound in itertools.product((-3.0, 3.0), (low,)):
            nn.init.constant_(unit.W, value)
            with torch.no_grad():
                unit.project_()
            assert (max(bound, min(1.0, value)) == unit.W).all()


def test_a_unit_that_is_the_same_in_training_asks_for_no_number() -> None:
    assert (NRU(3, 2).noise, NMRU(3, 2).noise) == (1, 1)
    assert (NRU(3, 2, smooth=False).noise, NMRU(3, 2, epsilon=0.0).noise) == (0, 0)


def test_an_epsilon_below_0_is_refused() -> None:
    with pytest.raises(UsageError, match=r"epsilon must lie in \[0, 1\), got -1"):
        NMRU(3, 2, epsilon=-1)
