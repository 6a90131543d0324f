"""The NALU in base of the golden ratio."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from nalu_bench.units import GNALU, NALU, Unit

PHI = (1 + 5**0.5) / 2


def inputs(*shape: int) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 6 - 3


def tanh(z: Tensor) -> Tensor:
    return (PHI ** (2 * z) - 1) / (PHI ** (2 * z) + 1)


def sigma(z: Tensor) -> Tensor:
    return 1 / (1 + PHI**-z)


@pytest.mark.parametrize("shared", [True, False])
def test_it_equals_its_formula_in_powers_of_the_golden_ratio(shared: bool) -> None:
    x, unit = inputs(50, 3), GNALU(3, 2, shared=shared).double()
    unit.reset_parameters(torch.Generator().manual_seed(0))
    names = ("W_hat", "M_hat") if shared else ("W_hat_mul", "M_hat_mul")
    W_m = tanh(unit.get_parameter(names[0])) * sigma(unit.get_parameter(names[1]))
    W_a, g = tanh(unit.W_hat) * sigma(unit.M_hat), sigma(x @ unit.G.T)
    log = (x.abs() + 1e-7).log() / torch.tensor(PHI, dtype=torch.float64).log()
    torch.testing.assert_close(unit(x), g * (x @ W_a.T) + (1 - g) * PHI ** (log @ W_m.T), rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(unit.gates(x)["g"], g)


def test_it_is_a_nalu_with_parameters_that_are_half_as_large() -> None:
    unit, nalu = GNALU(3, 2).double(), NALU(3, 2).double()
    with torch.no_grad():
        for name, raw in nalu.named_parameters():
            raw.copy_(unit.get_parameter(name) * torch.tensor(PHI, dtype=torch.float64).log())
    torch.testing.assert_close(unit(inputs(50, 3)), nalu(inputs(50, 3)), rtol=1e-13, atol=1e-15)


@torch.no_grad()
def test_with_exact_weights_it_adds_exactly_and_multiplies_up_to_epsilon() -> None:
    x = inputs(50, 2).abs() + 1
    for gate, target in ((500.0, x.sum(1)), (-5000.0, x.prod(1))):
        unit = GNALU(2, 1).double()
        nn.init.constant_(unit.G, gate)
        nn.init.constant_(unit.W_hat, 100.0)
        nn.init.constant_(unit.M_hat, 100.0)
        torch.testing.assert_close(unit(x)[:, 0], target, rtol=0 if gate > 0 else 3e-7, atol=0)


@pytest.mark.parametrize("shared", [True, False])
def test_gradients_are_right(shared: bool, check_gradients: Callable[[Unit, Tensor], None]) -> None:
    check_gradients(GNALU(3, 2, shared=shared), inputs(4, 3))


def test_parameters_far_out_give_numbers_where_powers_would_overflow() -> None:
    unit = GNALU(3, 2)
    for parameter in unit.parameters():
        nn.init.constant_(parameter, 1e4)
    assert unit(torch.rand(5, 3)).isfinite().all()
