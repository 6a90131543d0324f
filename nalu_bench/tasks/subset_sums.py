"""An operation on the sums of two subsets of the inputs: the base class of the arithmetic tasks.

    t = a ∘ b,  a = Σ_{i in A} x_i,  b = Σ_{i in B} x_i

Source: Trask et al. 2018, section 4.1; sizes, ranges and thresholds of Madsen & Johansen 2020, section 4.1.
Letters: N inputs, B examples.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nalu_bench.errors import UsageError, unknown
from nalu_bench.tasks.poles import no_expectation
from nalu_bench.tasks.ranges import Interval, as_intervals, check_target, intervals_text, of_split
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "square": lambda a, b: a * a,
    "sqrt": lambda a, b: a**0.5,
}
"""Operation -> function of the two subset sums; `square` and `sqrt` use a alone, `sub` is a - b."""

LABELS = {"add": "a + b", "sub": "a − b", "mul": "a × b", "div": "a / b", "square": "a²", "sqrt": "√a"}
"""Operation -> its label in tables and figures; one without a label goes by its name."""

CRITERIA = ("authors", "task", "largest_error")
EPSILON = 1e-5
"""The error of every weight in the epsilon-perfect solution, Madsen & Johansen 2020, section 4.1."""


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

    operations: ClassVar[dict[str, Callable[[Any, Any], Any]]] = OPERATIONS
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
        for key in ("interpolation", "extrapolation"):
            intervals = as_intervals(f"task.{key}", getattr(self, key))
            if self.operation == "sqrt" and min(low for low, _ in intervals) < 0:
                raise UsageError(
                    f"sqrt needs sums that cannot be negative, got task.{key}={intervals_text(intervals)}; "
                    "raise the lower end to at least 0 or choose another operation."
                )
            largest = max(abs(end) for interval in intervals for end in interval) * self.example_size("extrapolation")
            check_target(
                f"task.{key}", 0.0 if self.operation == "div" else self.operations[self.operation](largest, -largest)
            )

    def program(self) -> tuple[Any, ...]:
        return ("subset_sums", self.input_size)

    def seed_parameters(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The membership matrix (2, N) of A and B at the seed's offset."""
        subsets = self.subsets()
        used = max(subset.stop for subset in subsets)
        offset = int(rng.integers(self.input_size - used + 1))
        members = np.zeros((2, self.input_size), dtype=np.float32)
        for row, subset in zip(members, subsets, strict=True):
            row[offset + subset.start : offset + subset.stop] = 1
        return {"members": members}

    def intervals(self, split: str) -> np.ndarray:
        return of_split(self, split)

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The index of the operation."""
        return {"operation": np.array(list(self.operations).index(self.operation), np.int64)}

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        return numbers.mT, self.targets(numbers, seed_parameters, split_parameters)

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
                "largest_error" as above.
            samples: number of simulated examples; the relative standard error is near 1 / sqrt(samples).

        Returns:
            the threshold in squared target units, computed in float64; None where the expectation is infinite, see
            `without_threshold`.
        """
        if self.without_threshold(criterion):
            return None
        extra = self._extra(criterion)
        near = _in_all_directions if criterion == "largest_error" else _in_one_direction
        subsets = tuple((subset.start, subset.stop + extra) for subset in self.subsets())
        intervals = tuple(as_intervals("extrapolation", self.extrapolation))
        return _simulated_threshold(self.operation, self.input_size, subsets, intervals, samples, near)

    def without_threshold(self, criterion: str) -> str:
        """Why a quotient has no threshold, see `poles`; all other operations have one."""
        extra = self._extra(criterion)
        if self.operation != "div":
            return ""
        intervals = as_intervals("extrapolation", self.extrapolation)
        terms = min(len(self.subsets()[1]) + extra, self.input_size)
        return no_expectation(terms, self.input_size, intervals, EPSILON, criterion == "largest_error")

    def _extra(self, criterion: str) -> int:
        """By how many inputs a criterion lengthens the subsets; raises UsageError for one that is not known."""
        if criterion not in CRITERIA:
            raise unknown("criterion", criterion, CRITERIA)
        return self.authors_extra if criterion == "authors" else 0


@dataclass
class UnjudgedSums(SubsetSums):
    """The base of arithmetic tasks for which the papers have no success criterion."""

    def threshold(self, criterion: str, samples: int = 1_000_000) -> float | None:
        """None: the papers have no success criterion for these tasks."""
        return None

    def without_threshold(self, criterion: str) -> str:
        """Empty: there is none to begin with."""
        return ""


Sums = Sequence[np.ndarray]
"""a and b of many examples."""


def _in_one_direction(x: np.ndarray, exact: Sums) -> list[Sums]:
    """Sums by the weights 1 - ε inside of a subset and ε outside."""
    every = x.sum(axis=1)
    return [[(1 - EPSILON) * part + EPSILON * (every - part) for part in exact]]


def _in_all_directions(x: np.ndarray, exact: Sums) -> list[Sums]:
    """Sums by weights that are wrong by ε, at the corners of what such weights can reach."""
    reach = EPSILON * np.abs(x).sum(axis=1)
    return [
        [part + sign * reach for part, sign in zip(exact, signs, strict=True)] for signs in product((1, -1), repeat=2)
    ]


@functools.cache
def _simulated_threshold(
    operation: str, inputs: int, subsets: tuple[tuple[int, int], ...], intervals: tuple[Interval, ...], samples: int,
    near: Callable[[np.ndarray, Sums], list[Sums]],
) -> float:  # fmt: skip
    rng = np.random.default_rng(0)
    chunk = max(1, min(20_000, 2_000_000 // inputs))  # 16 MB, whatever the number of inputs
    compute, total = OPERATIONS[operation], 0.0
    for done in range(0, samples, chunk):
        x = _inputs(rng, (min(chunk, samples - done), inputs), intervals)
        exact = [x[:, start:stop].sum(axis=1) for start, stop in subsets]
        with np.errstate(invalid="ignore"):  # a sum near 0 may have no root any more
            errors = [np.square(compute(*sums) - compute(*exact)) for sums in near(x, exact)]
        total += float(np.fmax.reduce(errors).sum())
    return total / samples


def _inputs(rng: np.random.Generator, shape: tuple[int, int], intervals: tuple[Interval, ...]) -> np.ndarray:
    x = rng.uniform(*intervals[0], size=shape)
    for low, high in intervals[1:]:
        x = np.where(rng.random(shape) < 0.5, x, rng.uniform(low, high, size=shape))
    return x


def pick(candidates: Sequence[Tensor], index: Tensor) -> Tensor:
    """candidates[index] for an index that is a tensor."""
    chosen = candidates[0]
    for number, candidate in enumerate(candidates[1:], start=1):
        chosen = candidate.where(index == number, chosen)
    return chosen
