"""A cell that remembers the last inputs."""

from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.units.unit import Initialiser, Unit


@register("window", version=1)
class Window(Unit):
    """s_t = [x_t, x_{t-1}, ...], a recurrent cell without parameters: of [x_t, s_{t-1}] it keeps the first O entries.

    With a state of twice the size of an input it holds pairs of neighbours.

    Source: none in a paper; a public rebuild of Trask et al. 2018, Table 3, reads pairs of embeddings,
    https://github.com/nkarasovd/Neural_Arithmetic_Logic_Units. Deviations: before the first input stands the initial
    state.

    Shape: (..., in_features) -> (..., out_features), at most as many.

    Raises:
        UsageError for more outputs than inputs.

    >>> import torch
    >>> unit = Window(3, 2)
    >>> unit(torch.tensor([7.0, 5.0, 4.0])).tolist()
    [7.0, 5.0]
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        if out_features > in_features:
            raise UsageError(
                f"a window must have at most as many outputs as inputs, got {out_features} of {in_features}."
            )

    def initialisers(self) -> dict[str, Initialiser]:
        return {}

    def weights(self) -> dict[str, Tensor]:
        return {}

    def columns(self, x: Tensor) -> Tensor:
        return x[..., : self.out_features, :]
