"""Regression measures. They take predictions and targets (B, O)."""

from torch import Tensor

from nalu_bench.registry import register

NEGLIGIBLE = 1e-8
"""Absolute errors up to this always count as right. It is the default of `numpy.isclose`."""


@register("mse", version=1, lowest=0.0)
def mse(y: Tensor, t: Tensor) -> Tensor:
    """Mean squared error: mean (y - t)²."""
    return (y - t).square().mean()


@register("mae", version=1, lowest=0.0)
def mae(y: Tensor, t: Tensor) -> Tensor:
    """Mean absolute error: mean |y - t|."""
    return (y - t).abs().mean()


@register("accuracy", version=1, lowest=0.0, highest=1.0)
def accuracy(y: Tensor, t: Tensor, tolerance: float) -> Tensor:
    """The share of predictions with |y - t| <= 1e-8 + tolerance · |t|, the rule of `numpy.isclose`."""
    right = (y - t).abs() <= NEGLIGIBLE + tolerance * t.abs()
    return right.to(t.dtype).mean()


@register("rounds", version=1, lowest=0.0, highest=1.0)
def rounds(y: Tensor, t: Tensor) -> Tensor:
    """The share of examples whose every output rounds to its target."""
    return ((y - t).abs() < 0.5).all(-1).to(y.dtype).mean()
