"""Mass-conserving layers, and the signs of the product."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nalu_bench.errors import UsageError
from nalu_bench.units import MCFC, MulMCFC, Unit


def inputs(*shape: int, low: float = -3.0, high: float = 3.0) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return low + (high - low) * torch.rand(*shape, dtype=torch.float64, generator=generator)


@torch.no_grad()
def exact(cls: type[MCFC], to: list[list[float]], **options: Any) -> Any:
    """A unit that passes every input on to the outputs with a 1, in full."""
    unit = cls(len(to[0]), len(to), **options).double()
    unit.r.copy_(1000 * torch.tensor(to, dtype=torch.float64))
    nn.init.constant_(unit.w, 20.0)
    nn.init.constant_(unit.b, 20.0)
    if isinstance(unit, MulMCFC):
        nn.init.zeros_(unit.c)
        if unit.g is not None:
            nn.init.ones_(unit.g)
    return unit


def test_with_exact_weights_it_adds_exactly() -> None:
    x = (1024 * inputs(50, 3)).round() / 1024  # whose sums are exact in any order
    assert torch.equal(exact(MCFC, [[1, 1, 1]])(x)[:, 0], x[:, 0] + x[:, 1] + x[:, 2])
    y = exact(MCFC, [[1, 1, 0], [0, 0, 1]])(x)
    assert (y - torch.stack([x[:, 0] + x[:, 1], x[:, 2]], -1)).square().mean() == 0


def test_what_enters_is_divided_among_the_outputs() -> None:
    x, unit = inputs(50, 3), MCFC(3, 4).double()
    J = unit.weights()["J"]
    torch.testing.assert_close(J.sum(0), torch.ones(3, dtype=torch.float64))
    nn.init.constant_(unit.w, 40.0)
    torch.testing.assert_close(unit(x).sum(-1), x.sum(-1))


def test_it_equals_its_formula() -> None:
    x, unit = inputs(50, 3), MCFC(3, 2).double()
    nn.init.constant_(unit.b, 0.3)
    o, J = torch.sigmoid(unit.w + 0.3), torch.softmax(unit.r, 0)
    torch.testing.assert_close(unit(x), o * (x @ J.T), rtol=1e-13, atol=1e-15)
    assert torch.equal(unit.weights()["o"], o.view(2, 1).expand(2, 3))
    mass = -(unit.r**2).mean() - (unit.w**2).mean() - 0.09
    torch.testing.assert_close(unit.penalties(x)["mass"], mass)


@pytest.mark.parametrize("sign", ["inalu", "real_npu"])
def test_a_product_with_a_sign_is_exact_on_inputs_of_any_sign(sign: str) -> None:
    x = inputs(200, 3)
    y = exact(MulMCFC, [[1, 1, 0], [0, 0, 1]], sign=sign)(x)
    torch.testing.assert_close(y, torch.stack([x[:, 0] * x[:, 1], x[:, 2]], -1), rtol=1e-13, atol=0)


def test_a_product_without_a_sign_is_exact_on_positive_inputs_and_nan_on_others() -> None:
    x, unit = inputs(50, 2), exact(MulMCFC, [[1, 1]])
    torch.testing.assert_close(unit(x.abs())[:, 0], x.abs().prod(-1), rtol=1e-13, atol=0)
    assert torch.equal(unit(x)[:, 0].isnan(), (x < 0).any(-1))


def test_products_equal_their_formulas() -> None:
    x = inputs(50, 3)
    for sign in ("inalu", "real_npu"):
        unit = MulMCFC(3, 2, sign=sign).double()
        nn.init.constant_(unit.c, 0.3)
        o, J = torch.sigmoid(unit.w + unit.b), torch.softmax(unit.r, 0)
        size = torch.exp(o * (x.abs().log() @ J.T) + 0.3)
        mixed = (x.sign().unsqueeze(1) * J + 1 - J).prod(-1)
        signs = mixed if sign == "inalu" else torch.cos((0.5 * math.pi * (x < 0).double()) @ J.T)
        torch.testing.assert_close(unit(x), size * signs, rtol=1e-12, atol=1e-14)


def test_only_the_real_npus_sign_has_a_gate_and_its_penalty() -> None:
    for sign in ("none", "inalu"):
        assert set(MulMCFC(3, 2, sign=sign).penalties(inputs(5, 3))) == {"mass"}
    unit = MulMCFC(3, 2, sign="real_npu")
    assert unit.penalties(inputs(5, 3))["gate"].item() == 0.5
    nn.init.zeros_(unit.g)
    assert unit.penalties(inputs(5, 3))["gate"].item() == 0


@pytest.mark.parametrize("unit", [MCFC(3, 2), *(MulMCFC(3, 2, sign=sign) for sign in ("none", "inalu"))])
def test_gradients_of_outputs_and_penalties_are_right(
    unit: Unit, check_gradients: Callable[[Unit, Tensor], None]
) -> None:
    check_gradients(unit, inputs(4, 3, low=0.5))


def test_gradients_of_the_cosine_are_right(check_gradients: Callable[[Unit, Tensor], None]) -> None:
    class Inside(MulMCFC):
        """Its gate starts where the penalty has a gradient."""

        def initialisers(self) -> Any:
            return super().initialisers() | {"g": lambda tensor, generator: tensor.fill_(0.3)}

    check_gradients(Inside(3, 2, sign="real_npu"), inputs(4, 3))


def test_it_starts_orthogonal_or_as_the_identity() -> None:
    wide, square = MCFC(5, 3), MCFC(4, 4)
    torch.testing.assert_close(wide.r @ wide.r.T, torch.eye(3), rtol=0, atol=1e-5)
    assert torch.equal(square.r, torch.eye(4))
    assert wide.w.norm().item() == pytest.approx(1, abs=1e-6)
    assert MCFC(2, 1).w.abs().item() == 1
    assert not wide.b.any()
    product = MulMCFC(5, 3, sign="real_npu")
    assert not product.c.any()
    assert (product.g == 0.5).all()


def test_another_sign_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown sign 'realnpu'; did you mean 'real_npu'"):
        MulMCFC(3, 2, sign="realnpu")
