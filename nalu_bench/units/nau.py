"""The neural addition unit (NAU) of Madsen & Johansen 2020."""

import math

from torch import Generator, Tensor

from nalu_bench.errors import unknown
from nalu_bench.registry import register
from nalu_bench.units import functional
from nalu_bench.units.unit import Initialiser, Unit, uniform


def nau_range(in_features: int, out_features: int) -> float:
    """r = min(1/2, √3 · √(2 / (in + out))): Glorot's variance, capped so that W starts away from ±1."""
    return min(0.5, math.sqrt(3) * math.sqrt(2 / (in_features + out_features)))


def beta(tensor: Tensor, generator: Generator | None) -> object:
    """2 B - 1 with B ~ Beta(7, 7), by its definition as the middle one of 13 uniform numbers."""
    numbers = tensor.new_empty(*tensor.shape, 13).uniform_(-1.0, 1.0, generator=generator)
    return tensor.copy_(numbers.median(dim=-1).values)


INITS = ("uniform", "beta")
"""Distributions of the first weights."""


@register("nau", version=1)
class NAU(Unit):
    """A linear layer with weights clamped to [-1, 1] and pulled towards -1, 0 and 1 by a penalty.

    a = W x,  W = min(max(W, -1), 1)
    R_sparse = mean min(|W|, 1 - |W|)

    Source: Madsen & Johansen 2020, eq. 5 to 7, https://arxiv.org/abs/2001.05016. Initialisation: W ~ U[-r, r], see
    `nau_range`. Deviations: none. W is clamped in `forward`, and by `project_` after every step. The authors' other
    penalty, on weights out of bounds, would therefore always be 0 and is left out. With `clamped=False`, their ablation
    "no W-clamp", it is clamped in `forward` alone (`--oob-mode regualized --regualizer-oob 0` of their code).

    Args:
        clamped: whether W is clamped after every step, too.
        init: `uniform`, or `beta` for W ~ 2 Beta(7, 7) - 1, the bNAU of Mistry, Farrahi & Hare 2022 (`--beta-nau` of
            https://github.com/bmistry4/nalm-robust-nmu).

    Shape: (..., in_features) -> (..., out_features).

    >>> import torch
    >>> unit = NAU(2, 1)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0, -2.0]])})
    >>> unit(torch.tensor([5.0, 3.0])).tolist()  # W = [1, -1]
    [2.0]
    """

    neutral = 0.0

    def __init__(self, in_features: int, out_features: int, clamped: bool = True, init: str = "uniform") -> None:
        super().__init__(in_features, out_features)
        if init not in INITS:
            raise unknown("initialisation", init, INITS)
        self.clamped = clamped
        self.init = init
        self.W = self.matrix()

    def initialisers(self) -> dict[str, Initialiser]:
        if self.init == "beta":
            return {"W": beta}
        r = nau_range(self.in_features, self.out_features)
        return {"W": uniform(-r, r)}

    def weights(self) -> dict[str, Tensor]:
        return {"W": self.W.clamp(-1.0, 1.0)}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"sparsity": functional.sparsity_penalty(self.W, 1 - self.W.abs())}

    def project_(self) -> None:
        if self.clamped:
            self.W.clamp_(-1.0, 1.0)

    def columns(self, x: Tensor) -> Tensor:
        return self.weights()["W"] @ x
