"""The gated recurrent unit (GRU) as a unit over its inputs and its state."""

import math

import torch
from torch import Tensor, nn

from nalu_bench.registry import register
from nalu_bench.units.unit import Initialiser, Unit, uniform


@register("gru", version=1)
class GRU(Unit):
    """One step of a GRU of H = out_features units: [x, h] -> h'.

    r, z = σ(W [x, h] + b),  n = tanh(U x + u + r ⊙ (V h + v)),  h' = (1 - z) ⊙ n + z ⊙ h

    Source: Cho et al. 2014, https://arxiv.org/abs/1406.1078, in the form of `torch.nn.GRU`. Initialisation as there:
    all ~ U[-1/√H, 1/√H]. Deviations: one bias for r and z each, where torch adds up two.

    `weights` names none: its matrices are not meant to be sparse.

    Shape: (..., I + H) -> (..., H).

    Raises:
        ValueError unless in_features is above out_features.

    >>> unit = GRU(3, 2)  # an input of 1, a state of 2
    >>> unit(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        inputs = in_features - out_features
        if inputs < 1:
            raise ValueError(
                f"in_features must be above out_features, got {in_features} and {out_features}: a GRU maps [x, h] to h"
            )
        self.W = nn.Parameter(torch.empty(2 * out_features, in_features))
        self.b = nn.Parameter(torch.empty(2 * out_features))
        self.U = nn.Parameter(torch.empty(out_features, inputs))
        self.u = nn.Parameter(torch.empty(out_features))
        self.V = nn.Parameter(torch.empty(out_features, out_features))
        self.v = nn.Parameter(torch.empty(out_features))

    def initialisers(self) -> dict[str, Initialiser]:
        r = 1 / math.sqrt(self.out_features)
        return dict.fromkeys(("W", "b", "U", "u", "V", "v"), uniform(-r, r))

    def weights(self) -> dict[str, Tensor]:
        return {}

    def columns(self, x: Tensor) -> Tensor:
        inputs, h = x[..., : -self.out_features, :], x[..., -self.out_features :, :]
        r, z = torch.sigmoid(self.W @ x + self.b.unsqueeze(-1)).chunk(2, dim=-2)
        n = torch.tanh(self.U @ inputs + self.u.unsqueeze(-1) + r * (self.V @ h + self.v.unsqueeze(-1)))
        return (1 - z) * n + z * h
