"""Sums over subsets of the features and over all steps of a sequence: what makes a static arithmetic task recurrent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from nalu_bench.errors import UsageError
from nalu_bench.tasks.subset_sums import UnjudgedSums

if TYPE_CHECKING:
    from torch import Tensor


@dataclass
class OverTime(UnjudgedSums):
    """A mixin: the static task on the sums over time of the vectors x_1 ... x_T of a sequence.

    Attributes:
        length: steps of a sequence in training and validation.
        extrapolation_length: steps in extrapolation.
    """

    inputs: ClassVar[str] = "sequence"
    evaluated: ClassVar[tuple[str, ...]] = ("validation",)
    tested: ClassVar[tuple[str, ...]] = ("extrapolation",)

    length: int = field(metadata={"most": 10_000})
    extrapolation_length: int = field(metadata={"most": 10_000})

    def validate(self) -> None:
        for key in ("length", "extrapolation_length"):
            if getattr(self, key) < 1:
                raise UsageError(f"task.{key} must be at least 1, got {getattr(self, key)}.")
        same = self.extrapolation == self.interpolation
        if self.extrapolation_length < self.length + same:
            must, why = ("above", ", as the ranges are the same") if same else ("at least", "")
            raise UsageError(
                f"task.extrapolation_length must be {must} task.length={self.length}{why}, got "
                f"{self.extrapolation_length}."
            )
        super().validate()

    def example_size(self, split: str) -> int:
        return self.input_size * (self.extrapolation_length if split == "extrapolation" else self.length)

    def program(self) -> tuple[Any, ...]:
        return (*super().program(), "sequence", self.length)

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        steps = self.drawn(numbers).view(-1, self.input_size, numbers.shape[-1])
        return steps.permute(2, 0, 1), self.targets(steps.sum(0), seed_parameters, split_parameters)
