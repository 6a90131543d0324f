"""A linear layer whose weights are a bounded function of free ones."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from nalu_bench.errors import chosen
from nalu_bench.registry import register
from nalu_bench.units.unit import Initialiser, Unit, xavier_normal, zeros

SQUASHES: dict[str, Callable[[Tensor], Tensor]] = {"sigmoid": torch.sigmoid, "tanh": torch.tanh}


@register("squashed", version=1)
class Squashed(Unit):
    """y = s(Ŵ) x + b with s = σ or tanh: the constraints of a NAC₊, one at a time.

    Source: Trask et al. 2018, Table 4, https://arxiv.org/abs/1808.00508. Initialisation: Ŵ Xavier-normal, b = 0; the
    paper states none. Deviations: none known.

    Args:
        squash: `sigmoid` or `tanh`.
        bias: whether there is a b.

    Shape: (..., in_features) -> (..., out_features). Raises: UsageError for another squash.

    >>> unit = Squashed(2, 1, squash="tanh")
    >>> _ = unit.load_state_dict({"W_hat": torch.tensor([[20.0, -20.0]]), "b": torch.tensor([0.5])})
    >>> unit(torch.tensor([5.0, 3.0])).tolist()  # W = [1, -1]
    [2.5]
    """

    def __init__(self, in_features: int, out_features: int, squash: str = "tanh", bias: bool = True) -> None:
        super().__init__(in_features, out_features)
        chosen("squash of a linear layer", squash, SQUASHES)
        self.squash = squash
        self.W_hat = self.matrix()
        self.b = nn.Parameter(torch.empty(out_features)) if bias else None

    def initialisers(self) -> dict[str, Initialiser]:
        bias: dict[str, Initialiser] = {} if self.b is None else {"b": zeros}
        return {"W_hat": xavier_normal} | bias

    def weights(self) -> dict[str, Tensor]:
        return {"W": SQUASHES[self.squash](self.W_hat)}

    def columns(self, x: Tensor) -> Tensor:
        y = self.weights()["W"] @ x
        return y if self.b is None else y + self.b.unsqueeze(-1)
