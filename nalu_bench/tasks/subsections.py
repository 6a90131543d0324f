"""The arithmetic tasks of Trask et al. 2018: sums over subsections of a vector, or of every vector of a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.over_time import OverTime
from nalu_bench.tasks.subset_sums import LABELS, OPERATIONS, Operations, UnjudgedSums


@register("subsections", version=1)
@dataclass
class Subsections(UnjudgedSums):
    """t = a ∘ b,  a and b the sums of two contiguous subsections of x, each with a length and a place of its own.

    Both lengths and both places are drawn once for each seed; the subsections may overlap. Where the range of
    extrapolation begins at the end of that of training, every example there has sums above all of training.

    Source: Trask et al. 2018, section 4.1 and appendix B. Deviations: the paper states neither the distribution of x
    nor the lengths. Here x is uniform; its range and the lengths are values, see experiments/trask2018.

    Attributes:
        features: number of inputs N.
        lengths: shortest and longest subsection; every length between is as likely.

    Raises:
        UsageError for lengths that no vector of N inputs has.
    """

    operations: ClassVar[Operations] = {**OPERATIONS, "a": lambda a, b: a}
    labels: ClassVar[dict[str, str]] = LABELS | {"a": "a"}

    features: int
    lengths: list[int]

    @property
    def input_size(self) -> int:
        return self.features

    def setting(self) -> dict[str, Any]:
        return {"operation": self.operation, "range": self.interpolation, "lengths": self.lengths}

    def validate(self) -> None:
        if self.features < 1:
            raise UsageError(f"task.features must be at least 1, got {self.features}.")
        super().validate()
        if len(self.lengths) != 2 or not 1 <= self.lengths[0] <= self.lengths[1] <= self.features:
            raise UsageError(
                f"task.lengths must be [shortest, longest] of the subsections, from 1 to task.features="
                f"{self.features}, got {list(self.lengths)}."
            )

    def program(self) -> tuple[Any, ...]:
        return ("subsections", self.features)

    def seed_parameters(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The membership matrix (2, N) of both subsections."""
        members = np.zeros((2, self.features), dtype=np.float32)
        for row in members:
            length = int(rng.integers(self.lengths[0], self.lengths[1] + 1))
            start = int(rng.integers(self.features - length + 1))
            row[start : start + length] = 1
        return {"members": members}


@register("recurrent_subsections", version=1)
@dataclass
class RecurrentSubsections(OverTime, Subsections):
    """t = a ∘ b,  a = Σ_t a_t,  b = Σ_t b_t,  the sums of two subsections of every vector x_1 ... x_T of a sequence.

    Source: Trask et al. 2018, section 4.1 and appendix B: ten features; ten steps in training, 1,000 in extrapolation;
    a seventh operation `a`. Deviations: as in `Subsections`. The numbers of extrapolation have the range of training,
    because the sequences are longer.
    """
