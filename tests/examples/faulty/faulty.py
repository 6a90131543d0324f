"""Units with mistakes."""

from torch import Tensor

from nalu_bench.registry import register
from nalu_bench.units import NAU


@register("raising", version=1)
class Raising(NAU):
    """Raises when it computes."""

    def columns(self, x: Tensor) -> Tensor:
        raise RuntimeError("no such number")


@register("misshapen", version=1)
class Misshapen(NAU):
    """Returns a row too many, which would broadcast in the loss."""

    def columns(self, x: Tensor) -> Tensor:
        return super().columns(x).repeat(2, 1)
