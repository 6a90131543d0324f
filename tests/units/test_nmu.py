"""The neural multiplication unit."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from nalu_bench.errors import UsageError
from nalu_bench.units import NMU, Unit


def inputs(*shape: int) -> Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 6 - 3


def nmu_with(W: list[list[float]]) -> NMU:
    unit = NMU(len(W[0]), len(W)).double()
    unit.W = nn.Parameter(torch.tensor(W, dtype=torch.float64))
    return unit


def test_nmu_with_exact_weights_multiplies_exactly() -> None:
    x = inputs(50, 3)
    y = nmu_with([[1, 1, 0], [0, 1, 1]])(x)
    targets = torch.stack([x[:, 0] * x[:, 1], x[:, 1] * x[:, 2]], dim=-1)
    assert (y - targets).square().mean() == 0


def test_nmu_keeps_the_signs_of_its_inputs() -> None:
    x = inputs(200, 3)
    y = nmu_with([[1, 1, 1]])(x)[:, 0]
    assert torch.equal(y.sign(), x.sign().prod(dim=-1))
    assert (y < 0).any()


def test_nmu_without_any_weight_is_one() -> None:
    assert torch.equal(nmu_with([[0, 0, 0]])(inputs(5, 3)), torch.ones(5, 1, dtype=torch.float64))


@pytest.mark.parametrize("size_in", [1, 2, 3, 7])
def test_nmu_equals_a_loop_over_the_papers_formula(size_in: int) -> None:
    unit, x = NMU(size_in, 2).double(), inputs(5, size_in)
    unit.reset_parameters(torch.Generator().manual_seed(0))
    y = torch.ones(5, 2, dtype=torch.float64)
    for b in range(5):
        for o in range(2):
            for i in range(size_in):
                y[b, o] *= unit.W[o, i].item() * x[b, i] + 1 - unit.W[o, i].item()
    torch.testing.assert_close(unit(x).detach(), y, rtol=1e-14, atol=1e-15)


def test_gradients_of_outputs_and_penalties_are_right(
    check_gradients: Callable[[Unit, Tensor], None],
) -> None:
    check_gradients(NMU(3, 2), inputs(4, 3))


@pytest.mark.parametrize(("weight", "penalty"), [(0.0, 0), (0.25, 0.25), (0.5, 0.5), (0.75, 0.25), (1.0, 0)])
def test_the_penalty_is_zero_at_zero_and_one_and_largest_at_a_half(weight: float, penalty: float) -> None:
    assert nmu_with([[weight] * 3] * 2).penalties(inputs(5, 3))["sparsity"].item() == penalty


def test_a_weight_of_minus_one_is_not_sparse_for_the_nmu() -> None:
    assert nmu_with([[-1.0]]).penalties(inputs(5, 1))["sparsity"].item() == 1


@torch.no_grad()
def test_project_clamps_to_zero_and_one_in_place_and_elementwise() -> None:
    unit = nmu_with([[-0.5, 0.3, 1.5]])
    before, expected = unit.W, torch.tensor([0.0, 0.3, 1.0], dtype=torch.float64)
    unit.project_()
    assert unit.W is before
    torch.testing.assert_close(unit.W.data, expected.view(1, 3))
    unit.W = nn.Parameter(torch.tensor([-0.5, 0.3, 1.5], dtype=torch.float64).expand(5, 1, 3).clone())
    unit.project_()
    torch.testing.assert_close(unit.W.data, expected.expand(5, 1, 3))


def test_without_the_clamp_weights_stay_outside_and_act_as_the_nearest_bound() -> None:
    unit = NMU(3, 1, clamped=False).double()
    unit.W = nn.Parameter(torch.tensor([[-0.5, 0.3, 1.5]], dtype=torch.float64))
    x = inputs(50, 3)
    y = unit(x)
    assert torch.equal(y, nmu_with([[0.0, 0.3, 1.0]])(x))
    assert unit.weights()["W"].tolist() == [[0.0, 0.3, 1.0]]
    y.square().sum().backward()
    assert unit.W.grad is not None
    assert [bool(gradient) for gradient in unit.W.grad[0]] == [False, True, False]
    with torch.no_grad():
        unit.project_()
    assert unit.W.tolist() == [[-0.5, 0.3, 1.5]]


def test_without_the_clamp_the_penalty_is_that_of_the_weight_itself() -> None:
    unit = NMU(2, 1, clamped=False).double()
    unit.W = nn.Parameter(torch.tensor([[-0.5, 1.25]], dtype=torch.float64))
    penalty = unit.penalties(inputs(5, 2))["sparsity"]
    assert penalty.item() == (0.5 + 0.25) / 2
    penalty.backward()  # type: ignore[no-untyped-call]
    assert unit.W.grad is not None
    assert unit.W.grad.tolist() == [[-0.5, 0.5]], "a step against it leads back"


def test_clamped_must_be_true_or_false() -> None:
    with pytest.raises(UsageError, match="clamped must be true or false, got 'no'"):
        NMU(2, 1, clamped="no")  # type: ignore[arg-type]


def test_weights_start_uniformly_between_a_quarter_and_three_quarters() -> None:
    unit = NMU(200, 50)
    unit.reset_parameters(torch.Generator().manual_seed(0))
    assert 0.25 <= unit.W.min() < 0.2501
    assert 0.7499 < unit.W.max() <= 0.75
    assert unit.W.mean().item() == pytest.approx(0.5, abs=0.005)
