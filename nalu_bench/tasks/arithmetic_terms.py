"""The static arithmetic task with everything that Trask et al. 2018 leave open as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nalu_bench.errors import UsageError, unknown
from nalu_bench.registry import register
from nalu_bench.tasks.ranges import as_intervals, halves
from nalu_bench.tasks.subset_sums import OPERATIONS, SubsetSums

if TYPE_CHECKING:
    from torch import Tensor

LAWS = ("uniform", "whole", "normal")
GROWN = ("all", "summed")

SMALLEST = 2.0**-25
"""Half the distance of two neighbouring random numbers: it keeps them away from 0, where Φ⁻¹ is infinite."""


@register("arithmetic_terms", version=1)
@dataclass
class ArithmeticTerms(SubsetSums):
    """t = a ∘ b on two contiguous subsets of given sizes, of inputs of a given law.

        uniform   x ~ U[low, high]
        whole     x = floor(y),  y ~ U[low, high]
        normal    x ~ N(mean, deviation²),  the range is [mean, deviation]

    Source: Trask et al. 2018, section 4.1, which states neither sizes nor laws. The values are hypotheses, see
    experiments/trask2018.

    Attributes:
        features: number of inputs N.
        terms: |A| and |B|.
        shared: |A ∩ B|.
        law: one of the above.
        grown: which inputs have the law of `extrapolation` in that split: `all`, or the `summed` ones alone.

    Raises:
        UsageError for sizes, laws and ranges that are impossible.
    """

    features: int
    terms: list[int]
    shared: int
    law: str
    grown: str

    @property
    def input_size(self) -> int:
        return self.features

    def subsets(self) -> tuple[range, range]:
        first, second = self.terms
        start = first - self.shared
        return range(first), range(start, start + second)

    def setting(self) -> dict[str, Any]:
        words = {"law": self.law, "range": self.interpolation, "beyond": self.extrapolation, "grown": self.grown}
        shared = {"shared": self.shared} if self.shared else {}
        return {"operation": self.operation, **words, "terms": self.terms, **shared}

    def validate(self) -> None:
        for key, known in {"law": LAWS, "grown": GROWN}.items():
            if getattr(self, key) not in known:
                raise unknown(f"task.{key}", getattr(self, key), known)
        if self.law == "normal":
            self._validate_normal()
        else:
            self._validate_intervals()
        if len(self.terms) != 2 or min(self.terms) < 1:
            raise UsageError(f"task.terms must be two sizes of at least 1, got {list(self.terms)}.")
        if not 0 <= self.shared <= min(self.terms):
            raise UsageError(f"task.shared must lie between 0 and the smaller of task.terms, got {self.shared}.")
        needed = sum(self.terms) - self.shared
        if needed > self.features:
            raise UsageError(
                f"subsets of {self.terms[0]} and {self.terms[1]} inputs that share {self.shared} need {needed} inputs, "
                f"got task.features={self.features}."
            )

    def _validate_intervals(self) -> None:
        super().validate()
        for key in ("interpolation", "extrapolation"):
            if len(as_intervals(f"task.{key}", getattr(self, key))) > 1:
                raise UsageError(f"task.{key} must be one interval for {self.name}, got {getattr(self, key)}.")

    def _validate_normal(self) -> None:
        if self.operation not in OPERATIONS:
            raise unknown("operation", self.operation, OPERATIONS)
        if self.operation == "sqrt":
            raise UsageError("sqrt needs sums that cannot be negative, and normal inputs can; choose another law.")
        for key in ("interpolation", "extrapolation"):
            limits = getattr(self, key)
            if len(limits) != 2 or not limits[1] > 0:
                raise UsageError(f"task.{key} of normal inputs must be [mean, deviation above 0], got {limits}.")

    def program(self) -> tuple[Any, ...]:
        return ("arithmetic_terms", self.features, self.law)

    def intervals(self, split: str) -> np.ndarray:
        """[0, 1): `sample` stretches the numbers."""
        return halves([(0.0, 1.0)])

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The index of the operation, and (shift, scale) of the summed inputs and of the rest."""
        summed = self.extrapolation if split == "extrapolation" else self.interpolation
        rest = summed if self.grown == "all" else self.interpolation
        return super().split_parameters(split) | {"summed": self._stretch(summed), "rest": self._stretch(rest)}

    def _stretch(self, limits: Any) -> np.ndarray:
        first, second = limits
        return np.array([first, second if self.law == "normal" else second - first], np.float32)

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        summed = (seed_parameters["members"].sum(0) > 0).unsqueeze(-1)
        shift, scale = (
            split_parameters["summed"][place].where(summed, split_parameters["rest"][place]) for place in (0, 1)
        )
        x = shift + scale * self._standard(numbers)
        x = x.floor() if self.law == "whole" else x
        return super().sample(x, seed_parameters, split_parameters)

    def _standard(self, numbers: Tensor) -> Tensor:
        """The law's standard variable of uniform numbers."""
        if self.law != "normal":
            return numbers
        return (2 * (numbers + SMALLEST) - 1).erfinv() * 2**0.5

    def threshold(self, criterion: str, samples: int = 1_000_000) -> float | None:
        """None: the paper has no success criterion."""
        return None

    def without_threshold(self, criterion: str) -> str:
        """Empty: there is none to begin with."""
        return ""
