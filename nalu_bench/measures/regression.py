"""Measures of numbers: prediction and target (B, O)."""

from torch import Tensor

from nalu_bench.registry import register

NEGLIGIBLE = 1e-8
"""The absolute error that is always right, `numpy.isclose`'s default."""


@register("mse", version=1)
def mse(y: Tensor, t: Tensor) -> Tensor:
    """mean (y - t)²."""
    return (y - t).square().mean()


@register("mae", version=1)
def mae(y: Tensor, t: Tensor) -> Tensor:
    """mean |y - t|."""
    return (y - t).abs().mean()


@register("accuracy", version=1)
def accuracy(y: Tensor, t: Tensor, tolerance: float) -> Tensor:
    """The share of predictions with |y - t| <= 1e-8 + tolerance · |t|, as `numpy.isclose` has it."""
    right = (y - t).abs() <= NEGLIGIBLE + tolerance * t.abs()
    return right.to(t.dtype).mean()


@register("rounds", version=1)
def rounds(y: Tensor, t: Tensor) -> Tensor:
    """The share of examples whose every output rounds to its target."""
    return ((y - t).abs() < 0.5).all(-1).to(y.dtype).mean()
