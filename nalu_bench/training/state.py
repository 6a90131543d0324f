"""The state of a block while it trains, its evaluations and its best one, as stacked tensors. Letter: S seeds."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nalu_bench.training.data import Tensors


@dataclass(frozen=True)
class State:
    """All that changes while a block trains.

    Attributes:
        parameters: by full name, (S, ...).
        means, squares: the optimiser's running means of every gradient and of its square.
        alive: (S,) whether every loss so far was finite; a seed that is not alive no longer changes.
        diverged_at: (S,) the first step whose loss was not finite, or -1.
        loss: (S,) the last training loss.
    """

    parameters: Tensors
    means: Tensors
    squares: Tensors
    alive: Tensor
    diverged_at: Tensor
    loss: Tensor

    def tensors(self) -> list[Tensor]:
        """All tensors, in the order in which `of` takes them."""
        moments = (*self.means.values(), *self.squares.values())
        return [*self.parameters.values(), *moments, self.alive, self.diverged_at, self.loss]

    @classmethod
    def of(cls, names: Sequence[str], tensors: Sequence[Tensor]) -> "State":
        """The inverse of `tensors`, for parameters of the given names."""
        count = len(names)
        parameters, means, squares = (
            dict(zip(names, tensors[start : start + count], strict=True)) for start in (0, count, 2 * count)
        )
        return cls(parameters, means, squares, *tensors[3 * count :])


def keep(chosen: Tensor, new: Tensors, old: Tensors) -> Tensors:
    """The new values of the seeds that are `chosen` (S,), the old ones of the others."""
    mask = {name: chosen.view(-1, *[1] * (value.ndim - 1)) for name, value in new.items()}
    return {name: torch.where(mask[name], value, old[name]) for name, value in new.items()}


class Log:
    """The figures of a block: one row an evaluation, each (S,) float32.

    The rows of a name lie in one tensor, made for all evaluations to come. Small tensors kept between large ones that
    are freed would make the process grow by megabytes an evaluation.
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
        """The figures by name, (E, S) for the E evaluations so far."""
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
        error: (S,) the smallest finite value of the selecting measure; its negative if larger values are better.
        step: (S,) the step that first reached it, or -1.
        parameters: the parameters at that step.
    """

    error: Tensor
    step: Tensor
    parameters: Tensors

    def updated(self, error: Tensor, step: int, parameters: Tensors, selection: str) -> "Selected":
        """Add an evaluation at `step`: keep the first smallest finite error, or under `last` the last finite one."""
        better = error.isfinite() & ((error < self.error) | (selection == "last"))
        return Selected(
            error=torch.where(better, error, self.error),
            step=torch.where(better, step, self.step),
            parameters=keep(better, parameters, self.parameters),
        )
