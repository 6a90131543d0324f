"""The root of the mean squared error as a loss. It takes predictions and targets (B, O)."""

from torch import Tensor

from nalu_bench.losses.regression import mse
from nalu_bench.registry import register

SMALLEST = 1e-30
"""Mean squared errors below this count as so much: the root has no gradient at 0."""


@register("rmse", version=1, lowest=0.0)
def rmse(y: Tensor, t: Tensor) -> Tensor:
    """Root of the mean squared error over the batch: √(mean (y - t)²); at 0 its gradient is 0."""
    return mse(y, t).clamp(min=SMALLEST).sqrt()
