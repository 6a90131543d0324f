"""The arithmetic task over time: sums over subsets of the features and over all steps of a sequence."""

from __future__ import annotations

from dataclasses import dataclass

from nalu_bench.registry import register
from nalu_bench.tasks.arithmetic import Arithmetic
from nalu_bench.tasks.over_time import OverTime


@register("recurrent_arithmetic", version=1)
@dataclass
class RecurrentArithmetic(OverTime, Arithmetic):
    """t = a ∘ b,  a = Σ_t Σ_{i in A} x_ti,  b = Σ_t Σ_{i in B} x_ti,  of sequences x_1 ... x_T.

    Source: Trask et al. 2018, section 4.1, the recurrent half of Table 1. Deviations: the sizes are those of Madsen &
    Johansen. All numbers of the extrapolation split are drawn from `extrapolation`. This range may equal
    `interpolation`, because the sequences are longer.
    """
