"""The correlation of prediction and target as a loss. It takes predictions and targets (B, O)."""

import torch
from torch import Tensor

from nalu_bench.losses.regression import check_shapes
from nalu_bench.registry import register

SMALL = torch.finfo(torch.float32).eps
"""The least variance, and what is added to the standard deviations."""


@register("correlation", version=1)
def correlation(y: Tensor, t: Tensor) -> Tensor:
    """1 - r, with Pearson's r = mean ((y - ȳ) / (s_y + ε) · (t - t̄) / (s_t + ε)), s² = max(mean (y - ȳ)², ε).

    Scale and offset of the prediction have no effect. Over all entries of the batch, ε = 2⁻²³.

    Source: Mistry, Farrahi & Hare 2022, the loss PCC of their code, https://github.com/bmistry4/nalm-robust-nmu
    (`experiments/single_layer.py`). Deviations: none.
    """
    check_shapes(y, t)
    return 1 - (_standardised(y) * _standardised(t)).mean()


def _standardised(values: Tensor) -> Tensor:
    centred = values - values.mean()
    return centred / (centred.square().mean().clamp(min=SMALL).sqrt() + SMALL)
