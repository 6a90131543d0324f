"""The update gate recurrent network (UGRNN) as a unit over its inputs and its state."""

import math

import torch
from torch import Tensor, nn

from nalu_bench.errors import chosen
from nalu_bench.registry import register
from nalu_bench.units.unit import Initialiser, Unit, uniform

OPEN = 1.0
"""Added to the gate before its sigmoid, so that a new cell keeps its state."""

CANDIDATES = {"tanh": torch.tanh, "relu": torch.relu}


@register("ugrnn", version=1)
class UGRNN(Unit):
    """One step of a UGRNN of H = out_features units: [x, h] -> h'.

    g, c = W [x, h] + b,  h' = σ(g + 1) ⊙ h + (1 - σ(g + 1)) ⊙ s(c)

    Source: Collins, Sohl-Dickstein & Sussillo 2017, section 2 (the update gate RNN), https://arxiv.org/abs/1611.09913;
    the 1, the order of the rows and s = tanh by default are those of `tf.contrib.rnn.UGRNNCell`. Deviations: W, b ~
    U[-1/√H, 1/√H], as the other recurrent cells here have it.

    `weights` names none: its matrix is not meant to be sparse.

    Args:
        activation: s, `tanh` or `relu`.

    Shape: (..., I + H) -> (..., H).

    Raises:
        UsageError for another activation.
        ValueError unless in_features is above out_features.

    >>> unit = UGRNN(3, 2)  # an input of 1, a state of 2
    >>> unit(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(self, in_features: int, out_features: int, activation: str = "tanh") -> None:
        super().__init__(in_features, out_features)
        self.activation = chosen("activation", activation, CANDIDATES)
        if in_features <= out_features:
            raise ValueError(
                f"in_features must be above out_features, got {in_features} and {out_features}: a UGRNN maps [x, h] "
                "to h"
            )
        self.W = nn.Parameter(torch.empty(2 * out_features, in_features))
        self.b = nn.Parameter(torch.empty(2 * out_features))

    def initialisers(self) -> dict[str, Initialiser]:
        r = 1 / math.sqrt(self.out_features)
        return {"W": uniform(-r, r), "b": uniform(-r, r)}

    def weights(self) -> dict[str, Tensor]:
        return {}

    def columns(self, x: Tensor) -> Tensor:
        g, c = (self.W @ x + self.b.unsqueeze(-1)).chunk(2, dim=-2)
        keep = torch.sigmoid(g + OPEN)
        return keep * x[..., -self.out_features :, :] + (1 - keep) * self.activation(c)
