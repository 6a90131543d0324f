"""The iNALU: its paths, gates, bounds, sign and penalty; and the NALU as its authors have it."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nalu_bench.errors import UsageError
from nalu_bench.units import INALU, SchlorNALU, Unit
from nalu_bench.units.functional import nac_weight

OPEN, CLOSED = 100.0, -1000.0  # σ of these is exactly 1 and 0 in float64
ONE_HAT, ONE_LOGIT = 20.0, 40.0  # tanh and σ of these are exactly 1


def inputs(*shape: int, low: float = -3.0, high: float = 3.0) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return low + (high - low) * torch.rand(*shape, dtype=torch.float64, generator=generator)


@torch.no_grad()
def with_weights(W: list[list[float]], gate: float, **options: Any) -> INALU:
    """An iNALU whose paths have these weights of -1, 0 and 1."""
    unit = INALU(len(W[0]), len(W), **options).double()
    nn.init.constant_(unit.G, gate)
    for name, raw in unit.named_parameters():
        if name.startswith("W"):
            raw.copy_(torch.tensor(W, dtype=torch.float64) * ONE_HAT)
        elif name.startswith("M"):
            raw.fill_(ONE_LOGIT)
    for matrix in unit.weights().values():
        assert torch.equal(matrix, torch.tensor(W, dtype=torch.float64))
    return unit


@pytest.mark.parametrize("shared", [True, False])
def test_inalu_with_exact_weights_computes_all_four_operations_on_inputs_of_any_sign(shared: bool) -> None:
    x = inputs(200, 2)
    a, b = x.T
    for W, gate, target in (
        ([1.0, 1.0], OPEN, a + b),
        ([1.0, -1.0], OPEN, a - b),
        ([1.0, 1.0], CLOSED, a * b),
        ([1.0, -1.0], CLOSED, a / b),
    ):
        y = with_weights([W], gate, shared=shared)(x)[:, 0]
        torch.testing.assert_close(y, target, rtol=0 if gate == OPEN else 1e-13, atol=0)


@pytest.mark.parametrize("options", [{}, {"shared": True}, {"gate": "dependent"}])
def test_inalu_equals_its_formula(options: dict[str, Any]) -> None:
    x, unit = inputs(50, 3), INALU(3, 2, **options).double()
    unit.reset_parameters(torch.Generator().manual_seed(0))
    names = ("W_hat", "M_hat") if unit.shared else ("W_hat_mul", "M_hat_mul")
    W_a, W_m = nac_weight(unit.W_hat, unit.M_hat), nac_weight(*(unit.get_parameter(name) for name in names))
    g = torch.sigmoid(unit.G if unit.G.ndim == 1 else x @ unit.G.T)
    m = (x.abs().unsqueeze(1) ** W_m).prod(-1)
    s = (x.sign().unsqueeze(1) * W_m.abs() + 1 - W_m.abs()).prod(-1)
    torch.testing.assert_close(unit(x), g * (x @ W_a.T) + (1 - g) * m * s, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(unit.gates(x)["g"], g.expand(50, 2))


def test_the_gate_is_one_number_for_an_output_whatever_the_inputs_are() -> None:
    unit = INALU(3, 2).double()
    assert unit.G.shape == (2,)
    assert unit.gates(inputs(4, 5, 3))["g"].shape == (4, 5, 2)
    assert torch.equal(unit.gates(inputs(7, 3))["g"], unit.gates(10 * inputs(7, 3))["g"])


def test_the_log_space_is_bounded_on_both_sides() -> None:
    product, quotient = with_weights([[1.0, 1.0]], CLOSED), with_weights([[1.0, -1.0]], CLOSED)
    huge = torch.tensor([1e6, 1e6], dtype=torch.float64)
    assert product(huge).item() == pytest.approx(torch.tensor(20.0, dtype=torch.float64).exp().item(), rel=1e-14)
    assert product(torch.tensor([2.0, 1e-9], dtype=torch.float64)).item() == pytest.approx(2e-7, rel=1e-12)
    assert quotient(torch.tensor([1.0, -1e-9], dtype=torch.float64)).item() == pytest.approx(-1e7, rel=1e-12)
    lower = with_weights([[1.0, 1.0]], CLOSED, omega=1.0, epsilon=0.5)
    assert lower(torch.tensor([0.1, 2.0], dtype=torch.float64)).item() == pytest.approx(1.0)
    assert lower(huge).item() == pytest.approx(torch.e)


def test_the_penalty_is_the_sum_over_the_raw_parameters_of_their_mean_distance_from_20() -> None:
    unit = INALU(2, 1, shared=True).double()
    raw = {"G": torch.tensor([-5.0]), "W_hat": torch.tensor([[20.0, -25.0]]), "M_hat": torch.tensor([[0.0, -10.0]])}
    unit.load_state_dict(raw)
    assert unit.penalties(inputs(5, 2))["saturation"].item() == 15 + 0 + 15
    for parameter in unit.parameters():
        nn.init.constant_(parameter, -20.0)
    assert unit.penalties(inputs(5, 2))["saturation"].item() == 0
    assert INALU(3, 2).penalties(inputs(5, 3))["saturation"].item() == pytest.approx(20 + 2 * 19 + 2 * 19, abs=1.5)


@pytest.mark.parametrize(
    "unit", [INALU(3, 2), INALU(3, 2, shared=True), INALU(3, 2, gate="dependent"), *map(SchlorNALU, (3,), (2,))]
)
def test_gradients_of_outputs_and_penalties_are_right(
    unit: Unit, check_gradients: Callable[[Unit, Tensor], None]
) -> None:
    check_gradients(unit, inputs(4, 3))


@pytest.mark.parametrize("cls", [INALU, SchlorNALU])
@pytest.mark.parametrize(("means", "deviation"), [((0.0, -1.0, 1.0), 0.1), ((0.5, 0.0, -1.0), 0.5)])
def test_parameters_start_normal_around_their_means(
    cls: Callable[..., Unit], means: tuple[float, ...], deviation: float
) -> None:
    unit = cls(200, 50, means=list(means), deviation=deviation)
    unit.reset_parameters(torch.Generator().manual_seed(0))
    of = dict(zip("GMW", means, strict=True))
    for name, raw in unit.named_parameters():
        error = 4 * deviation / raw.numel() ** 0.5
        assert raw.mean().item() == pytest.approx(of[name[0]], abs=error)
        assert raw.std().item() == pytest.approx(deviation, rel=0.35 if raw.ndim == 1 else 0.05)


def test_the_first_values_are_those_of_the_papers_experiments() -> None:
    unit = INALU(200, 200)
    assert (unit.means, unit.deviation, unit.omega, unit.epsilon) == ((0, -1, 1), 0.1, 20, 1e-7)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"gate": ["independent", "dependent"], "omega": None}, "a unit has one gate, so choose one"),
        ({"gate": "both"}, "unknown gate 'both'"),
        ({"omega": None}, "omega must be above 0 and finite, got None: the log space of an iNALU is clipped"),
        ({"omega": float("inf")}, "omega must be above 0 and finite, got inf"),
        ({"epsilon": 0}, "epsilon must be above 0 and finite, got 0"),
        ({"means": [0.0, 1.0]}, "means must be three finite numbers, those of G, M̂ and Ŵ, got [0.0, 1.0]"),
        ({"means": "abc"}, "means must be three finite numbers"),
        ({"deviation": 0.0}, "deviation must be above 0 and finite, got 0.0"),
        ({"init": "glorot"}, "unknown initialisation 'glorot'"),
        ({"init": "xavier_uniform"}, "init=xavier_uniform needs a matrix G, got gate=independent"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_one_line(options: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)) as error:
        INALU(3, 2, **options)
    assert "\n" not in str(error.value)


def test_one_gate_for_all_outputs_or_one_for_each() -> None:
    x = inputs(50, 3, low=0.5)
    for gate, shape in (("matrix", (2, 3)), ("vector", (3,))):
        unit = SchlorNALU(3, 2, gate=gate).double()
        assert unit.G.shape == shape
        g = torch.sigmoid(x @ unit.G.expand(2, 3).T)
        W = nac_weight(unit.W_hat, unit.M_hat)
        m = ((x + 1e-7).unsqueeze(1) ** W).prod(-1)
        torch.testing.assert_close(unit(x), g * (x @ W.T) + (1 - g) * m, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(unit.gates(x)["g"], g)
    with pytest.raises(UsageError, match="unknown gate 'scalar'"):
        SchlorNALU(3, 2, gate="scalar")
