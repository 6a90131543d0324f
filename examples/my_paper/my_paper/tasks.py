"""The square of one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from nalu_bench.registry import register
from nalu_bench.tasks.identity import Identity
from nalu_bench.tasks.measure import Measure

if TYPE_CHECKING:
    from torch import Tensor


@register("square", version=1)
@dataclass
class Square(Identity):
    """t = x², for one number x. Source: none, an example."""

    measures: ClassVar[tuple[Measure, ...]] = (Measure("mse"), Measure("worst"))

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        return numbers.mT, numbers.mT.square()
