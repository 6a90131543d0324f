"""Tasks in which the network is an agent that learns from the rewards of its own actions."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from nalu_bench.environments.environment import Environment
from nalu_bench.errors import UsageError
from nalu_bench.tasks.measure import Measure
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

    from nalu_bench.tasks.task import Loss

ENTROPY = "entropy"
"""The penalty whose factor is the weight of the entropy."""

EPSILON = 1e-8


class Episodes(NamedTuple):
    """What happened in B episodes of at most N actions.

    Attributes:
        acting: (N, B), 1 where an action belongs to its episode, 0 after its end.
        likelihood: (N, B), log π of the action that was taken.
        entropy: (N, B), of π.
        value: (N, B), what the agent expected.
        reward: (N, B), 0 after the end.
        path: the states after every action; after its end an episode stays as it is.
    """

    acting: Tensor
    likelihood: Tensor
    entropy: Tensor
    value: Tensor
    reward: Tensor
    path: list[Any]

    @property
    def last(self) -> Any:
        """The state after the last action of each episode."""
        return self.path[-1]


@dataclass
class ActorCritic(Task):
    """Synchronous advantage actor-critic on whole episodes.

        R_t  = Σ_{k ≥ t} γ^(k-t) r_k                      (to the end of the episode)
        A_t  = (R_t - V_t) / √mean (R - V)²
        loss = mean [-A_t log π(a_t) + c (R_t - V_t)²] - β mean H(π_t)

    The means are over all actions of all episodes; gradients do not pass through A. β is the factor of the model's
    penalty `entropy`. The action is the first whose cumulated probability exceeds a uniform number, so that an episode
    follows from its numbers.

    Source: Mnih et al. 2016 (A3C, algorithm S3), synchronous. Deviations: returns are not cut off, advantages are
    divided by their root mean square.

    Attributes:
        discount: γ.
        value_weight: c.
    """

    inputs: ClassVar[str] = "episode"
    evaluated: ClassVar[tuple[str, ...]] = ("validation",)
    tested: ClassVar[tuple[str, ...]] = ("test",)
    measures: ClassVar[tuple[Measure, ...]] = ()
    selecting: ClassVar[str] = "return"
    judging: ClassVar[str] = "return"
    larger_is_better: ClassVar[bool] = True
    reads_loss: ClassVar[bool] = False

    discount: float = field(default=1.0, kw_only=True)
    value_weight: float = field(default=0.5, kw_only=True)

    def world(self, split: str) -> Environment[Any]:
        """The environment of a split."""
        raise NotImplementedError

    def validate(self) -> None:
        for split in ("train", *self.evaluated, *self.tested):
            self.world(split)
        if not 0 <= self.discount <= 1:
            raise UsageError(f"task.discount must lie in [0, 1], got {self.discount}.")
        if not 0 <= self.value_weight < math.inf:
            raise UsageError(f"task.value_weight must be at least 0 and finite, got {self.value_weight}.")

    @property
    def input_size(self) -> int:
        return self.world("train").view_size

    @property
    def told_size(self) -> int:
        """Number of inputs beside the view."""
        return self.world("train").told_size

    @property
    def output_size(self) -> int:
        """Number of actions."""
        return self.world("train").actions

    def example_size(self, split: str) -> int:
        """The numbers from which an episode starts, and one for every action."""
        world = self.world(split)
        return world.starting + world.horizon

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        return self.world(split).tables()

    def program(self) -> tuple[Any, ...]:
        worlds = [self.world(split) for split in ("train", *self.evaluated, *self.tested)]
        return (self.discount, self.value_weight, *(entry for world in worlds for entry in world.program()))

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """The state at the start, and the numbers that choose the actions: (B, states + horizon). There is no target.

        The tables of the environment say of which split the start is; its rules are those of every split.
        """
        import torch

        world = self.world("train")
        state = world.start(numbers[: world.starting], split_parameters)
        x = torch.cat([torch.stack(list(state)), numbers[world.starting :]]).mT
        return x, x.new_zeros(len(x), 1)

    def episodes(self, network: Any, x: Tensor, greedy: bool = False) -> Episodes:
        """Let the agent act; greedily it takes the likeliest action at every step."""
        import torch

        world = self.world("train")
        known = len(world.state._fields)
        state = last = world.state(*x.mT[:known])
        path = []
        memory, acting = network.begin(state[0]), torch.ones_like(state[0])
        taken = []
        for number in x.mT[known:]:
            logits, value, memory = network.act(*world.observe(state), memory)
            log_pi = logits.log_softmax(0)
            pi = log_pi.exp()
            action = log_pi.argmax(0) if greedy else (number >= pi[:-1].cumsum(0)).sum(0)
            chosen = (action == torch.arange(len(pi), device=pi.device).unsqueeze(-1)).to(pi.dtype)
            state, reward, over = world.step(state, action)
            last = type(state)(*(torch.where(acting > 0, new, old) for new, old in zip(state, last, strict=True)))
            path.append(last)
            taken.append((acting, (chosen * log_pi).sum(0), -(pi * log_pi).sum(0), value, acting * reward))
            acting = acting * (~over).to(acting.dtype)
        acted, likelihood, entropy, values, rewards = (torch.stack(figures) for figures in zip(*taken, strict=True))
        return Episodes(acted, likelihood, entropy, values, rewards, path)

    def returns(self, reward: Tensor) -> Tensor:
        """R (N, B) from r (N, B)."""
        import torch

        found = [reward[-1]]
        for earlier in reward[:-1].flip(0):
            found.append(earlier + self.discount * found[-1])
        return torch.stack(found[::-1])

    def objective(
        self, network: Any, x: Tensor, t: Tensor, loss: Loss, noise: Tensor | None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        actor, critic, entropy = self._losses(self.episodes(network, x))
        return actor + self.value_weight * critic, {ENTROPY: -entropy}

    def _losses(self, episodes: Episodes) -> tuple[Tensor, Tensor, Tensor]:
        """mean -A log π, mean (R - V)², and mean H."""

        def mean(figure: Tensor) -> Tensor:
            return (episodes.acting * figure).sum() / episodes.acting.sum()

        missing = self.returns(episodes.reward) - episodes.value
        critic = mean(missing**2)
        advantage = (missing / (critic.sqrt() + EPSILON)).detach()
        return mean(-advantage * episodes.likelihood), critic, mean(episodes.entropy)

    def measure(self, network: Any, x: Tensor, t: Tensor) -> dict[str, Tensor]:
        """Of the policy as it explores: the mean return, the mean number of actions, and its losses."""
        episodes = self.episodes(network, x)
        actor, critic, entropy = self._losses(episodes)
        return {
            "return": episodes.reward.sum(0).mean(), "actions": episodes.acting.sum(0).mean(),
            "actor_loss": actor, "critic_loss": critic, "entropy": entropy,
        }  # fmt: skip

    def figures(self, split: str) -> Collection[str]:
        return "return", "actions", "actor_loss", "critic_loss", "entropy"
