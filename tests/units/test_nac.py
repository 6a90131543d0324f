"""NAC₊ and the multiplicative variants in log space."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.units import NAC, NACMul, NACMulNMU, NACMulSigma, Unit
from nalu_bench.units.nac import nac_range

ONE_HAT, ONE_LOGIT, ZERO_LOGIT = 20.0, 40.0, -800.0  # tanh and σ of these are exact in float64


def inputs(*shape: int, low: float = -3.0, high: float = 3.0) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return low + (high - low) * torch.rand(*shape, dtype=torch.float64, generator=generator)


@torch.no_grad()
def with_weights(unit: Unit, W: list[list[int]]) -> Unit:
    """The unit with effective weights that are exactly W."""
    unit.double()
    exact = torch.tensor(W, dtype=torch.float64)
    if isinstance(unit, NAC):
        unit.W_hat.copy_(exact * ONE_HAT)
        unit.M_hat.fill_(ONE_LOGIT)
    elif isinstance(unit, NACMulSigma):
        unit.W_hat.copy_(torch.where(exact > 0, ONE_LOGIT, ZERO_LOGIT))
    else:
        unit.get_parameter("W").copy_(exact)
    assert torch.equal(unit.weights()["W"], exact)
    return unit


def test_nac_with_exact_weights_adds_and_subtracts_exactly() -> None:
    x = inputs(50, 3)
    y = with_weights(NAC(3, 2), [[1, 1, 0], [0, 1, -1]])(x)
    targets = torch.stack([x[:, 0] + x[:, 1], x[:, 1] - x[:, 2]], dim=-1)
    assert (y - targets).square().mean() == 0


@pytest.mark.parametrize("cls", [NACMul, NACMulSigma, NACMulNMU])
def test_log_space_units_with_exact_weights_multiply_up_to_epsilon(cls: type[Unit]) -> None:
    x = inputs(50, 3, low=1)
    y = with_weights(cls(3, 2), [[1, 1, 0], [0, 1, 1]])(x)
    shifted = x + 1e-7
    exact = torch.stack([shifted[:, 0] * shifted[:, 1], shifted[:, 1] * shifted[:, 2]], dim=-1)
    torch.testing.assert_close(y, exact, rtol=1e-14, atol=0)
    torch.testing.assert_close(y, torch.stack([x[:, 0] * x[:, 1], x[:, 1] * x[:, 2]], -1), rtol=3e-7, atol=0)


def test_nac_mul_with_exact_weights_divides_up_to_epsilon() -> None:
    x = inputs(50, 2, low=1)
    y = with_weights(NACMul(2, 1), [[1, -1]])(x)
    torch.testing.assert_close(y, x[:, :1] / x[:, 1:], rtol=3e-7, atol=0)


@pytest.mark.parametrize("cls", [NACMul, NACMulSigma, NACMulNMU])
def test_log_space_units_lose_signs_and_stay_positive(cls: type[Unit]) -> None:
    unit, x = cls(4, 2).double(), inputs(50, 4)
    unit.reset_parameters(torch.Generator().manual_seed(0))
    assert torch.equal(unit(x), unit(x.abs()))
    assert (unit(x) > 0).all()


@pytest.mark.parametrize("cls", [NAC, NACMul, NACMulSigma, NACMulNMU])
def test_gradients_of_outputs_and_penalties_are_right(
    cls: type[Unit], check_gradients: Callable[[Unit, Tensor], None]
) -> None:
    check_gradients(cls(3, 2), inputs(4, 3, low=0.5))


@pytest.mark.parametrize(("size_in", "size_out"), [(100, 2), (10, 10), (4, 2), (2, 1)])
def test_the_nac_range_gives_the_glorot_variance(size_in: int, size_out: int) -> None:
    r = nac_range(size_in, size_out)
    generator = torch.Generator().manual_seed(size_in)
    hats = torch.empty(2, 400_000, dtype=torch.float64).uniform_(-r, r, generator=generator)
    W = torch.tanh(hats[0]) * torch.sigmoid(hats[1])
    assert 0 < r <= 10
    assert max(size_in + size_out, 5) * W.square().mean().item() == pytest.approx(2, rel=0.01)
    assert abs(W.mean().item()) < 4 * W.std().item() / math.sqrt(W.numel())


def test_the_nac_range_counts_small_layers_as_five_units() -> None:
    assert nac_range(1, 1) == nac_range(2, 1) == nac_range(3, 2) > nac_range(4, 2)


@pytest.mark.parametrize("cls", [NAC, NACMul])
def test_nac_weights_start_uniformly_within_the_nac_range(cls: type[Unit]) -> None:
    unit = cls(200, 50)
    unit.reset_parameters(torch.Generator().manual_seed(0))
    r = nac_range(200, 50)
    for parameter in unit.parameters():
        assert parameter.abs().max() <= r
        assert parameter.abs().max() > 0.999 * r
        assert parameter.var().item() == pytest.approx(r**2 / 3, rel=0.03)
    assert not torch.equal(unit.get_parameter("W_hat"), unit.get_parameter("M_hat"))


def test_nac_mul_sigma_starts_xavier_normal() -> None:
    unit = NACMulSigma(200, 50)
    unit.reset_parameters(torch.Generator().manual_seed(0))
    assert unit.W_hat.std().item() == pytest.approx(math.sqrt(2 / 250), rel=0.03)
    assert unit.W_hat.abs().max() > 3 * math.sqrt(2 / 250)


def test_nac_mul_nmu_starts_between_a_quarter_and_three_quarters() -> None:
    unit = NACMulNMU(200, 50)
    unit.reset_parameters(torch.Generator().manual_seed(0))
    assert 0.25 <= unit.W.min() < 0.2501
    assert 0.7499 < unit.W.max() <= 0.75


@pytest.mark.parametrize(("weight", "penalty"), [(0.0, 0), (0.25, 0.25), (0.5, 0.5), (0.75, 0.25), (1.0, 0)])
def test_the_penalty_of_nac_mul_nmu_is_zero_at_zero_and_one_and_largest_at_a_half(
    weight: float, penalty: float
) -> None:
    unit = NACMulNMU(3, 2).double()
    torch.nn.init.constant_(unit.W, weight)
    assert unit.penalties(inputs(5, 3))["sparsity"].item() == penalty


@torch.no_grad()
def test_nac_mul_nmu_is_clamped_in_place_and_elementwise() -> None:
    unit = NACMulNMU(3, 1)
    unit.W.copy_(torch.tensor([[-0.5, 0.3, 1.5]]))
    before = unit.W
    unit.project_()
    assert unit.W is before
    torch.testing.assert_close(unit.W.data, torch.tensor([[0.0, 0.3, 1.0]]))
    unit.W = torch.nn.Parameter(torch.tensor([-0.5, 0.3, 1.5]).expand(5, 1, 3).clone())
    unit.project_()
    torch.testing.assert_close(unit.W.data, torch.tensor([0.0, 0.3, 1.0]).expand(5, 1, 3))


def test_nac_may_start_xavier_normal_and_then_not_uniform() -> None:
    torch.manual_seed(0)
    for unit in (NAC(300, 200, init="xavier_normal"), NACMul(300, 200, init="xavier_normal")):
        for raw in (unit.W_hat, unit.M_hat):
            assert raw.std().item() == pytest.approx(math.sqrt(2 / 500), rel=0.02)
            assert raw.abs().max().item() > nac_range(300, 200)
    with pytest.raises(UsageError, match="unknown initialisation 'xavier'"):
        NAC(3, 2, init="xavier")
