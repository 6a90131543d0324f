"""Losses of numbers: prediction and target (B, O)."""

from torch import Tensor
from torch.nn import functional

from nalu_bench.registry import register


@register("mse", version=1)
def mse(y: Tensor, t: Tensor) -> Tensor:
    """mean (y - t)²."""
    return (y - t).square().mean()


@register("smooth_l1", version=1)
def smooth_l1(y: Tensor, t: Tensor) -> Tensor:
    """mean of d²/2 for |d| < 1 and |d| - 1/2 above, d = y - t (Girshick 2015, eq. 3)."""
    return functional.smooth_l1_loss(y, t)
