"""A unit of one's own: the Real NPU, which multiplies, divides and takes powers of numbers of any sign."""

import math

import torch
from torch import Tensor, nn

from nalu_bench.registry import register
from nalu_bench.units import Unit
from nalu_bench.units.unit import Initialiser, xavier_uniform


def half(tensor: Tensor, generator: torch.Generator | None) -> object:
    """Initialiser for 1/2."""
    return tensor.fill_(0.5)


@register("my_unit", version=1)  # raise the version whenever a change alters numbers
class MyUnit(Unit):
    """The Real NPU: a product of powers, with a relevance gate that turns inputs into 1.

    y = exp(W log r) ⊙ cos(W k),  r = g ⊙ (|x| + ε) + 1 - g,  k = π g where x < 0, else 0,  g = min(max(ĝ, 0), 1)

    Source: Heim, Pevný & Šmídl 2020, Neural Power Units, section 3, https://arxiv.org/abs/2006.01681.
    Initialisation: W Xavier-uniform, ĝ = 1/2. Deviations: none in the unit; the authors train it with an L1 penalty,
    which is left out here. ε is that of torch's numbers, as in the authors' code.

    Shape: (..., in_features) -> (..., out_features); W is (out_features, in_features) and ĝ is (in_features,).

    >>> unit = MyUnit(2, 1)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0, -1.0]]), "G_hat": torch.ones(2)})
    >>> unit(torch.tensor([-6.0, 3.0])).round(decimals=4).tolist()
    [-2.0]
    """

    neutral = 1.0

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.W = self.matrix()
        self.G_hat = nn.Parameter(torch.empty(in_features))

    def initialisers(self) -> dict[str, Initialiser]:
        return {"W": xavier_uniform, "G_hat": half}

    def weights(self) -> dict[str, Tensor]:
        return {"W": self.W}

    def columns(self, x: Tensor) -> Tensor:  # examples are columns: (..., in, B) -> (..., out, B)
        g = self.G_hat.clamp(0.0, 1.0).unsqueeze(-1)
        r = g * (x.abs() + torch.finfo(x.dtype).eps) + 1 - g
        k = math.pi * g * (x < 0)
        return torch.exp(self.W @ r.log()) * torch.cos(self.W @ k)
