"""Mass-conserving layers (MCFC, MulMCFC) of Hoedt et al. 2021, and two signs for the product."""

from typing import Any

import torch
from torch import Generator, Tensor, nn

from nalu_bench.errors import unknown
from nalu_bench.registry import register
from nalu_bench.units import functional
from nalu_bench.units.npu import half
from nalu_bench.units.signs import cosine_sign, half_turns, mixed_sign
from nalu_bench.units.unit import Initialiser, Unit, zeros

NONE, INALU, REAL_NPU = "none", "inalu", "real_npu"


def direction(tensor: Tensor, generator: Generator | None) -> object:
    """Initialiser for a vector of length 1 in any direction: an orthogonal matrix (n, 1)."""
    drawn = tensor.normal_(generator=generator)
    return drawn.div_(drawn.norm())


def orthogonal(tensor: Tensor, generator: Generator | None) -> object:
    """Initialiser for an orthogonal matrix."""
    return nn.init.orthogonal_(tensor, generator=generator)


def identity(tensor: Tensor, generator: Generator | None) -> object:
    """Initialiser for the identity."""
    return nn.init.eye_(tensor)


@register("mcfc", version=1)
class MCFC(Unit):
    """A layer that divides every input among the outputs, and lets each output pass in part.

    y = o ⊙ (J x),  o = σ(w + b),  J_oi = exp(r_oi) / Σ_o' exp(r_o'i)
    R_mass = -mean r² - mean w² - mean b²

    Source: Hoedt et al. 2021, MC-LSTM, the fully connected layer of the arithmetic experiments,
    https://arxiv.org/abs/2101.05186, as Mistry has it in https://github.com/bmistry4/nalm-benchmark (`mcfc.py`). The
    auxiliary input is 1. Initialisation: r orthogonal, or the identity where it is square; w of length 1 in any
    direction, b = 0. Deviations: none. No weight is negative: there is no subtraction. With one output J = 1.
    `weights` gives J and o, for every input; the code logs the sparsity of both.

    Shape: (..., in_features) -> (..., out_features).

    >>> unit = MCFC(2, 1)
    >>> _ = unit.load_state_dict({"r": torch.zeros(1, 2), "w": torch.tensor([20.0]), "b": torch.tensor([20.0])})
    >>> round(unit(torch.tensor([5.0, 3.0])).item(), 4)
    8.0
    """

    neutral: float | None = 0.0

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.r = self.matrix()
        self.w = nn.Parameter(torch.empty(out_features))
        self.b = nn.Parameter(torch.empty(out_features))

    def initialisers(self) -> dict[str, Initialiser]:
        return {"r": identity if self.in_features == self.out_features else orthogonal, "w": direction, "b": zeros}

    def weights(self) -> dict[str, Tensor]:
        J = torch.softmax(self.r, dim=-2)
        return {"J": J, "o": self._passed().unsqueeze(-1).expand(J.shape)}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"mass": -self.r.square().mean() - self.w.square().mean() - self.b.square().mean()}

    def columns(self, x: Tensor) -> Tensor:
        return self._passed().unsqueeze(-1) * (torch.softmax(self.r, dim=-2) @ x)

    def _passed(self) -> Tensor:
        return torch.sigmoid(self.w + self.b)


@register("mul_mcfc", version=1)
class MulMCFC(MCFC):
    """MCFC in log space: a product of powers in (0, 1), times a positive number.

    y = exp(MCFC(log |x|) + c) ⊙ s
    s = 1 and log x in place of log |x| ("none"),  s_o = Π_i (sign(x_i) J_oi + 1 - J_oi) ("inalu"),  or
    s_o = cos(Σ_i J_oi ĝ_i π [x_i < 0]),  ĝ = min(max(g, 0), 1) ("real_npu"), with R_gate = mean min(|g|, |1 - g|)

    Source: Hoedt et al. 2021, https://arxiv.org/abs/2101.05186, as Mistry has it with both signs in
    https://github.com/bmistry4/nalm-benchmark (`mcfc.py`, `notes/MCFC_findings.pdf`). Initialisation as in `MCFC`,
    c = 0, g = 1/2. Deviations: none from that code; Hoedt et al. have one output more, which they leave out. Without a
    sign negative inputs give nan, as there. The code logs a sparsity error of c, too; `weights` has no c.

    Args:
        sign: "none", "inalu" or "real_npu".

    Shape: (..., in_features) -> (..., out_features).

    Raises:
        UsageError for another sign.

    >>> unit, far = MulMCFC(2, 1, sign="inalu"), torch.tensor([20.0])
    >>> _ = unit.load_state_dict({"r": torch.zeros(1, 2), "w": far, "b": far, "c": torch.zeros(1)})
    >>> round(unit(torch.tensor([-5.0, 3.0])).item(), 4)
    -15.0
    """

    neutral = 1.0

    def __init__(self, in_features: int, out_features: int, sign: str = NONE) -> None:
        super().__init__(in_features, out_features)
        self.sign = _sign(sign)
        self.c = nn.Parameter(torch.empty(out_features))
        self.g = nn.Parameter(torch.empty(in_features)) if sign == REAL_NPU else None

    def initialisers(self) -> dict[str, Initialiser]:
        gate: dict[str, Initialiser] = {} if self.g is None else {"g": half}
        return super().initialisers() | {"c": zeros} | gate

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        gate = {} if self.g is None else {"gate": functional.sparsity_penalty(self.g, 1 - self.g)}
        return super().penalties(inputs) | gate

    def columns(self, x: Tensor) -> Tensor:
        size = x if self.sign == NONE else x.abs()
        y = torch.exp(super().columns(size.log()) + self.c.unsqueeze(-1))
        return y if self.sign == NONE else y * self._signs(x)

    def _signs(self, x: Tensor) -> Tensor:
        J = torch.softmax(self.r, dim=-2)
        if self.g is None:
            return mixed_sign(x, J)
        return cosine_sign(self.g.clamp(0.0, 1.0).unsqueeze(-1) * half_turns(x), J)


def _sign(given: Any) -> str:
    """The name of a sign. Raises UsageError if there is no such one."""
    if given not in (NONE, INALU, REAL_NPU):
        raise unknown("sign", str(given), (NONE, INALU, REAL_NPU))
    return str(given)
