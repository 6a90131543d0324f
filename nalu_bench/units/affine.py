"""Affine layers, plain and with an activation: the baselines of the papers."""

import torch
from torch import Tensor, nn

from nalu_bench.registry import register
from nalu_bench.units.unit import Initialiser, Unit, kaiming_uniform, xavier_uniform, zeros


@register("linear", version=1)
class Linear(Unit):
    """y = W x + b.

    Source: the baseline of both papers. Initialisation: W Xavier-uniform, b = 0 (Madsen & Johansen's code).
    Deviations: none.
    `weights()` is W alone: the papers' sparsity error leaves the bias out.

    Shape: (..., in_features) -> (..., out_features).
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.W = self.matrix()
        self.b = nn.Parameter(torch.empty(out_features))
        self.reset_parameters()

    def initialisers(self) -> dict[str, Initialiser]:
        return {"W": xavier_uniform, "b": zeros}

    def columns(self, x: Tensor) -> Tensor:
        return self.W @ x + self.b.unsqueeze(-1)

    def weights(self) -> dict[str, Tensor]:
        return {"W": self.W}


@register("relu", version=1)
class ReLU(Linear):
    """y = max(0, W x + b), W Kaiming-uniform, b = 0; else as `Linear`."""

    def initialisers(self) -> dict[str, Initialiser]:
        return {"W": kaiming_uniform, "b": zeros}

    def columns(self, x: Tensor) -> Tensor:
        return torch.relu(super().columns(x))


@register("relu6", version=1)
class ReLU6(ReLU):
    """y = min(6, max(0, W x + b)), W Kaiming-uniform, b = 0; else as `Linear`."""

    def columns(self, x: Tensor) -> Tensor:
        return super().columns(x).clamp(max=6.0)
