"""A pole on a cart that an agent keeps upright: an environment of one's own for the actor-critic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from nalu_bench.environments.environment import Environment, Seen, Step
from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.actor_critic import ActorCritic

if TYPE_CHECKING:
    from torch import Tensor

GRAVITY, CART, POLE, HALF_LENGTH, FORCE, SECONDS = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
EDGE, TILT = 2.4, 12 * 2 * math.pi / 360


class Balance(NamedTuple):
    """Episodes (B,): position and velocity of the cart, angle and angular velocity of the pole, actions so far."""

    x: Tensor
    x_dot: Tensor
    theta: Tensor
    theta_dot: Tensor
    taken: Tensor


@dataclass(frozen=True)
class CartPole(Environment[Balance]):
    """Every action earns 1, until the pole falls, the cart leaves the track, or `limit` actions were taken.

    Source: Barto, Sutton & Anderson 1983, in the form of gymnasium's CartPole-v1. Deviations: none.

    Attributes:
        limit: the most actions of an episode.
    """

    state: ClassVar[Any] = Balance
    actions: ClassVar[int] = 2
    starting: ClassVar[int] = 4

    limit: int

    @property
    def horizon(self) -> int:
        return self.limit

    @property
    def view_size(self) -> int:
        return 4

    def start(self, numbers: Tensor, tables: dict[str, Tensor]) -> Balance:
        """All four numbers uniform on [-0.05, 0.05]."""
        x, x_dot, theta, theta_dot = 0.1 * numbers - 0.05
        return Balance(x, x_dot, theta, theta_dot, x.new_zeros(x.shape))

    def observe(self, state: Balance) -> Seen:
        import torch

        view = torch.stack(state[:4])
        return Seen(view, view[:0])

    def step(self, state: Balance, action: Tensor) -> Step[Balance]:
        x, x_dot, theta, theta_dot, taken = state
        force = FORCE * (2 * action.to(x.dtype) - 1)
        cosine, sine = theta.cos(), theta.sin()
        push = (force + POLE * HALF_LENGTH * theta_dot**2 * sine) / (CART + POLE)
        turn = (GRAVITY * sine - cosine * push) / (HALF_LENGTH * (4 / 3 - POLE * cosine**2 / (CART + POLE)))
        pull = push - POLE * HALF_LENGTH * turn * cosine / (CART + POLE)
        after = Balance(
            x + SECONDS * x_dot, x_dot + SECONDS * pull, theta + SECONDS * theta_dot, theta_dot + SECONDS * turn,
            taken + 1,
        )  # fmt: skip
        fallen = (after.x.abs() > EDGE) | (after.theta.abs() > TILT)
        return Step(after, x.new_ones(x.shape), fallen | (after.taken >= self.limit))


@register("cart_pole", version=1)
@dataclass
class CartPoleTask(ActorCritic):
    """Keep the pole upright; a run is solved with a mean return of 475 in episodes of 500 actions (gymnasium's limit).

    Attributes:
        limit, test_limit: the most actions of an episode in training and in the test.
    """

    limit: int
    test_limit: int

    def world(self, split: str) -> CartPole:
        limit = self.test_limit if split == "test" else self.limit
        if limit < 1:
            raise UsageError(f"task.limit and task.test_limit must be at least 1, got {limit}.")
        return CartPole(limit)

    def threshold(self, criterion: str, samples: int = 1_000_000) -> float:
        return 475.0
