"""The NPU, the Real NPU and the naive NPU, against torch's complex numbers."""

import math
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.units import NPU, Unit
from nalu_bench.units.nau import nau_range


def inputs(*shape: int, low: float = -3.0, high: float = 3.0) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return low + (high - low) * torch.rand(*shape, dtype=torch.float64, generator=generator)


@torch.no_grad()
def npu_with(W_re: list[list[float]], g: list[float] | None = None, **options: Any) -> NPU:
    unit = NPU(len(W_re[0]), len(W_re), imaginary=False, gate=g is not None, **options).double()
    unit.W_re.copy_(torch.tensor(W_re, dtype=torch.float64))
    if unit.g is not None:
        unit.g.copy_(torch.tensor(g, dtype=torch.float64))
    return unit


def test_with_exact_weights_it_multiplies_divides_and_squares_inputs_of_any_sign() -> None:
    x = inputs(200, 3)
    a, b, _ = x.T
    y = npu_with([[1, 1, 0], [1, -1, 0], [0, 2, 0]], g=[1, 1, 0], epsilon=0.0)(x)
    torch.testing.assert_close(y, torch.stack([a * b, a / b, b**2], -1), rtol=1e-13, atol=0)
    y = npu_with([[0.5, 0, 0]], g=[1, 0, 0], epsilon=0.0)(x.abs())
    torch.testing.assert_close(y[:, 0], a.abs().sqrt(), rtol=1e-13, atol=0)


def test_epsilon_is_that_of_the_authors_code() -> None:
    x = inputs(50, 2, low=0.5)
    shifted = (x + 2**-23).prod(-1)
    torch.testing.assert_close(npu_with([[1, 1]])(x)[:, 0], shifted, rtol=1e-13, atol=0)
    assert torch.finfo(torch.float32).eps == 2**-23


def test_imaginary_weights_stay_0_on_positive_inputs() -> None:
    unit = NPU(3, 2).double()
    unit(inputs(50, 3, low=0.1)).square().sum().backward()
    assert unit.W_im is not None
    assert torch.equal(unit.W_im.grad, torch.zeros(2, 3, dtype=torch.float64))  # type: ignore[arg-type]
    assert unit.W_re.grad is not None
    assert unit.W_re.grad.abs().min() > 0


def test_a_closed_gate_turns_an_input_into_1_whatever_its_weight() -> None:
    x = inputs(50, 2)
    x[:5, 1] = 0
    closed, alone = npu_with([[1, -3]], g=[1, 0]), npu_with([[1]], g=[1])
    torch.testing.assert_close(closed(x), alone(x[:, :1]), rtol=1e-14, atol=0)
    outside = npu_with([[1, -3]], g=[7, -2])
    assert torch.equal(outside(x), closed(x)), "gates count as clamped"


def test_the_naive_npu_is_the_real_part_of_complex_powers() -> None:
    x, unit = inputs(50, 3), NPU(3, 2, gate=False, epsilon=0.0).double()
    torch.nn.init.uniform_(unit.W_im, -1, 1, generator=torch.Generator().manual_seed(1))
    W = torch.complex(unit.W_re, unit.W_im)
    powers = torch.exp(x.to(torch.complex128).log() @ W.T)
    torch.testing.assert_close(unit(x), powers.real, rtol=1e-12, atol=1e-13)


def test_the_npu_equals_its_formula_at_gates_between_0_and_1() -> None:
    x, unit = inputs(50, 3), NPU(3, 2, epsilon=0.0).double()
    torch.nn.init.uniform_(unit.W_im, -1, 1, generator=torch.Generator().manual_seed(1))
    g = 0.5
    r, k = g * x.abs() + 1 - g, g * math.pi * (x < 0).double()
    z = (r.log() + 1j * k) @ torch.complex(unit.W_re, unit.W_im).T
    torch.testing.assert_close(unit(x), torch.exp(z).real, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("options", [{}, {"gate": False}, {"imaginary": False}, {"clamped": ["W_im"], "init": "nau"}])
def test_gradients_of_outputs_and_penalties_are_right(
    options: dict[str, Any], check_gradients: Callable[[Unit, Tensor], None]
) -> None:
    class Inside(NPU):
        """Its gates and imaginary weights start where they have gradients."""

        def initialisers(self) -> Any:
            def drawn(tensor: Tensor, generator: torch.Generator | None) -> object:
                return tensor.uniform_(0.1, 0.4, generator=generator)

            return super().initialisers() | {name: drawn for name in ("W_im", "g") if getattr(self, name) is not None}

    check_gradients(Inside(3, 2, **options), inputs(4, 3))


def test_it_starts_xavier_uniform_or_as_a_nau_without_imaginary_parts_and_half_open() -> None:
    for init, r in (("xavier_uniform", math.sqrt(6 / 250)), ("nau", nau_range(200, 50))):
        unit = NPU(200, 50, init=init)
        unit.reset_parameters(torch.Generator().manual_seed(0))
        assert 0.999 * r < unit.W_re.abs().max().item() <= r * (1 + 1e-6)
        assert not unit.W_im.any()
        assert (unit.g == 0.5).all()
    small = NPU(2, 1, init="nau")
    assert small.W_re.abs().max() <= 0.5


def test_variants_differ_in_their_parameters() -> None:
    assert [name for name, _ in NPU(3, 2).named_parameters()] == ["W_re", "W_im", "g"]
    assert [name for name, _ in NPU(3, 2, gate=False).named_parameters()] == ["W_re", "W_im"]
    assert [name for name, _ in NPU(3, 2, imaginary=False).named_parameters()] == ["W_re", "g"]
    assert set(NPU(3, 2).weights()) == {"W_re", "W_im"}
    assert set(NPU(3, 2, imaginary=False).weights()) == {"W_re"}


def test_penalties_sum_sizes_and_punish_what_is_between() -> None:
    unit, x = npu_with([[1, -0.5, 0]], g=[1, 0.25, -0.5]), inputs(5, 3)
    penalties = unit.penalties(x)
    assert penalties["l1"].item() == 1.5 + 1.75
    assert penalties["discrete"].item() == pytest.approx((0 + 0.5 + 1) / 3)
    assert penalties["gate"].item() == pytest.approx((0 + 0.25 + 0.5) / 3)
    assert "gate" not in npu_with([[1, 0]]).penalties(x[:, :2])
    for clamped, more in (([], 0.0), (["W_im"], 6 * 0.25)):
        complex_unit = NPU(3, 2, clamped=clamped)
        torch.nn.init.ones_(complex_unit.W_re)
        torch.nn.init.constant_(complex_unit.W_im, 0.25)
        assert complex_unit.penalties(x)["discrete"].item() == more


@torch.no_grad()
def test_only_what_is_named_is_clamped() -> None:
    for clamped in ([], ["W_re"], ["g"], ["W_re", "W_im", "g"]):
        unit = NPU(2, 1, clamped=clamped)
        for parameter in unit.parameters():
            parameter.fill_(-3.0)
        unit.project_()
        expected = {"W_re": -1.0, "W_im": -1.0, "g": 0.0}
        for name, parameter in unit.named_parameters():
            assert (parameter == (expected[name] if name in clamped else -3.0)).all()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"init": "normal"}, "unknown initialisation 'normal'"),
        ({"clamped": ["W"]}, "unknown parameter to clamp 'W'"),
        (
            {"clamped": "W_im", "imaginary": False},
            "unknown parameter to clamp 'W_im'; did you mean 'W_re'? Known: W_re, g.",
        ),
        ({"clamped": ["g"], "gate": False}, "unknown parameter to clamp 'g'"),
        ({"gate": "x"}, "gate must be true or false, got 'x'"),
        ({"epsilon": -1e-7}, "epsilon must lie in [0, 1), got -1e-07"),
        ({"epsilon": "small"}, "epsilon must lie in [0, 1), got small"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        NPU(3, 2, **options)
