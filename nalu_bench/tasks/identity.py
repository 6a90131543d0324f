"""The scalar identity, which multilayer perceptrons learn only inside their training range."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.ranges import check_beyond, intervals_of, of_split
from nalu_bench.tasks.task import Probes, Rows, Task

if TYPE_CHECKING:
    from torch import Tensor


@register("identity", version=1)
@dataclass
class Identity(Task):
    """t = x, for one number x.

    Source: Trask et al. 2018, section 1 and Figure 1.

    Attributes:
        interpolation: range of x in training and validation, [low, high].
        extrapolation: range of x in the test; it may include the training range.
        probed: number of points at which predictions are kept, evenly spaced over the extrapolation range with both
            ends.
    """

    interpolation: list[float]
    extrapolation: list[float]
    probed: int = field(metadata={"most": 100_000})

    @property
    def input_size(self) -> int:
        return 1

    def validate(self) -> None:
        ranges = intervals_of(self)
        for key, intervals in ranges.items():
            if len(intervals) != 1:
                raise UsageError(f"{key} must be one interval, got {len(intervals)}.")
        check_beyond(*ranges.values())
        if self.probed < 2:
            raise UsageError(f"task.probed must be at least 2, got {self.probed}.")

    def program(self) -> tuple[Any, ...]:
        return ()

    def intervals(self, split: str) -> np.ndarray:
        return of_split(self, split)

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        return numbers.mT, numbers.mT

    def probes(self) -> Probes:
        low, high = self.extrapolation
        x = np.linspace(low, high, self.probed, dtype=np.float32)[:, None]
        return Probes([f"{value:g}" for value in x[:, 0]], x, x)


@register("identity_integers", version=1)
@dataclass
class IdentityOnIntegers(Identity):
    """t = x, and a test of the selected network on all integers from -reach to reach.

    Source: Trask et al. 2018, appendix A and Table 5.

    Attributes:
        reach: the largest integer of the test, at least 1.
        whole: whether a network is trained on the integers of `interpolation` alone, in a new order every epoch; a
            batch of as many holds each of them once. Otherwise every example is a new real number.
    """

    tested: ClassVar[tuple[str, ...]] = ("integers",)

    reach: int = field(metadata={"most": 2**23})  # the integers to which single precision counts by halves
    whole: bool

    def validate(self) -> None:
        super().validate()
        if self.reach < 1:
            raise UsageError(f"task.reach must be at least 1, got {self.reach}.")
        if self.whole and not len(self._trained()):
            raise UsageError(f"task.interpolation must hold an integer, got {list(self.interpolation)}.")

    def program(self) -> tuple[Any, ...]:
        return (self.whole, len(self._trained()) if self.whole else 0)

    @property
    def evaluates_rows(self) -> bool:
        return False

    def rows(self, split: str) -> Rows | None:
        return Rows(len(self._trained())) if self.whole and split == "train" else None

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        return {"integers": self._trained()} if self.whole and split == "train" else {}

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        integers = split_parameters.get("integers")
        return super().sample(numbers if integers is None else integers[numbers], seed_parameters, split_parameters)

    def fixed_numbers(self, split: str) -> np.ndarray | None:
        return np.arange(-self.reach, self.reach + 1, dtype=np.float32)[None] if split in self.tested else None

    def _trained(self) -> np.ndarray:
        """The integers of the training range."""
        low, high = self.interpolation
        return np.arange(np.ceil(low), np.floor(high) + 1, dtype=np.float32)
