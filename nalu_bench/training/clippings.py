"""Clipping of gradients, for each seed on its own. Gradients are stacked: name -> (S, ...)."""

import torch
from torch import Tensor

from nalu_bench.registry import register

Gradients = dict[str, Tensor]


@register("none", version=1, unread=["clip_at"])
def none(gradients: Gradients, limit: float) -> Gradients:
    """The gradients unchanged; `limit` is not used."""
    return gradients


@register("norm", version=1)
def norm(gradients: Gradients, limit: float) -> Gradients:
    """g min(1, limit / (|g| + 1e-6)), |g| over all gradients of a seed together, as `torch.nn.utils.clip_grad_norm_`.

    Source: Pascanu et al. 2013, algorithm 1. Deviations: none.
    """
    squares = torch.stack([gradient.flatten(1).square().sum(1) for gradient in gradients.values()])
    factor = (limit / (squares.sum(0).sqrt() + 1e-6)).clamp(max=1.0)
    return {name: g * factor.view(-1, *[1] * (g.ndim - 1)) for name, g in gradients.items()}


@register("value", version=1)
def value(gradients: Gradients, limit: float) -> Gradients:
    """min(max(g, -limit), limit), as `torch.nn.utils.clip_grad_value_`."""
    return {name: gradient.clamp(-limit, limit) for name, gradient in gradients.items()}
