"""Learning-rate schedules: the factor of the learning rate, from 1 down to `end`, by the share of the steps done."""

import math

import torch
from torch import Tensor

from nalu_bench.registry import register


@register("constant", version=1, unread=["schedule_end"])
def constant(share: Tensor, end: float) -> Tensor:
    """1 at every step; `end` is not used."""
    return torch.ones_like(share)


@register("linear", version=1)
def linear(share: Tensor, end: float) -> Tensor:
    """1 - (1 - end) share."""
    return 1 - (1 - end) * share


@register("cosine", version=1)
def cosine(share: Tensor, end: float) -> Tensor:
    """end + (1 - end) (1 + cos(π share)) / 2 (Loshchilov & Hutter 2017, eq. 5, without restarts)."""
    return end + (1 - end) * (1 + torch.cos(math.pi * share)) / 2
