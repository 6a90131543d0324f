"""An operation on all inputs, for a single unit to learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nalu_bench.errors import UsageError, unknown
from nalu_bench.registry import register
from nalu_bench.tasks.measure import Measure
from nalu_bench.tasks.ranges import check_beyond, check_target, intervals_of, intervals_text, of_split
from nalu_bench.tasks.task import Probes, Task

if TYPE_CHECKING:
    from torch import Tensor

SUMS = ("add", "sub", "neg_sum", "signed_sum")
POWERS = {"square": 2.0, "sqrt": 0.5}
OPERATIONS = (*SUMS, "mul", "div", *POWERS)

SYMBOLS = {
    "add": "+", "sub": "−", "mul": "×", "div": "/", "sqrt": "√x", "square": "x²", "neg_sum": "0 −", "signed_sum": "±",
}  # fmt: skip
"""Operation -> its label in tables and figures; one without a label goes by its name."""


@register("operands", version=1)
@dataclass
class Operands(Task):
    """t = x1 ∘ x2 ∘ ... ∘ xn of n inputs.

        add         x1 + ... + xn               mul     x1 · ... · xn
        sub         x1 - x2 - ... - xn          div     x1 / x2 / ... / xn
        neg_sum     0 - x1 - ... - xn           square  x1²   (n = 1)
        signed_sum  s1 x1 + ... + sn xn         sqrt    √x1   (n = 1)

    Source: the IIT Indore report, sections 3 and 4, and its code. Deviations: every batch is drawn afresh, while the
    report draws 10,000 examples once.

    Attributes:
        operation: one of the above.
        operands: n.
        signs: s1 ... sn of a signed_sum, each 1 or -1; empty for other operations.
        interpolation: range of the inputs in training and validation, [low, high] or two such intervals.
        extrapolation: the same for the test.
    """

    evaluated: ClassVar[tuple[str, ...]] = ("validation",)
    tested: ClassVar[tuple[str, ...]] = ("test",)
    measures: ClassVar[tuple[Measure, ...]] = (
        Measure("mse"),
        Measure("mae"),
        Measure("accuracy", {"tolerance": 0.1}),
        Measure("accuracy", {"tolerance": 1e-5}),
    )
    labels: ClassVar[dict[str, str]] = SYMBOLS

    operation: str
    operands: int
    signs: list[int]
    interpolation: Any
    extrapolation: Any

    @property
    def input_size(self) -> int:
        return self.operands

    def setting(self) -> dict[str, Any]:
        return {"operation": self.operation, "operands": self.operands}

    def validate(self) -> None:
        if self.operation not in OPERATIONS:
            raise unknown("operation", self.operation, OPERATIONS)
        if self.operands < 1:
            raise UsageError(f"task.operands must be at least 1, got {self.operands}.")
        if self.operation in POWERS and self.operands != 1:
            raise UsageError(f"{self.operation} takes one number, got task.operands={self.operands}.")
        needed = self.operands if self.operation == "signed_sum" else 0
        if len(self.signs) != needed or not set(self.signs) <= {1, -1}:
            raise UsageError(
                f"task.signs must list {needed or 'no'} signs, each 1 or -1, for {self.operation} with "
                f"task.operands={self.operands}, got {list(self.signs)}."
            )
        ranges = intervals_of(self)
        for key, intervals in ranges.items():
            if self.operation == "sqrt" and min(low for low, _ in intervals) < 0:
                raise UsageError(
                    f"sqrt needs inputs of at least 0, got {key}={intervals_text(intervals)}; raise the lower end."
                )
            check_target(key, self._largest(max(abs(end) for interval in intervals for end in interval)))
        trained, tested = ranges.values()
        if trained != tested:  # the IIT report tests as it trains
            check_beyond(trained, tested)

    def _largest(self, number: float) -> float:
        """A bound of the target, if no input is larger than this number."""
        if self.operation == "div":
            return 0.0  # there is none if a divisor may be near 0
        return number * self.operands if self.operation in SUMS else number ** max(2, self.operands)

    def program(self) -> tuple[Any, ...]:
        return (self.operands,)

    def intervals(self, split: str) -> np.ndarray:
        return of_split(self, split)

    def coefficients(self) -> np.ndarray:
        """The factors (n,) of a sum, or the exponents of a product."""
        values = np.ones(self.operands, np.float32)
        if self.operation in ("sub", "div"):
            values[1:] = -1
        elif self.operation == "neg_sum":
            values[:] = -1
        elif self.operation == "signed_sum":
            values[:] = self.signs
        elif self.operation in POWERS:
            values[:] = POWERS[self.operation]
        return values

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        return {"coefficients": self.coefficients(), "is_sum": np.array(self.operation in SUMS)}

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        # Both are computed and one is picked, so that one compiled program serves all operations on n numbers.
        coefficients = split_parameters["coefficients"].unsqueeze(-1)
        total, product = (coefficients * numbers).sum(0), (numbers**coefficients).prod(0)
        return numbers.mT, total.where(split_parameters["is_sum"], product).unsqueeze(-1)

    def probes(self) -> Probes | None:
        """The unit vectors, for a signed sum: on them a unit without bias predicts its own weights."""
        if self.operation != "signed_sum":
            return None
        labels = [f"x{number}" for number in range(1, self.operands + 1)]
        return Probes(labels, np.eye(self.operands, dtype=np.float32), self.coefficients()[:, None])
