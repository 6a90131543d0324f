"""The static arithmetic task: an operation on the sums of two subsets of many inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.ranges import intervals_of, intervals_text
from nalu_bench.tasks.subset_sums import NOT_ZERO, SubsetSums

if TYPE_CHECKING:
    from torch import Tensor


def _whole(number: float) -> int:
    """A number rounded down to a whole one, but for the rounding of its factors: 0.29 of 100 are 29.

    >>> _whole(0.29 * 100), _whole(0.25 * 10)
    (29, 2)
    """
    return math.floor(round(number, 9))


@register("arithmetic", version=1)
@dataclass
class Arithmetic(SubsetSums):
    """t = a ∘ b on two contiguous subsets of equal size at a random offset.

    Source: Madsen & Johansen 2020, section 4.1 and the code behind it. Where the paper's text and its code differ,
    we follow the code: the overlap is a fraction of the subset, not of the input.

    Attributes:
        features: number of inputs N.
        subset_ratio: |A| / N = |B| / N, rounded down to whole inputs.
        overlap_ratio: |A ∩ B| / |A|, rounded down to whole inputs.
        zeros: whether an input may be exactly 0. Ours are multiples of 2^-24 of the range, so that on [-2, 2] half of
            all runs of 50,000 steps meet one; the authors', drawn in double precision, never are. If not, a 0 counts
            as 2^-20.
    """

    of_two: ClassVar[tuple[str, ...]] = ("sub", "div")
    """The operations that are constant on one subset with itself."""

    features: int
    subset_ratio: float
    overlap_ratio: float
    zeros: bool = field(default=True, kw_only=True, metadata={"before": True})

    @property
    def input_size(self) -> int:
        return self.features

    def subsets(self) -> tuple[range, range]:
        size = _whole(self.subset_ratio * self.features)
        start = size - _whole(self.overlap_ratio * size)
        return range(size), range(start, start + size)

    def validate(self) -> None:
        super().validate()
        if self.features < 1:
            raise UsageError(f"task.features must be at least 1, got {self.features}.")
        for key in ("subset_ratio", "overlap_ratio"):
            if not 0 <= getattr(self, key) <= 1:
                raise UsageError(f"task.{key} must lie between 0 and 1, got {getattr(self, key)}.")
        self._validate_subsets()
        self._validate_divisors()

    def _validate_subsets(self) -> None:
        first, second = self.subsets()
        if not first:
            raise UsageError(
                f"a subset must hold at least 1 input, got task.subset_ratio={self.subset_ratio} of "
                f"task.features={self.features}; raise one of them."
            )
        if first == second and self.operation in self.of_two:
            raise UsageError(
                f"{self.operation} of one subset with itself is constant: two subsets must differ, got "
                f"task.overlap_ratio={self.overlap_ratio}; lower it."
            )
        if second.stop > self.features:
            raise UsageError(
                f"two subsets of {len(first)} inputs that share {len(first) - second.start} need {second.stop} "
                f"inputs, got task.features={self.features}; lower task.subset_ratio or raise task.overlap_ratio."
            )

    def _validate_divisors(self) -> None:
        """Refuse a divisor that is a single input and may be exactly 0: an infinite target ends the training."""
        alone = len(self.subsets()[1]) == 1 and self.example_size("train") == self.input_size
        if not (self.zeros and self.operation == "div" and alone):
            return
        for key, intervals in intervals_of(self).items():
            if any(low <= 0 <= high for low, high in intervals):
                raise UsageError(
                    f"a divisor must not be 0, and {key}={intervals_text(intervals)} holds it: set task.zeros=false, "
                    f"so that a 0 counts as {NOT_ZERO:.2g}, or choose another range."
                )

    def program(self) -> tuple[Any, ...]:
        return super().program() if self.zeros else (*super().program(), "no zeros")

    def drawn(self, numbers: Tensor) -> Tensor:
        return numbers if self.zeros else numbers.where(numbers != 0, NOT_ZERO)
