"""The evaluations of a block while it trains, and the best of them."""

from dataclasses import dataclass

import torch
from torch import Tensor

from nalu_bench.training.data import Tensors


class Log:
    """The figures of a block: one row an evaluation, each (S,) float32.

    The rows lie in one tensor for each name, made for all evaluations to come: small tensors that are kept between
    large ones that are not would leave the process growing by megabytes an evaluation.
    """

    def __init__(self, evaluations: int) -> None:
        self.evaluations = evaluations
        self.steps: list[int] = []
        self._rows: Tensors = {}

    def append(self, step: int, values: Tensors) -> None:
        for name, value in values.items():
            if name not in self._rows:
                self._rows[name] = torch.empty(self.evaluations, len(value))
            self._rows[name][len(self.steps)] = value
        self.steps.append(step)

    @property
    def columns(self) -> Tensors:
        """By name, (E, S) of the E evaluations so far."""
        return {name: rows[: len(self.steps)] for name, rows in self._rows.items()}

    def restore(self, steps: list[int], columns: Tensors) -> None:
        """Take over the evaluations of a checkpoint."""
        self.steps = list(steps)
        for name, values in columns.items():
            self._rows[name] = torch.empty(self.evaluations, values.shape[1])
            self._rows[name][: len(values)] = values


@dataclass(frozen=True)
class Selected:
    """The best evaluation so far of every seed.

    Attributes:
        error: (S,) the smallest finite error on the selecting split (of a figure to be large, its negative).
        step: (S,) where it was first reached, or -1.
        parameters: the parameters there.
    """

    error: Tensor
    step: Tensor
    parameters: Tensors

    def updated(self, error: Tensor, step: int, parameters: Tensors, selection: str) -> "Selected":
        """With an evaluation at `step`: the first smallest finite error is kept, or with `last` the last finite one."""
        better = error.isfinite() & ((error < self.error) | (selection == "last"))
        mask = {name: better.view(-1, *[1] * (old.ndim - 1)) for name, old in self.parameters.items()}
        return Selected(
            error=torch.where(better, error, self.error),
            step=torch.where(better, step, self.step),
            parameters={
                name: torch.where(mask[name], parameters[name], old) for name, old in self.parameters.items()
            },
        )
