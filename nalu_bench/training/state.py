"""The state of a block while it trains, as stacked tensors. Letter: S seeds of a block."""

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
