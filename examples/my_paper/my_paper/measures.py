"""A measure; `Square` takes it."""

from torch import Tensor

from nalu_bench.registry import register


@register("worst", version=1, lowest=0.0)
def worst(y: Tensor, t: Tensor) -> Tensor:
    """max |y - t|."""
    return (y - t).abs().amax()
