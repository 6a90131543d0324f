"""Programs of a few integers and operators, which a network reads one by one and evaluates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.measure import Measure
from nalu_bench.tasks.program_templates import OPERATORS, Template, check_readings, grouped
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from torch import Tensor

LARGEST = 1_000_000
"""The largest end of a range: sums of five such integers are whole numbers of single precision."""


@register("programs", version=1)
@dataclass
class Programs(Task):
    """t = the value of a program such as `(c if a < b else d)`, whose integers are drawn anew.

    A step of the sequence is one integer or one operator: the integer as a number (0 at operators), then a 1 in the
    place of what it is: an integer, or one of the operators that the templates have, or the end of the program.
    Parentheses are not read: the templates must be told apart without them. Programs that are shorter than the longest
    end in steps of zeros, at which networks must keep their state.

    Source: Trask et al. 2018, section 4.4 and Figures 4 and 6, who add two integers, and evaluate programs of if, + and
    - after Zaremba & Sutskever 2014, https://arxiv.org/abs/1410.4615. The templates are those of the latter's code with
    the operators of the former: pairs, conditionals, and these in each other's places. Deviations: the paper does not
    say which templates, how often each, or how long. Ours are values, at most nine tokens long; there is at most one
    conditional; a condition is `<` in the templates of `conf/task/programs.yaml`, where theirs is also `>`.

    Integers are uniform on [low, high), and t is exact in single precision.

    Attributes:
        templates: groups of templates. A group is as likely as another, and so is each template of one group.
        ranges: the integers of training, validation and test, [low, high) each, one after the other.
        nested: whether validation and test begin where training begins: [0, 1,000) instead of [100, 1,000).
        end: whether a last step says that the program has ended. A NALU with weights that depend on the operators alone
            needs it for a conditional: an integer that it reads enters its output whatever the condition says, and a
            step later it can be multiplied by 0.
    """

    inputs: ClassVar[str] = "program"
    evaluated: ClassVar[tuple[str, ...]] = ("train", "validation", "test")
    measures: ClassVar[tuple[Measure, ...]] = (
        *map(Measure, ("mse", "digits", "digits_padded", "digits_left", "rounds", "sign_errors")),
    )

    templates: list[list[str]]
    ranges: list[list[int]]
    nested: bool
    end: bool = field(default=False, metadata={"before": False})

    @property
    def input_size(self) -> int:
        """The number, the indicator of an integer, one of each operator, and one of the end."""
        return 2 + len(self.operators()) + self.end

    def example_size(self, split: str) -> int:
        """A number for the choice of the template, and one for each integer."""
        return 1 + max(len(template.letters) for template, _ in self._templates())

    def setting(self) -> dict[str, Any]:
        return {"nested": True} if self.nested else {}

    def validate(self) -> None:
        if not self.templates or not all(self.templates):
            raise UsageError(f"task.templates must be groups of at least one template, got {list(self.templates)}.")
        check_readings(template for template, _ in self._templates())
        if len(self.ranges) != len(self.evaluated):
            raise UsageError(f"task.ranges must be three, of {', '.join(self.evaluated)}, got {list(self.ranges)}.")
        end = 0
        for split, found in zip(self.evaluated, map(list, self.ranges), strict=True):
            if len(found) != 2 or not 0 <= found[0] < found[1] <= LARGEST:
                raise UsageError(f"a range must be [low,high], 0 <= low < high <= {LARGEST:,}, got {found} of {split}.")
            if found[0] < end:
                raise UsageError(
                    f"task.ranges must not overlap, and that of {split} begins at {found[0]:,}, where the one before "
                    f"ends at {end:,}. For ranges that hold the smaller ones set task.nested=true."
                )
            end = found[1]

    def operators(self) -> list[str]:
        """The operators that the templates have."""
        used = {token for template, _ in self._templates() for token in template.tokens}
        return [operator for operator in OPERATORS if operator in used]

    def range_of(self, split: str) -> tuple[int, int]:
        """The integers of a split: from the first on, below the second."""
        low, high = self.ranges[self.evaluated.index(split)]
        return (self.ranges[0][0] if self.nested else low), high

    def program(self) -> tuple[Any, ...]:
        """The sizes alone: templates and ranges are constants."""
        longest = max(len(template.tokens) for template, _ in self._templates()) + self.end
        return self.example_size("train"), len(self._templates()), longest, self.input_size

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The ends of the templates' shares of [0, 1), K of them; their tables; the range of the integers.

        `positions` (K, T, V) says which of the V integers is read at a step, `indicators` (K, T, I - 1) what is read.
        """
        templates, likely = zip(*self._templates(), strict=True)
        low, high = self.range_of(split)
        return {
            "ends": np.cumsum(likely).astype(np.float32),
            "positions": np.stack([self._positions(template) for template in templates]),
            "indicators": np.stack([self._indicators(template) for template in templates]),
            "coefficients": np.stack([self._wide(template.coefficients) for template in templates]),
            "low": np.array(low, np.float32),
            "count": np.array(high - low, np.float32),
        }

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        import torch

        given = split_parameters
        choice = (numbers[0] >= given["ends"][:-1].unsqueeze(-1)).sum(0)
        drawn = (numbers[1:] * given["count"]).floor().clamp(max=given["count"] - 1)
        integers = (given["low"] + drawn).mT  # (B, V)
        # Products and sums of whole numbers below 2^24 are exact; a matrix product may be of lower precision.
        read = (given["positions"][choice] * integers.unsqueeze(-2)).sum(-1, keepdim=True)
        yes, no, left, right = (given["coefficients"][choice] * integers.unsqueeze(-2)).sum(-1).unbind(-1)
        inputs = torch.cat([read, given["indicators"][choice].to(read.dtype)], dim=-1)
        return inputs, torch.where(left < right, yes, no).unsqueeze(-1)

    def _templates(self) -> list[tuple[Template, float]]:
        return grouped(self.templates)

    def _positions(self, template: Template) -> np.ndarray:
        """(T, V): 1 where a step reads an integer."""
        found = np.zeros((self.program()[2], self.example_size("train") - 1), np.float32)
        for step, token in enumerate(template.tokens):
            if token in template.letters:
                found[step, template.letters.index(token)] = 1
        return found

    def _indicators(self, template: Template) -> np.ndarray:
        """(T, I - 1): a 1 for an integer, for one of the operators, or for the end."""
        kinds = self.operators()
        found = np.zeros((self.program()[2], self.input_size - 1), np.float32)
        for step, token in enumerate(template.tokens):
            found[step, 0 if token in template.letters else 1 + kinds.index(token)] = 1
        if self.end:
            found[len(template.tokens), -1] = 1
        return found

    def _wide(self, coefficients: np.ndarray) -> np.ndarray:
        """The coefficients with zeros for the integers that the template does not have."""
        missing = self.example_size("train") - 1 - coefficients.shape[1]
        return np.pad(coefficients, ((0, 0), (0, missing)))
