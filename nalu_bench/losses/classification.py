"""Classification losses. They take logits (B, C) and integer labels (B,) or (B, 1)."""

from torch import Tensor
from torch.nn import functional

from nalu_bench.registry import register


@register("cross_entropy", version=1)
def cross_entropy(y: Tensor, t: Tensor) -> Tensor:
    """Cross entropy: mean -log softmax(y)_t."""
    labels = t.squeeze(-1) if t.ndim == y.ndim else t
    return functional.cross_entropy(y, labels)
