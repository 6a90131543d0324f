"""A NAU whose outputs are scaled."""

import torch
from torch import Tensor, nn

from nalu_bench.registry import register
from nalu_bench.units import NAU
from nalu_bench.units.unit import Initialiser, uniform


@register("scaled", version=1)
class Scaled(NAU):
    """y = s ⊙ W x, with a learnt scale for each output; else as `NAU`. Source: none, an example.

    The formula of a NAU reads `weights`, so that scaled weights scale its output.

    >>> unit = Scaled(2, 1)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0, -1.0]]), "s": torch.tensor([2.0])})
    >>> unit(torch.tensor([5.0, 3.0])).tolist()
    [4.0]
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.s = nn.Parameter(torch.empty(out_features))

    def initialisers(self) -> dict[str, Initialiser]:
        return {**super().initialisers(), "s": uniform(0.5, 2.0)}

    def weights(self) -> dict[str, Tensor]:
        return {"W": self.s.unsqueeze(-1) * super().weights()["W"]}
