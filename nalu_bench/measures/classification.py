"""Classification measures. They take logits (B, C), and labels: integers (B,) or (B, 1), or shares (B, C)."""

from torch import Tensor

from nalu_bench.registry import register


@register("correct", version=1, lowest=0.0, highest=1.0)
def correct(y: Tensor, t: Tensor) -> Tensor:
    """The share of examples whose label has the largest logit."""
    labels = t.argmax(-1) if t.shape == y.shape else t.squeeze(-1) if t.ndim == y.ndim else t
    return (y.argmax(-1) == labels).to(y.dtype).mean()
