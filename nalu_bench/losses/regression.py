"""Regression losses. They take predictions and targets (B, O)."""

from torch import Tensor
from torch.nn import functional

from nalu_bench.errors import UsageError
from nalu_bench.registry import register


@register("mse", version=1, lowest=0.0)
def mse(y: Tensor, t: Tensor) -> Tensor:
    """Mean squared error: mean (y - t)²."""
    check_shapes(y, t)
    return (y - t).square().mean()


@register("smooth_l1", version=1, lowest=0.0)
def smooth_l1(y: Tensor, t: Tensor) -> Tensor:
    """Smooth L1 loss: mean of d²/2 for |d| < 1 and of |d| - 1/2 above, d = y - t (Girshick 2015, eq. 3)."""
    check_shapes(y, t)
    return functional.smooth_l1_loss(y, t)


def check_shapes(y: Tensor, t: Tensor) -> None:
    """Raise UsageError for different shapes, because a subtraction would broadcast them."""
    if y.shape != t.shape:
        raise UsageError(
            f"a prediction must have the shape of its target, got {tuple(y.shape)} and {tuple(t.shape)} for "
            f"{len(t)} examples; choose a model that predicts what the task asks for."
        )
