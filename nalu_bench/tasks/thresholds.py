"""The mean squared error of a solution whose weights are all wrong by ε, by simulation: the thresholds of sums.

Letters: N inputs, B examples.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from nalu_bench.tasks.ranges import Interval

Operation = Callable[[Any, Any], Any]
Sums = Sequence[np.ndarray]
"""a and b of many examples."""

EPSILON = 1e-5
"""The error of every weight in the epsilon-perfect solution, Madsen & Johansen 2020, section 4.1."""


@dataclass(frozen=True)
class Criterion:
    """A nearly perfect solution, whose error a solved run is below.

    Attributes:
        near: (inputs x (B, N), exact sums, ε, operation) -> the sums of nearly perfect solutions; of each example, the
            one with the largest error counts.
        epsilon: the error of every weight.
        either_way: whether a divisor may be nearer to 0 than it should.
        lengthened: whether the subsets are those of Madsen & Johansen's simulation, see `SubsetSums.authors_extra`.
        operations: those that it is defined for, on subsets of one input; empty for any operation and subset.
    """

    near: Callable[[np.ndarray, Sums, float, str], list[Sums]]
    epsilon: float = EPSILON
    either_way: bool = False
    lengthened: bool = False
    operations: tuple[str, ...] = ()


def in_one_direction(x: np.ndarray, exact: Sums, epsilon: float, operation: str) -> list[Sums]:
    """Sums by the weights 1 - ε inside of a subset and ε outside."""
    every = x.sum(axis=1)
    return [[(1 - epsilon) * part + epsilon * (every - part) for part in exact]]


def in_all_directions(x: np.ndarray, exact: Sums, epsilon: float, operation: str) -> list[Sums]:
    """Sums by weights that are wrong by ε, at the corners of what such weights can reach."""
    reach = epsilon * np.abs(x).sum(axis=1)
    return [
        [part + sign * reach for part, sign in zip(exact, signs, strict=True)] for signs in product((1, -1), repeat=2)
    ]


def as_nalm(x: np.ndarray, exact: Sums, epsilon: float, operation: str) -> list[Sums]:
    """The single inputs a and b of NALM's benchmark, so that a ∘ b has the errors of its simulation.

        a ± b - ε Σ|x|,  (1 - ε)² a b r,  (1 - ε) / (1 + ε) (a / b) r,  r = Π (1 - ε |x_i|) over all other inputs

    Source: Mistry, Farrahi & Hare 2022, https://github.com/bmistry4/nalm-benchmark,
    export/single_layer_task/benchmark/generate_exp_thresholds.r. Deviations: none.
    """
    a, b = exact
    if operation in ("add", "sub"):
        return [[a - epsilon * np.abs(x).sum(axis=1), b]]
    others = np.prod(1 - epsilon * np.abs(x), axis=1) / ((1 - epsilon * np.abs(a)) * (1 - epsilon * np.abs(b)))
    return [[(1 - epsilon) * a * others, (1 + epsilon if operation == "div" else 1 - epsilon) * b]]


NALM = ("add", "sub", "mul", "div")

CRITERIA = {
    "authors": Criterion(in_one_direction, lengthened=True),
    "task": Criterion(in_one_direction),
    "largest_error": Criterion(in_all_directions, either_way=True),
    "nalm_1e-5": Criterion(as_nalm, 1e-5, operations=NALM),
    "nalm_1e-4": Criterion(as_nalm, 1e-4, operations=NALM),
}
"""Name -> criterion, see `SubsetSums.threshold`."""

FIXED = {"mse_1e-5": 1e-5}
"""Name -> threshold that is the same for all operations and ranges, as NALM's benchmark had before March 2022."""


@functools.cache
def simulated(
    compute: Operation, operation: str, inputs: int, subsets: tuple[tuple[int, int], ...],
    intervals: tuple[Interval, ...], samples: int, criterion: Criterion,
) -> float:  # fmt: skip
    """The mean squared error of the nearly perfect solution over random examples, float64.

    Args:
        compute: the operation, called `operation`.
        subsets: first and last index (not included) of A and B among the inputs.
        intervals: of each input, equally probable.
        samples: number of simulated examples.
    """
    rng = np.random.default_rng(0)
    chunk, total = max(1, min(20_000, 2_000_000 // inputs)), 0.0  # 16 MB, whatever the number of inputs
    for done in range(0, samples, chunk):
        x = _inputs(rng, (min(chunk, samples - done), inputs), intervals)
        exact = [x[:, start:stop].sum(axis=1) for start, stop in subsets]
        with np.errstate(invalid="ignore"):  # a sum near 0 may have no root any more
            nearly = criterion.near(x, exact, criterion.epsilon, operation)
            errors = [np.square(compute(*sums) - compute(*exact)) for sums in nearly]
        total += float(np.fmax.reduce(errors).sum())
    return total / samples


def _inputs(rng: np.random.Generator, shape: tuple[int, int], intervals: tuple[Interval, ...]) -> np.ndarray:
    x = rng.uniform(*intervals[0], size=shape)
    for low, high in intervals[1:]:
        x = np.where(rng.random(shape) < 0.5, x, rng.uniform(low, high, size=shape))
    return x
