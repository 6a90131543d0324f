"""The arithmetic tasks of the iNALU's paper: an operation on two inputs, or on sums of inputs, fixed examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nalu_bench.errors import UsageError, unknown
from nalu_bench.registry import register
from nalu_bench.tasks.distributions import Distribution, as_distribution
from nalu_bench.tasks.ranges import check_beyond, check_target
from nalu_bench.tasks.subset_sums import LABELS, NOT_ZERO, OPERATIONS, largest_target, pick
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

USED = ("add", "sub", "mul", "div")

SOLVED = 1e-5
"""Mean squared error below which their code counts a run as a success."""

FIRST, DRAWN = "first", "drawn"

AT_ONCE = 400_000
"""Numbers that are evaluated at once: 1.6 MB a seed and unit."""


@register("inalu_arithmetic", version=1)
@dataclass
class InaluArithmetic(Task):
    """t = a ∘ b on fixed examples: a and b are two of the inputs, or sums of inputs that lie anywhere among them.

    Source: Schlör, Ring & Hotho 2020, https://doi.org/10.3389/frai.2020.00071, and their code. The examples are drawn
    once a seed and gone through in the same order in every epoch. Deviations: numbers and targets are computed in
    single precision, inputs are multiples of 2^-24 between the quantiles 0 and 1; a divisor of 0, which double
    precision never meets, counts as 2^-20; all seeds share the examples that they are evaluated on, each with its own
    subsets.

    Attributes:
        operation: add, sub, mul or div; sub is a - b.
        features: number of inputs, at least 2.
        members: "first": a is the first input, b the second, others have no say. "drawn": every input belongs to a with
            probability 1/2, to b with 1/4, and to neither with 1/4, drawn once a seed.
        interpolation: distribution of the inputs in training and validation, see `distributions.Distribution`.
        extrapolation: the same for the extrapolation split.
        training: number of training examples.
    """

    labels: ClassVar[dict[str, str]] = LABELS

    operation: str
    features: int
    members: str
    interpolation: Any
    extrapolation: Any
    training: int

    @property
    def input_size(self) -> int:
        return self.features

    @property
    def repeated(self) -> int:
        return self.training

    def distribution(self, split: str) -> Distribution:
        key = "interpolation" if split in ("train", "validation") else "extrapolation"
        return as_distribution(f"task.{key}", getattr(self, key))

    def setting(self) -> dict[str, Any]:
        return {"operation": self.operation, "range": self.distribution("train").told()}

    def validate(self) -> None:
        if self.operation not in USED:
            raise unknown("operation", self.operation, USED)
        if self.members not in (FIRST, DRAWN):
            raise unknown("members", self.members, (FIRST, DRAWN))
        if self.features < 2:
            raise UsageError(f"task.features must be at least 2, got {self.features}.")
        if self.training < 1:
            raise UsageError(f"task.training must be at least 1, got {self.training}.")
        added = self.features if self.members == DRAWN else 1
        given = {"task.interpolation": self.interpolation, "task.extrapolation": self.extrapolation}
        found = {key: as_distribution(key, value) for key, value in given.items()}
        for key, one in found.items():
            check_target(key, largest_target(self.operation, added * max(map(abs, one.ends()))))
        if {one.kind for one in found.values()} == {"uniform"}:  # others differ in more than their ends
            check_beyond(*([one.ends()] for one in found.values()))

    def program(self) -> tuple[Any, ...]:
        return (self.features,)

    def chunk(self, split: str) -> int | None:
        return None if self.features <= 10 else max(1, AT_ONCE // self.features)

    def seed_parameters(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The membership matrix (2, N) of a and b; neither is empty."""
        members = np.eye(2, self.features, dtype=np.float32)
        while self.members == DRAWN:
            of = rng.choice([0, 1, 2], size=self.features, p=[0.5, 0.25, 0.25])
            members = np.stack([of == 0, of == 1]).astype(np.float32)
            if members.any(axis=1).all():
                break
        return {"members": members}

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The index of the operation."""
        return {"operation": np.array(USED.index(self.operation), np.int64)}

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        a, b = (seed_parameters["members"] @ numbers).unbind(0)
        divisor = b.where(b != 0, NOT_ZERO)
        # All operations are computed and one is picked, so that one compiled program serves them all.
        found = [OPERATIONS[name](a, divisor if name == "div" else b) for name in USED]
        return numbers.mT, pick(found, split_parameters["operation"]).unsqueeze(-1)

    def threshold(self, criterion: str, samples: int = 1_000_000) -> float:
        """1e-5, whatever the operation and the distribution, as in their code."""
        if criterion != "task":
            raise unknown("criterion", criterion, ["task"])
        return SOLVED
