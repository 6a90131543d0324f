"""A loss."""

from torch import Tensor

from nalu_bench.registry import register


@register("log_cosh", version=1)
def log_cosh(y: Tensor, t: Tensor) -> Tensor:
    """mean log cosh(y - t)."""
    return (y - t).cosh().log().mean()
