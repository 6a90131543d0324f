"""An embedding as a unit over one-hot vectors."""

from torch import Tensor, nn

from nalu_bench.registry import register
from nalu_bench.units.unit import Initialiser, Unit


@register("embedding", version=1)
class Embedding(Unit):
    """y = E x for a one-hot x: the column of E that belongs to a token.

    Source: `torch.nn.Embedding` (https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html), with the same
    initialisation E ~ N(0, 1). Deviations: the input is one-hot, so that the lookup is a matrix product under `vmap`.
    `weights` is empty, because E is not meant to be sparse.

    Shape: (..., in_features) -> (..., out_features), in_features the number of tokens.

    >>> import torch
    >>> unit = Embedding(3, 2)
    >>> _ = unit.load_state_dict({"E": torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])})
    >>> unit(torch.tensor([0.0, 1.0, 0.0])).tolist()
    [2.0, 5.0]
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.E = self.matrix()

    def initialisers(self) -> dict[str, Initialiser]:
        return {"E": lambda tensor, generator: nn.init.normal_(tensor, generator=generator)}

    def weights(self) -> dict[str, Tensor]:
        return {}

    def columns(self, x: Tensor) -> Tensor:
        return self.E @ x
