"""Classification losses. They take logits (B, C), and labels: integers (B,) or (B, 1), or shares (B, C)."""

from torch import Tensor
from torch.nn import functional

from nalu_bench.registry import register


@register("cross_entropy", version=1, lowest=0.0, outputs=2)
def cross_entropy(y: Tensor, t: Tensor) -> Tensor:
    """Cross entropy: mean -log softmax(y)_t, or mean -Σ_c t_c log softmax(y)_c."""
    labels = t.squeeze(-1) if t.ndim == y.ndim and t.shape != y.shape else t
    return functional.cross_entropy(y, labels)
