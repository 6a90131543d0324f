"""The arithmetic task over time: sums over subsets of the features and over all steps of a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.arithmetic import Arithmetic

if TYPE_CHECKING:
    from torch import Tensor


@register("recurrent_arithmetic", version=1)
@dataclass
class RecurrentArithmetic(Arithmetic):
    """t = a ∘ b,  a = Σ_t Σ_{i in A} x_ti,  b = Σ_t Σ_{i in B} x_ti,  of sequences x_1 ... x_T.

    Source: Trask et al. 2018, section 4.1, the recurrent half of Table 1. Deviations: the
    paper's sizes are not known. All numbers of the extrapolation split are drawn from `extrapolation`. This range may
    equal `interpolation`, because the sequences are longer.

    Attributes:
        length: steps of a sequence in training and validation.
        extrapolation_length: steps in extrapolation.
    """

    inputs: ClassVar[str] = "sequence"
    evaluated: ClassVar[tuple[str, ...]] = ("validation",)
    tested: ClassVar[tuple[str, ...]] = ("extrapolation",)

    length: int
    extrapolation_length: int

    def validate(self) -> None:
        super().validate()
        for key in ("length", "extrapolation_length"):
            if getattr(self, key) < 1:
                raise UsageError(f"task.{key} must be at least 1, got {getattr(self, key)}.")

    def example_size(self, split: str) -> int:
        return self.features * (self.extrapolation_length if split == "extrapolation" else self.length)

    def program(self) -> tuple[Any, ...]:
        return (*super().program(), "sequence", self.length)

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        steps = numbers.view(-1, self.features, numbers.shape[-1])
        return steps.permute(2, 0, 1), self.targets(steps.sum(0), seed_parameters, split_parameters)

    def threshold(self, criterion: str, samples: int = 1_000_000) -> float | None:
        """None: the papers have no success criterion for this task."""
        return None

    def without_threshold(self, criterion: str) -> str:
        """Empty: there is none to begin with."""
        return ""
