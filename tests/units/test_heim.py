"""The layers of the NPU's paper: exact weights in double precision, first weights, penalties, wrong values."""

import pytest
import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from nalu_bench.errors import UsageError
from nalu_bench.models.network import Stack
from nalu_bench.units import NALU, NMU, Unit
from nalu_bench.units.heim import HeimDense, HeimINALU, HeimNALU, HeimNAU, HeimNMU, HeimNPU


def inputs(*shape: int) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 4 - 2


@torch.no_grad()
def filled(unit: Unit, **values: Tensor) -> Unit:
    for name, value in values.items():
        unit.get_parameter(name).data = value.double()
    return unit.double()


def test_with_exact_weights_the_pair_of_npu_and_nau_gives_sum_product_quotient_and_root() -> None:
    x = inputs(200, 2).abs() + 0.1
    powers = torch.tensor([[1.0, 0], [0, 1], [1, 1], [1, -1], [0.5, 0]])
    npu = filled(HeimNPU(2, 5, imaginary=False), W_re=powers, g=torch.ones(2))
    npu.epsilon = 0.0  # type: ignore[assignment]
    nau = filled(HeimNAU(5, 4), W=torch.tensor([[1.0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]))
    a, b = x.T
    target = torch.stack([a + b, a * b, a / b, a.sqrt()], -1)
    assert mse_loss(Stack(npu, nau)(x), target) < 1e-28


def test_an_nmu_is_clamped_where_it_is_used_and_not_after_a_step() -> None:
    W = torch.tensor([[1.5, -0.5, 0.25]])
    unit, plain = filled(HeimNMU(3, 1), W=W), filled(NMU(3, 1), W=W.clamp(0, 1))
    x = inputs(50, 3)
    torch.testing.assert_close(unit(x), plain(x), rtol=0, atol=0)
    unit.project_()
    assert torch.equal(unit.W.data, W.double())
    unit(x).sum().backward()
    assert unit.W.grad is not None
    assert unit.W.grad[0, :2].tolist() == [0, 0]


def test_a_nalu_without_bias_is_a_nalu_but_for_its_epsilon() -> None:
    W_hat, M_hat, G = (inputs(2, 3).mul(scale) for scale in (1.0, 0.5, -1.0))
    unit = filled(HeimNALU(3, 2), W_hat=W_hat, M_hat=M_hat, G=G, b=torch.zeros(2))
    plain = filled(NALU(3, 2), W_hat=W_hat, M_hat=M_hat, G=G)
    x = inputs(50, 3)
    torch.testing.assert_close(unit(x), plain(x), rtol=1e-4, atol=1e-4)
    shifted = filled(unit, b=torch.full((2,), 1000.0))
    torch.testing.assert_close(shifted(x), x @ unit.weights()["W"].T)


@pytest.mark.parametrize(
    ("unit", "name", "low", "high"),
    [
        (HeimNAU(100, 100), "W", -0.1733, 0.1733),
        (HeimNAU(100, 100, init="tenth"), "W", 0, 0.1),
        (HeimNMU(100, 100), "W", 0, 1),
        (HeimNALU(100, 100, init="tenth"), "G", 0, 0.1),
        (HeimNALU(100, 5), "b", -1, 1),
        (HeimNPU(100, 100), "W_re", 0, 0.1),
        (HeimNPU(100, 1, opened=1.0), "g", 1, 1),
        (HeimNPU(100, 1, imaginary=False), "g", 0.5, 0.5),
        (HeimDense(100, 100), "W", -0.1733, 0.1733),
        (HeimDense(100, 100), "b", 0, 0),
    ],
)
def test_first_weights_are_those_of_the_code(unit: Unit, name: str, low: float, high: float) -> None:
    value = unit.get_parameter(name)
    assert low <= value.min() <= low + 0.1 * (high - low) or value.numel() < 10
    assert high - 0.1 * (high - low) <= value.max() <= high or value.numel() < 10
    assert low <= value.min() <= value.max() <= high


def test_the_penalty_is_the_sum_of_all_absolute_parameters_of_the_network() -> None:
    for network in (Stack(HeimNAU(4, 3), HeimNPU(3, 2)), Stack(HeimNALU(4, 3), HeimNMU(3, 2))):
        total = sum(parameter.abs().sum() for parameter in network.parameters())
        torch.testing.assert_close(network.predict(torch.rand(5, 4))[1], {"l1": total})


def test_the_penalty_of_the_code_is_the_sum_of_the_2_norms_of_all_arrays() -> None:
    first, second = HeimNALU(4, 3, penalty="norms"), HeimNPU(3, 2, penalty="norms")
    for network in (Stack(HeimNAU(4, 3, penalty="norms"), second), Stack(first, HeimNMU(3, 2, penalty="norms"))):
        total = sum(parameter.norm() for parameter in network.parameters())
        torch.testing.assert_close(network.predict(torch.rand(5, 4))[1], {"norms": total})
    assert not second.W_im.any()
    second.penalties(torch.rand(5, 3))["norms"].backward()
    assert second.W_im.grad.eq(0).all(), "an array of zeros has a slope of 0"
    torch.testing.assert_close(second.W_re.grad, second.W_re / second.W_re.norm())


def test_another_penalty_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown penalty 'l2'"):
        HeimNAU(2, 1, penalty="l2")


def test_the_regulariser_of_the_inalu_is_a_sum_and_not_a_mean() -> None:
    unit = filled(
        HeimINALU(4, 3), **dict.fromkeys(("G", "W_hat", "M_hat", "W_hat_mul", "M_hat_mul"), torch.zeros(3, 4))
    )
    assert unit.penalties(inputs(1, 4)) == {"saturation": 5 * 12}


@pytest.mark.parametrize("kind", [HeimNAU, HeimNMU, HeimNALU])
def test_another_initialisation_is_refused(kind: type[Unit]) -> None:
    with pytest.raises(UsageError, match="unknown initialisation 'rand'"):
        kind(2, 1, init="rand")  # type: ignore[call-arg]
