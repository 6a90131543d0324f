"""The large-scale arithmetic task of the NPU's paper: a sum, a product, a reciprocal or a root of sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.arithmetic import Arithmetic
from nalu_bench.tasks.ranges import as_intervals, intervals_text
from nalu_bench.tasks.subset_sums import Operations, UnjudgedSums

USED: Operations = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: 1 / a,
    "sqrt": lambda a, b: a**0.5,
}
"""Operation -> function of the two sums; `div` and `sqrt` use a alone."""


@register("npu_arithmetic", version=1)
@dataclass
class NPUArithmetic(UnjudgedSums, Arithmetic):
    """t = a + b, a b, 1 / a or √a, where a is the sum of the first inputs and b that of later ones, some of both.

    Source: Heim, Pevný & Šmídl 2020, section 4.3 and Table A5 (large-scale arithmetic task),
    https://arxiv.org/abs/2006.01681, and their code: a begins with the first input in every run, and b overlaps with
    it. There is no success criterion. Deviations: none; the range of 1 / a that the table states for the test has
    both signs and so poles, and is refused.

    Attributes: as in `Arithmetic`; `operation` is add, mul, div or sqrt.
    """

    operations: ClassVar[Operations] = USED
    of_two: ClassVar[tuple[str, ...]] = ()  # 1 / a is of one
    labels: ClassVar[dict[str, str]] = {"add": "a + b", "mul": "a × b", "div": "1 / a", "sqrt": "√a"}

    def validate(self) -> None:
        Arithmetic.validate(self)
        for key in ("interpolation", "extrapolation") if self.operation == "div" else ():
            intervals = as_intervals(f"task.{key}", getattr(self, key))
            if min(low for low, _ in intervals) < 0 < max(high for _, high in intervals):
                raise UsageError(
                    f"1 / a needs sums of one sign, got task.{key}={intervals_text(intervals)}, where a may be 0; "
                    "choose a range on one side of 0."
                )

    def program(self) -> tuple[Any, ...]:
        return ("npu_arithmetic", self.input_size)

    def seed_parameters(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The membership matrix (2, N) of a and b, the same for all seeds."""
        return {"members": self.membership(0)}
