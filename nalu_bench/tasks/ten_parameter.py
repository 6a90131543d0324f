"""The function of four inputs that a two-layer network solves with ten parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nalu_bench.registry import register
from nalu_bench.tasks.subset_sums import SubsetSums


@register("ten_parameter", version=1)
@dataclass
class TenParameter(SubsetSums):
    """t = (x1 + x2)(x1 + x2 + x3 + x4) for the operation mul; other operations take the same two sums.

    Source: Madsen & Johansen 2020, section 1 and Table 1. Deviations: none. The offset is always 0.
    """

    authors_extra: ClassVar[int] = 0

    @property
    def input_size(self) -> int:
        return 4

    def subsets(self) -> tuple[range, range]:
        return range(2), range(4)
