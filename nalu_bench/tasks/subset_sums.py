"""An operation on the sums of two subsets of the inputs: the base class of the arithmetic tasks.

    t = a ∘ b,  a = Σ_{i in A} x_i,  b = Σ_{i in B} x_i

Source: Trask et al. 2018, section 4.1; sizes, ranges and thresholds of Madsen & Johansen 2020, section 4.1.
Letters: N inputs, B examples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nalu_bench.errors import UsageError, unknown
from nalu_bench.tasks.poles import no_expectation
from nalu_bench.tasks.ranges import as_intervals, check_beyond, check_target, intervals_of, intervals_text, of_split
from nalu_bench.tasks.task import Task
from nalu_bench.tasks.thresholds import CRITERIA, FIXED, Criterion, simulated

if TYPE_CHECKING:
    from torch import Tensor

Operations = dict[str, Callable[[Any, Any], Any]]

OPERATIONS: Operations = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "square": lambda a, b: a * a,
    "sqrt": lambda a, b: a**0.5,
}
"""Operation -> function of the two subset sums; `square` and `sqrt` use a alone, `sub` is a - b."""

NOT_ZERO = 2.0**-20
"""What stands in for an input, or a divisor, that is exactly 0: in double precision none is ever drawn."""

LABELS = {"add": "a + b", "sub": "a − b", "mul": "a × b", "div": "a / b", "square": "a²", "sqrt": "√a"}
"""Operation -> its label in tables and figures; one without a label goes by its name."""


def largest_target(operation: str, largest: float, operations: Operations = OPERATIONS) -> float:
    """A bound of a ∘ b, if neither is larger than this; 0 if there is none, as b may be near 0.

    >>> largest_target("add", 3.0), largest_target("mul", 3.0), largest_target("div", 3.0)
    (6.0, 9.0, 0.0)
    """
    if operation == "div":
        return 0.0
    return max(float(abs(operations[operation](largest, b))) for b in (largest, -largest))


@dataclass
class SubsetSums(Task):
    """t = a ∘ b on two contiguous subsets of the inputs, at an offset that is drawn once for each seed.

    Attributes:
        operation: one of add, sub, mul, div, square, sqrt.
        interpolation: range of the inputs in training and validation: [low, high], or two such intervals. Every input
            then falls into either with equal probability.
        extrapolation: the same for the extrapolation split.
        authors_extra: number of inputs by which the authors' threshold simulation lengthens the subsets.
    """

    operations: ClassVar[Operations] = OPERATIONS
    authors_extra: ClassVar[int] = 1
    labels: ClassVar[dict[str, str]] = LABELS

    operation: str
    interpolation: Any
    extrapolation: Any

    def subsets(self) -> tuple[range, range]:
        """A and B at offset 0."""
        raise NotImplementedError

    def setting(self) -> dict[str, Any]:
        return {"operation": self.operation}

    def validate(self) -> None:
        if self.operation not in self.operations:
            raise unknown("operation", self.operation, self.operations)
        ranges = intervals_of(self)
        for key, intervals in ranges.items():
            if self.operation == "sqrt" and min(low for low, _ in intervals) < 0:
                raise UsageError(
                    f"sqrt needs sums that cannot be negative, got {key}={intervals_text(intervals)}; "
                    "raise the lower end to at least 0 or choose another operation."
                )
            largest = max(abs(end) for interval in intervals for end in interval) * self.example_size("extrapolation")
            check_target(key, largest_target(self.operation, largest, self.operations))
        if self.example_size("extrapolation") == self.example_size("train"):  # else examples are longer there
            check_beyond(*ranges.values())

    def program(self) -> tuple[Any, ...]:
        return ("subset_sums", self.input_size)

    def seed_parameters(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The membership matrix (2, N) of A and B at the seed's offset."""
        used = max(subset.stop for subset in self.subsets())
        return {"members": self.membership(int(rng.integers(self.input_size - used + 1)))}

    def membership(self, offset: int) -> np.ndarray:
        """The membership matrix (2, N) of A and B at an offset."""
        members = np.zeros((2, self.input_size), dtype=np.float32)
        for row, subset in zip(members, self.subsets(), strict=True):
            row[offset + subset.start : offset + subset.stop] = 1
        return members

    def intervals(self, split: str) -> np.ndarray:
        return of_split(self, split)

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The index of the operation."""
        return {"operation": np.array(list(self.operations).index(self.operation), np.int64)}

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        inputs = self.drawn(numbers)
        return inputs.mT, self.targets(inputs, seed_parameters, split_parameters)

    def drawn(self, numbers: Tensor) -> Tensor:
        """The inputs, from the random numbers of the intervals."""
        return numbers

    def targets(
        self, totals: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> Tensor:
        """a ∘ b (B, 1), where a and b are the sums of `totals` (N, B) over the subsets."""
        a, b = (seed_parameters["members"] @ totals).unbind(0)
        # All operations are computed and one is picked, so that one compiled program serves them all.
        candidates = [operation(a, b) for operation in self.operations.values()]
        return pick(candidates, split_parameters["operation"]).unsqueeze(-1)

    def threshold(self, criterion: str, samples: int = 1_000_000) -> float | None:
        """Mean squared error of the epsilon-perfect solution on the extrapolation range, by simulation.

        The first layer gives the weight 1 - ε to every input of a subset and ε to all others. The second is perfect:
        E[(((1-ε) a + ε ā) ∘ ((1-ε) b + ε b̄) - a ∘ b)²], ε = 1e-5, ā and b̄ the sums outside the subsets.

        The errors have one sign, so that they cancel where every input is in one of two disjoint subsets: there a sum
        has the threshold 0. In "largest_error" they have the signs that make the error largest, whatever the weights:
        E[max over ± of ((a ± δ) ∘ (b ± δ) - a ∘ b)²], δ = ε Σ|x| over all inputs.

        Source: Madsen & Johansen 2020, section 4.1; their code. "largest_error": ours.

        Args:
            criterion: "task" for the subsets as the task defines them; "authors" for those of the authors' simulation,
                which gave the published thresholds, one input longer, because R's ranges include their end;
                "largest_error" as above; "nalm_1e-5" and "nalm_1e-4" for those of NALM's benchmark, see
                `thresholds.as_nalm`, whose code has both; "mse_1e-5" for 1e-5 itself.
            samples: number of simulated examples; the relative standard error is near 1 / sqrt(samples).

        Returns:
            the threshold in squared target units, computed in float64; None where the expectation is infinite, see
            `without_threshold`.
        """
        if criterion in FIXED:
            return FIXED[criterion]
        if self.without_threshold(criterion):
            return None
        chosen = self._criterion(criterion)
        extra = self._extra(chosen)
        subsets = tuple((subset.start, subset.stop + extra) for subset in self.subsets())
        intervals = tuple(as_intervals("extrapolation", self.extrapolation))
        compute = self.operations[self.operation]
        return simulated(compute, self.operation, self.input_size, subsets, intervals, samples, chosen)

    def without_threshold(self, criterion: str) -> str:
        """Why there is no threshold: a quotient with poles, see `poles`, or what the criterion is not defined for."""
        if criterion in FIXED:
            return ""
        chosen = self._criterion(criterion)
        sizes = [len(subset) for subset in self.subsets()]
        if chosen.operations and (self.operation not in chosen.operations or max(sizes) > 1):
            return f"{criterion} is defined for {', '.join(chosen.operations)} on single inputs"
        if self.operation != "div":
            return ""
        intervals = as_intervals("extrapolation", self.extrapolation)
        terms = min(sizes[1] + self._extra(chosen), self.input_size)
        return no_expectation(terms, self.input_size, intervals, chosen.epsilon, chosen.either_way)

    def _criterion(self, name: str) -> Criterion:
        """The criterion; raises UsageError for one that is not known."""
        if name not in CRITERIA:
            raise unknown("criterion", name, [*CRITERIA, *FIXED])
        return CRITERIA[name]

    def _extra(self, criterion: Criterion) -> int:
        """By how many inputs a criterion lengthens the subsets."""
        return self.authors_extra if criterion.lengthened else 0


@dataclass
class UnjudgedSums(SubsetSums):
    """The base of arithmetic tasks for which the papers have no success criterion."""

    def threshold(self, criterion: str, samples: int = 1_000_000) -> float | None:
        """None: the papers have no success criterion for these tasks."""
        return None

    def without_threshold(self, criterion: str) -> str:
        """Empty: there is none to begin with."""
        return ""


def pick(candidates: Sequence[Tensor], index: Tensor) -> Tensor:
    """candidates[index] for an index that is a tensor."""
    chosen = candidates[0]
    for number, candidate in enumerate(candidates[1:], start=1):
        chosen = candidate.where(index == number, chosen)
    return chosen
