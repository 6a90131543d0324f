"""The long short-term memory (LSTM) as a unit over its inputs and its state."""

import math

import torch
from torch import Tensor, nn

from nalu_bench.registry import register
from nalu_bench.units.unit import Initialiser, Unit, uniform


@register("lstm", version=1, states=2)
class LSTM(Unit):
    """One step of an LSTM of H = out_features / 2 units: [x, h, c] -> [h', c'].

    i, f, g, o = W [x, h] + b,  c' = σ(f) ⊙ c + σ(i) ⊙ tanh(g),  h' = σ(o) ⊙ tanh(c')

    Source: Hochreiter & Schmidhuber 1997, https://doi.org/10.1162/neco.1997.9.8.1735, with the forget gate of Gers et
    al. 2000, in the order of gates of `torch.nn.LSTM`. Initialisation as there: W, b ~ U[-1/√H, 1/√H]. Deviations: one
    bias, where torch adds two.

    The step is one matrix product and elementwise functions, so that it runs under `vmap` and compiles. `weights` is
    empty, because the matrices are not meant to be sparse.

    Shape: (..., I + 2 H) -> (..., 2 H).

    Raises:
        ValueError unless out_features is even and below in_features.

    >>> unit = LSTM(5, 4)  # an input of 1, an output and a memory of 2 each
    >>> unit(torch.zeros(7, 5)).shape
    torch.Size([7, 4])
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        if out_features % 2 or in_features <= out_features:
            raise ValueError(
                f"out_features must be even and below in_features, got {out_features} and {in_features}: an LSTM maps "
                "[x, h, c] to [h, c]"
            )
        self.hidden = out_features // 2
        self.W = nn.Parameter(torch.empty(4 * self.hidden, in_features - self.hidden))
        self.b = nn.Parameter(torch.empty(4 * self.hidden))

    def initialisers(self) -> dict[str, Initialiser]:
        r = 1 / math.sqrt(self.hidden)
        return {"W": uniform(-r, r), "b": uniform(-r, r)}

    def weights(self) -> dict[str, Tensor]:
        return {}

    def columns(self, x: Tensor) -> Tensor:
        xh, c = x[..., : -self.hidden, :], x[..., -self.hidden :, :]
        return self._state(self.W @ xh + self.b.unsqueeze(-1), c)

    def read(self, x: Tensor) -> Tensor:
        """W_x x + b."""
        return self.W[:, : -self.hidden] @ x + self.b.unsqueeze(-1)

    def advance(self, read: Tensor, state: Tensor) -> Tensor:
        h, c = state.chunk(2, dim=-2)
        return self._state(read + self.W[:, -self.hidden :] @ h, c)

    def _state(self, gates: Tensor, c: Tensor) -> Tensor:
        i, f, g, o = gates.chunk(4, dim=-2)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.cat([torch.sigmoid(o) * torch.tanh(c), c], dim=-2)
