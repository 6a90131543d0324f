"""Functions of a network as modules, so that `functional_call` can give the network the parameters of any seed."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from nalu_bench.models.model import Penalty
from nalu_bench.models.network import Network
from nalu_bench.tasks.task import Loss, Task


class Bound(nn.Module):
    """A function whose first argument is the network; its parameters are called `network.<name>`."""

    def __init__(self, network: Network, function: Callable[..., Any]) -> None:
        super().__init__()
        self.network = network
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(self.network, *inputs)


LossOf = Callable[[Tensor | None], Loss]
"""(1 where the first loss acts, 0 where it does not, None where there is none) -> the loss of a step."""


def in_turn(loss: Loss, first: Loss | None = None) -> LossOf:
    """The loss of a step: `first` where that acts, else `loss`. Both are computed, as one program has all steps."""

    def of(acting: Tensor | None) -> Loss:
        if first is None or acting is None:
            return loss
        return lambda y, t: torch.where(acting > 0, first(y, t), loss(y, t))

    return of


def objective(task: Task, loss: LossOf, penalties: Mapping[str, Penalty]) -> Callable[..., Tensor]:
    """(network, x, t, noise, factors, first) -> loss + Σ_k λ_k R_k of one network on one batch.

    A penalty with a condition counts only where the loss without penalties is below its limit.

    Args:
        task: its objective gives the loss and the penalties.
        loss: the recipe's loss, of a step: `first` says which of two.
        penalties: the model's penalties, by name.
    """

    def total(
        network: Network, x: Tensor, t: Tensor, noise: Tensor | None, factors: Mapping[str, Tensor],
        first: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        alone, found = task.objective(network, x, t, loss(first), noise)
        value = alone
        for name, penalty in found.items():
            limit = penalties[name].below
            acting = penalty if limit is None else torch.where(alone.detach() < limit, penalty, 0.0)
            value = value + factors[name] * acting
        return value

    return total


def loss_alone(task: Task, loss: LossOf) -> Callable[..., Tensor]:
    """(network, x, t, noise, factors, first) -> the loss without penalties; arguments as in `objective`."""

    def alone(
        network: Network, x: Tensor, t: Tensor, noise: Tensor | None, factors: Mapping[str, Tensor],
        first: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        return task.objective(network, x, t, loss(first), noise)[0]

    return alone


def penalties_alone(task: Task, loss: LossOf) -> Callable[..., Tensor]:
    """(network, x, t, noise, factors, first) -> Σ_k λ_k R_k, whatever the loss is; arguments as in `objective`."""

    def penalties(
        network: Network, x: Tensor, t: Tensor, noise: Tensor | None, factors: Mapping[str, Tensor],
        first: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        found = task.objective(network, x, t, loss(first), noise)[1]
        return torch.stack([factors[name] * penalty for name, penalty in found.items()]).sum()

    return penalties


def mean_gates(task: Task) -> Callable[..., dict[str, Tensor]]:
    """(network, x) -> the mean (O,) of every gate over the task's examples x."""

    def means(network: Network, x: Tensor) -> dict[str, Tensor]:
        return {name: gate.mean(-2) for name, gate in task.gates(network, x).items()}

    return means
