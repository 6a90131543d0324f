"""A pole on a cart that an agent keeps upright: an environment of one's own for the actor-critic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from nalu_bench.environments.environment import Environment, Seen, Step
from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.actor_critic import ActorCritic

if TYPE_CHECKING:
    from torch import Tensor

GRAVITY, CART, POLE, HALF_LENGTH, FORCE, SECONDS = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
EDGE, TILT = 2.4, 12 * 2 * math.pi / 360


class Balance(NamedTuple):
    """Episodes (B,): position and velocity of the cart, angle and its velocity of the pole, actions and their limit."""

    x: Tensor
    x_dot: Tensor
    theta: Tensor
    theta_dot: Tensor
    taken: Tensor
    limit: Tensor


@dataclass(frozen=True)
class CartPole(Environment[Balance]):
    """Every action earns 0.02, its time in seconds, until the pole falls, the cart leaves the track, or at the `limit`.

    Source: Barto, Sutton & Anderson 1983, in the form of gymnasium's CartPole-v1. Deviations: an action earns 1 there;
    a critic has to learn returns of hundreds then.

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

    def program(self) -> tuple[object, ...]:
        return ()

    def tables(self) -> dict[str, np.ndarray]:
        return {"limit": np.array(self.limit, np.float32)}

    def start(self, numbers: Tensor, tables: dict[str, Tensor]) -> Balance:
        """All four numbers uniform on [-0.05, 0.05]."""
        x, x_dot, theta, theta_dot = 0.1 * numbers - 0.05
        return Balance(x, x_dot, theta, theta_dot, x.new_zeros(x.shape), tables["limit"].expand_as(x))

    def observe(self, state: Balance) -> Seen:
        import torch

        view = torch.stack(state[:4])
        return Seen(view, view[:0])

    def step(self, state: Balance, action: Tensor) -> Step[Balance]:
        import torch

        x, x_dot, theta, theta_dot, taken, limit = state
        force = FORCE * (2 * action.to(x.dtype) - 1)
        cosine, sine = theta.cos(), theta.sin()
        push = (force + POLE * HALF_LENGTH * theta_dot**2 * sine) / (CART + POLE)
        turn = (GRAVITY * sine - cosine * push) / (HALF_LENGTH * (4 / 3 - POLE * cosine**2 / (CART + POLE)))
        pull = push - POLE * HALF_LENGTH * turn * cosine / (CART + POLE)
        after = Balance(
            x + SECONDS * x_dot, x_dot + SECONDS * pull, theta + SECONDS * theta_dot, theta_dot + SECONDS * turn,
            taken + 1, limit,
        )  # fmt: skip
        fallen = (after.x.abs() > EDGE) | (after.theta.abs() > TILT)
        return Step(after, torch.full_like(x, SECONDS), fallen | (after.taken >= limit))


@register("cart_pole", version=1)
@dataclass
class CartPoleTask(ActorCritic):
    """Keep the pole upright. A run is solved with a mean of 475 actions in episodes of at most 500, as in gymnasium.

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
        return 475 * SECONDS
