"""The simple arithmetic task of the NPU's paper: four functions of two numbers, learnt at once, tested on grids."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.ranges import as_intervals, check_target, of_split
from nalu_bench.tasks.subset_sums import LABELS
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

FUNCTIONS = ("add", "mul", "div", "sqrt")
"""The outputs in their order."""

MOST_POINTS = 1_000
"""Points of an axis: 25 times what the paper has."""


@register("npu_simple", version=1)
@dataclass
class NPUSimple(Task):
    """t = (x + y, x y, x / y, √x).

    Every split has the mean absolute error of each function, `extrapolation_mae_div` for x / y on the grid of both
    signs. An output counts where its target is a number: √x is left out at negative x. `roots` is the grid of positive
    numbers, on which the paper tests √x.

    Source: Heim, Pevný & Šmídl 2020, section 4.2 (simple arithmetic task), https://arxiv.org/abs/2006.01681, and their
    code. Deviations: none.

    Attributes:
        interpolation: range of x and y in training and validation; it lies above 0.
        signed: the axis of the grid of both signs, [first, step, last]; it leaves out 0.
        positive: the axis of the grid for √x; it lies above 0.
    """

    evaluated: ClassVar[tuple[str, ...]] = ("validation", "roots", "extrapolation")
    labels: ClassVar[dict[str, str]] = {**LABELS, "add": "x + y", "mul": "x y", "div": "x / y", "sqrt": "√x"}

    interpolation: Any
    signed: Any
    positive: Any

    @property
    def input_size(self) -> int:
        return 2

    @property
    def output_size(self) -> int:
        return len(FUNCTIONS)

    def validate(self) -> None:
        intervals = as_intervals("task.interpolation", self.interpolation)
        if (low := min(low for low, _ in intervals)) <= 0:
            raise UsageError(f"task.interpolation must lie above 0, where x / y and √x are defined, got {low:g}.")
        check_target("task.interpolation", max(high for _, high in intervals) ** 2)
        if not axis("task.signed", self.signed).all():
            raise UsageError(f"task.signed must not hold 0, at which x / y has no value, got {list(self.signed)}.")
        if (low := axis("task.positive", self.positive)[0]) <= 0:
            raise UsageError(f"task.positive must lie above 0, where √x is defined, got {low:g}.")

    def program(self) -> tuple[Any, ...]:
        return ()

    def intervals(self, split: str) -> np.ndarray:
        return of_split(self, "train")

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        import torch

        x, y = numbers.unbind(0)
        return numbers.mT, torch.stack([x + y, x * y, x / y, x.sqrt()], dim=-1)

    def measure(self, network: Any, x: Tensor, t: Tensor) -> dict[str, Tensor]:
        """The mean squared and absolute error of all outputs, and `mae_<function>` of each, where t is a number."""
        there = ~t.isnan()
        errors = (network(x) - t.where(there, 0.0)).where(there, 0.0)
        means = errors.abs().sum(-2) / there.sum(-2)
        found = {"mse": errors.square().sum() / there.sum(), "mae": errors.abs().sum() / there.sum()}
        return found | {f"mae_{name}": mean for name, mean in zip(FUNCTIONS, means.unbind(-1), strict=True)}

    def figures(self, split: str) -> Collection[str]:
        return [*super().figures(split), *(f"mae_{name}" for name in FUNCTIONS)]

    def fixed_numbers(self, split: str) -> np.ndarray | None:
        if split not in ("extrapolation", "roots"):
            return None
        points = axis("task.signed", self.signed) if split == "extrapolation" else axis("task.positive", self.positive)
        x, y = np.meshgrid(points, points, indexing="ij")
        return np.stack([x.ravel(), y.ravel()]).astype(np.float32)


def axis(key: str, value: Any) -> np.ndarray:
    """The numbers first, first + step, ..., up to last, each as near to its decimal as double precision allows.

    >>> axis("task.signed", [-0.3, 0.2, 0.4]).tolist()
    [-0.3, -0.1, 0.1, 0.3]

    Raises:
        UsageError for anything else than three such numbers.
    """
    numbers = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []
    plain = all(isinstance(n, int | float) and not isinstance(n, bool) and np.isfinite(n) for n in numbers)
    first, step, last = numbers if len(numbers) == 3 and plain else (0, 0, 0)
    if not step > 0 or first > last:
        raise UsageError(f"{key} must be [first,step,last] with a step above 0 and first <= last, got {value}.")
    count = int(np.floor((last - first) / step + 1e-9)) + 1
    if count > MOST_POINTS:
        raise UsageError(f"{key} must have at most {MOST_POINTS:,} points, got {count:,}; choose a larger step.")
    check_target(key, max(abs(first), abs(last)) ** 2)
    points = np.round(exact := first + step * np.arange(count), 9)
    if np.abs(points - exact).max() > step / 1000 or len(np.unique(points.astype(np.float32))) < count:
        raise UsageError(
            f"{key} must have at most nine decimals, and steps that single precision keeps apart, got {value}; choose "
            "another unit."
        )
    return points
