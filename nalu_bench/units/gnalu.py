"""The NALU in base of the golden ratio (G-NALU) of Rana, Malhi & Främling 2019."""

import math

import torch
from torch import Tensor

from nalu_bench.registry import register
from nalu_bench.units import functional
from nalu_bench.units.nalu import NALU

BASE = math.log((1 + math.sqrt(5)) / 2)
"""log φ, φ the golden ratio. With base φ, tanh and σ are those of base e at BASE times the argument."""


@register("g_nalu", version=1)
class GNALU(NALU):
    """G-NALU: a NALU whose tanh, σ, exp and log have the golden ratio φ as their base, so that their slopes are half.

    tanh_φ(z) = (φ^{2z} - 1) / (φ^{2z} + 1),  σ_φ(z) = 1 / (1 + φ^{-z}),  g = σ_φ(G x),  y = g ⊙ a + (1 - g) ⊙ m,
    a = W x,  m = φ^{W log_φ(|x| + ε)},  W = tanh_φ(Ŵ) ⊙ σ_φ(M̂),  ε = 1e-7

    Source: Rana, Malhi & Främling 2019, Exploring Numerical Calculations with CalcNet,
    https://ieeexplore.ieee.org/document/8995315, as Mistry, Farrahi & Hare 2022 have it in their code,
    https://github.com/bmistry4/nalm-benchmark. Initialisation as in `NALU`, as there. Deviations: none in the formula.
    It is computed as tanh(z log φ), σ(z log φ) and exp(W log(|x| + ε)), which are equal and do not overflow: the base
    of the log space has no effect.

    Args:
        shared, init: as in `NALU`.

    Shape: (..., in_features) -> (..., out_features).

    >>> unit, forty = GNALU(2, 1), torch.tensor([[40.0, 40.0]])
    >>> _ = unit.load_state_dict({"G": -forty, "W_hat": forty, "M_hat": forty})
    >>> round(unit(torch.tensor([2.0, 3.0])).item(), 4)  # the gate is open for the product
    6.0
    """

    def weight(self, W_hat: Tensor, M_hat: Tensor) -> Tensor:
        return super().weight(BASE * W_hat, BASE * M_hat)

    def columns(self, x: Tensor) -> Tensor:
        weights = self.weights()
        a = weights["W"] @ x
        m = functional.log_space_product(x, weights.get("W_mul", weights["W"]))
        g = torch.sigmoid(BASE * (self.G @ x))
        return g * a + (1 - g) * m

    def gates(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"g": torch.sigmoid(BASE * (inputs @ self.G.mT))}
