"""A task of one's own: the momentum of two wagons that roll together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nalu_bench.errors import unknown
from nalu_bench.registry import register
from nalu_bench.tasks.ranges import as_intervals, of_split
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:  # torch is not imported here: configurations are checked before it is loaded
    from torch import Tensor


@register("my_task", version=1)  # raise the version whenever a change alters numbers
@dataclass
class MyTask(Task):
    """t = (m₁ + m₂) v, from the inputs (m₁, m₂, v): the momentum of two wagons that roll together.

    Source: none, an example.

    Attributes:
        interpolation: range of the inputs in training and validation, [low, high].
        extrapolation: range of the inputs in the test.
    """

    interpolation: list[float]
    extrapolation: list[float]

    @property
    def input_size(self) -> int:
        return 3

    def validate(self) -> None:
        for key in ("interpolation", "extrapolation"):
            as_intervals(f"task.{key}", getattr(self, key))

    def intervals(self, split: str) -> np.ndarray:
        return of_split(self, split)

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Numbers (..., 3, B) in the split's range give inputs (..., B, 3) and targets (..., B, 1)."""
        x = numbers.mT
        return x, (x[..., :1] + x[..., 1:2]) * x[..., 2:]

    def threshold(self, criterion: str, samples: int = 1_000_000) -> float:
        """Mean squared error of a network that is wrong by one part in 10,000: ε² E[t²] in the test, ε = 1e-4."""
        if criterion != "task":
            raise unknown("criterion", criterion, ["task"])
        low, high = self.extrapolation
        mean, square = (low + high) / 2, (low**2 + low * high + high**2) / 3
        return 1e-4**2 * (2 * square + 2 * mean**2) * square
