"""The neural addition unit."""

import math
from collections.abc import Callable

import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from nalu_bench.errors import UsageError
from nalu_bench.units import NAU, Unit
from nalu_bench.units.nau import nau_range


def inputs(*shape: int) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 6 - 3


def nau_with(W: list[list[float]]) -> NAU:
    unit = NAU(len(W[0]), len(W)).double()
    unit.W = nn.Parameter(torch.tensor(W, dtype=torch.float64))
    return unit


def test_nau_with_exact_weights_adds_and_subtracts_exactly() -> None:
    x = inputs(50, 3)
    y = nau_with([[1, 1, 0], [0, 1, -1]])(x)
    targets = torch.stack([x[:, 0] + x[:, 1], x[:, 1] - x[:, 2]], dim=-1)
    assert (y - targets).square().mean() == 0


def test_weights_outside_of_the_bounds_count_as_on_them() -> None:
    x = inputs(50, 3)
    outside, inside = nau_with([[-1.5, 0.25, 7.0]]), nau_with([[-1.0, 0.25, 1.0]])
    assert torch.equal(outside(x), inside(x))
    assert torch.equal(outside.weights()["W"], inside.W)


def test_gradients_of_outputs_and_penalties_are_right(
    check_gradients: Callable[[Unit, Tensor], None],
) -> None:
    check_gradients(NAU(3, 2), inputs(4, 3))


@pytest.mark.parametrize(
    ("weight", "penalty"), [(-1.0, 0), (-0.5, 0.5), (-0.2, 0.2), (0.0, 0), (0.25, 0.25), (0.5, 0.5), (1.0, 0)]
)
def test_the_penalty_is_zero_at_minus_one_zero_and_one_and_largest_at_the_halves(weight: float, penalty: float) -> None:
    assert nau_with([[weight] * 3] * 2).penalties(inputs(5, 3))["sparsity"].item() == pytest.approx(penalty, abs=1e-15)


def test_the_penalty_is_the_mean_over_the_weights() -> None:
    assert nau_with([[0.0, 0.5, -0.75, 1.0]]).penalties(inputs(5, 4))["sparsity"].item() == (0.5 + 0.25) / 4


@torch.no_grad()
def test_project_clamps_to_plus_minus_one_in_place_and_elementwise() -> None:
    unit = nau_with([[-1.5, 0.3, 1.5]])
    before, expected = unit.W, torch.tensor([-1.0, 0.3, 1.0], dtype=torch.float64)
    unit.project_()
    assert unit.W is before
    torch.testing.assert_close(unit.W.data, expected.view(1, 3))
    unit.W = nn.Parameter(torch.tensor([-1.5, 0.3, 1.5], dtype=torch.float64).expand(5, 1, 3).clone())
    unit.project_()
    torch.testing.assert_close(unit.W.data, expected.expand(5, 1, 3))


def test_weights_start_uniformly_with_the_glorot_variance_capped_at_a_half() -> None:
    assert nau_range(100, 2) == pytest.approx(math.sqrt(6 / 102))
    assert nau_range(4, 2) == nau_range(11, 12) == 0.5
    assert nau_range(12, 13) < 0.5
    unit = NAU(200, 50)
    unit.reset_parameters(torch.Generator().manual_seed(0))
    assert unit.W.abs().max() <= nau_range(200, 50)
    assert unit.W.var().item() == pytest.approx(2 / 250, rel=0.03)


def test_without_the_clamp_weights_stay_outside_and_act_as_the_nearest_bound() -> None:
    unit = NAU(3, 1, clamped=False).double()
    unit.W = nn.Parameter(torch.tensor([[-1.5, 0.3, 1.25]], dtype=torch.float64))
    x = inputs(50, 3)
    assert torch.equal(unit(x), nau_with([[-1.0, 0.3, 1.0]])(x))
    with torch.no_grad():
        unit.project_()
    assert unit.W.tolist() == [[-1.5, 0.3, 1.25]]
    assert unit.penalties(x)["sparsity"].item() == pytest.approx((0.5 + 0.3 + 0.25) / 3)


def test_beta_weights_have_the_moments_of_their_distribution() -> None:
    W = NAU(500, 200, init="beta").W.detach()
    beta = stats.beta(7, 7, loc=-1, scale=2)
    assert stats.kstest(W.flatten().numpy(), beta.cdf).pvalue > 0.01
    assert float(W.std()) == pytest.approx(beta.std(), rel=0.01)


def test_an_unknown_distribution_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown initialisation 'betta'; did you mean 'beta'"):
        NAU(2, 1, init="betta")
