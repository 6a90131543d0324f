"""The NALU and the gated NAU/NMU: the gate, its limits and its parts."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from nalu_bench.units import NALU, NAU, NMU, GatedNAUNMU, Unit
from nalu_bench.units.functional import nac_weight
from nalu_bench.units.nac import nac_range
from nalu_bench.units.nau import nau_range

OPEN, CLOSED = 100.0, -1000.0  # σ(G x) is exactly 1 or 0 for inputs of at least 1


def inputs(*shape: int, low: float = 1.0, high: float = 3.0) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return low + (high - low) * torch.rand(*shape, dtype=torch.float64, generator=generator)


def nalu(shared: bool = True, gate: float | None = None) -> NALU:
    unit = NALU(3, 2, shared=shared).double()
    unit.reset_parameters(torch.Generator().manual_seed(0))
    if gate is not None:
        nn.init.constant_(unit.G, gate)
    return unit


def additive_path(unit: NALU, x: Tensor) -> Tensor:
    return x @ nac_weight(unit.W_hat, unit.M_hat).T


def multiplicative_path(unit: NALU, x: Tensor) -> Tensor:
    names = ("W_hat", "M_hat") if unit.shared else ("W_hat_mul", "M_hat_mul")
    W = nac_weight(*(unit.get_parameter(name) for name in names))
    return ((x + 1e-7).unsqueeze(-2) ** W).prod(dim=-1)


@pytest.mark.parametrize("shared", [True, False])
def test_an_open_gate_adds_and_a_closed_one_multiplies(shared: bool) -> None:
    x = inputs(50, 3)
    adding, multiplying = nalu(shared, gate=OPEN), nalu(shared, gate=CLOSED)
    torch.testing.assert_close(adding(x), additive_path(adding, x), rtol=1e-14, atol=0)
    torch.testing.assert_close(multiplying(x), multiplicative_path(multiplying, x), rtol=1e-13, atol=0)


@pytest.mark.parametrize("shared", [True, False])
def test_the_output_is_the_gated_mean_of_both_paths(shared: bool) -> None:
    x, unit = inputs(50, 3), nalu(shared)
    g = torch.sigmoid(x @ unit.G.T)
    expected = g * additive_path(unit, x) + (1 - g) * multiplicative_path(unit, x)
    torch.testing.assert_close(unit(x), expected, rtol=1e-13, atol=0)


@torch.no_grad()
def test_nalu_with_exact_weights_adds_exactly_and_multiplies_up_to_epsilon() -> None:
    x = inputs(50, 2)
    for gate, target in ((OPEN, x.sum(1)), (CLOSED, x.prod(1))):
        unit = NALU(2, 1).double()
        nn.init.constant_(unit.G, gate)
        nn.init.constant_(unit.W_hat, 20.0)
        nn.init.constant_(unit.M_hat, 40.0)
        torch.testing.assert_close(unit(x)[:, 0], target, rtol=0 if gate == OPEN else 3e-7, atol=0)


@pytest.mark.parametrize("unit", [nalu(), nalu(shared=False), GatedNAUNMU(3, 2).double()])
def test_the_gate_has_no_bias(unit: Unit) -> None:
    assert not any("b" in name or "bias" in name for name, _ in unit.named_parameters())
    at_zero = unit(torch.zeros(3, dtype=torch.float64))
    m = unit.weights()["W_mul"] if "W_mul" in unit.weights() else unit.weights()["W"]
    if isinstance(unit, GatedNAUNMU):
        expected = (1 - m).prod(dim=-1) / 2
    else:
        expected = (torch.tensor(1e-7, dtype=torch.float64).log() * m.sum(dim=-1)).exp() / 2
    torch.testing.assert_close(at_zero, expected, rtol=1e-13, atol=0)  # g = σ(0) = 1/2 and a = 0


def test_shared_and_separate_weights_differ_in_their_parameters_alone() -> None:
    assert [name for name, _ in nalu().named_parameters()] == ["G", "W_hat", "M_hat"]
    names = {name for name, _ in nalu(shared=False).named_parameters()}
    assert names == {"G", "W_hat", "M_hat", "W_hat_mul", "M_hat_mul"}
    assert set(nalu().weights()) == {"W"}
    assert set(nalu(shared=False).weights()) == {"W", "W_mul"}


@pytest.mark.parametrize("unit", [NALU(3, 2), NALU(3, 2, shared=False), GatedNAUNMU(3, 2)])
def test_gradients_of_outputs_and_penalties_are_right(
    unit: Unit, check_gradients: Callable[[Unit, Tensor], None]
) -> None:
    check_gradients(unit, inputs(4, 3))


def test_the_gate_starts_xavier_uniform_and_the_weights_as_in_their_parts() -> None:
    ranges = {"G": (6 / 250) ** 0.5}
    nalu_ranges = ranges | dict.fromkeys(("W_hat", "M_hat", "W_hat_mul", "M_hat_mul"), nac_range(200, 50))
    gated_ranges = ranges | {"W_add": nau_range(200, 50)}
    for unit, expected in ((NALU(200, 50, shared=False), nalu_ranges), (GatedNAUNMU(200, 50), gated_ranges)):
        unit.reset_parameters(torch.Generator().manual_seed(0))
        for name, r in expected.items():
            assert 0.999 * r < unit.get_parameter(name).abs().max().item() <= r * (1 + 1e-6)
    assert 0.25 <= unit.W_mul.min() < 0.2501
    assert 0.7499 < unit.W_mul.max() <= 0.75


def test_gated_nau_nmu_is_a_nau_behind_an_open_gate_and_an_nmu_behind_a_closed_one() -> None:
    x, unit, add, mul = inputs(50, 3), GatedNAUNMU(3, 2).double(), NAU(3, 2).double(), NMU(3, 2).double()
    unit.reset_parameters(torch.Generator().manual_seed(0))
    add.W, mul.W = unit.W_add, unit.W_mul
    for gate, part in ((OPEN, add), (CLOSED, mul)):
        nn.init.constant_(unit.G, gate)
        torch.testing.assert_close(unit(x), part(x), rtol=1e-14, atol=1e-15)
    penalty = add.penalties(x)["sparsity"] + mul.penalties(x)["sparsity"]
    torch.testing.assert_close(unit.penalties(x)["sparsity"], penalty)


@torch.no_grad()
def test_gated_nau_nmu_clamps_each_part_to_its_own_range() -> None:
    unit = GatedNAUNMU(3, 1)
    outside = torch.tensor([[-1.5, 0.3, 1.5]])
    for weight in (unit.W_add, unit.W_mul, unit.G):
        weight.copy_(outside)
    unit.project_()
    torch.testing.assert_close(unit.W_add.data, torch.tensor([[-1.0, 0.3, 1.0]]))
    torch.testing.assert_close(unit.W_mul.data, torch.tensor([[0.0, 0.3, 1.0]]))
    torch.testing.assert_close(unit.G.data, outside)


@pytest.mark.parametrize("shared", [True, False])
def test_all_parameters_may_start_xavier_normal(shared: bool) -> None:
    torch.manual_seed(0)
    unit = NALU(300, 200, shared=shared, init="xavier_normal")
    assert len(list(unit.parameters())) == (3 if shared else 5)
    for raw in unit.parameters():
        assert raw.std().item() == pytest.approx(math.sqrt(2 / 500), rel=0.02)
        assert raw.abs().max().item() > 3.5 * math.sqrt(2 / 500), "not uniform"
