"""Telling the time in a grid world: reach the target at exactly the time that is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from nalu_bench.environments.environment import NUMBERS, PICTURES, Environment, Seen, Step
from nalu_bench.errors import UsageError, unknown

if TYPE_CHECKING:
    from torch import Tensor

ACTIONS = UP, DOWN, LEFT, RIGHT, PASS = range(5)
PLANES, PIXELS = OBSERVATIONS = ("planes", "pixels")
TIME, REMAINING = TOLD = ("time", "remaining")
GRACE = 8
"""Actions after time T until an episode ends; then the agent has not arrived."""

WIDEST = 64
"""The longest side whose pairs of squares can be counted in single precision."""

LAST = 2**24
"""The largest whole number up to which single precision holds every one, and so the last action of an episode."""

SMALLEST, LARGEST = float(np.finfo(np.float32).tiny), 1e15
"""Of what an agent is told and pays: single precision holds squares of the latter, and means of many of them."""


class Squares(NamedTuple):
    """Episodes (B,) of the grid world; squares are numbered row by row, and all values are whole numbers as floats.

    Attributes:
        agent, target: squares.
        time: T, the number of the action that must enter the target.
        taken: actions so far.
        arrived: number of the action that entered the target; 0 before.
        scale: factor on the time that the agent is told.
    """

    agent: Tensor
    target: Tensor
    time: Tensor
    taken: Tensor
    arrived: Tensor
    scale: Tensor


@dataclass(frozen=True)
class GridWorldTime(Environment[Squares]):
    """The agent must enter the red square with action number T, neither earlier nor later.

        reward = 1 if action number T is the first to enter the target, else 0

    With an `early_cost` the first entrance with action number t < T earns 1 - early_cost (T - t); a late one earns 0.

    Agent and target start on distinct squares, a pair drawn from all those at a distance of at most T. A move against a
    wall is a PASS. An episode ends on arrival, or with action T + 8.

    Source: Trask et al. 2018, section 4.5. Deviations: the paper gives the size of the grid, the actions and the times;
    the start, the end of an episode, the reward beside that in time and the pictures are ours.

    Attributes:
        size: squares of a side, at most 64.
        shortest, longest: T is uniform on these and all whole numbers between.
        sweep: the episodes of a batch have every T in turn, instead of a random one; one episode has the shortest.
        observation: `planes`, a one-hot vector of each square; or `pixels`, the numbers of both squares, for an agent
            that looks at their picture.
        told: the agent is told the `time` T at every step, or the time that is `remaining`, T - t.
        scale: factor on what it is told.
        early_cost: what every action earlier than T costs, at least 0; with 0 an early arrival earns nothing.

    Raises:
        UsageError for values that cannot be.
    """

    state: ClassVar[Any] = Squares
    actions: ClassVar[int] = len(ACTIONS)
    starting: ClassVar[int] = 2

    size: int = 5
    shortest: int = 5
    longest: int = 12
    sweep: bool = False
    observation: str = PLANES
    told: str = TIME
    scale: float = 1.0
    early_cost: float = 0.0

    def __post_init__(self) -> None:
        for name in ("size", "shortest", "longest"):
            if not isinstance(value := getattr(self, name), int):
                raise UsageError(f"the {name} of a grid world must be a whole number, got {value!r}.")
        if not 2 <= self.size <= WIDEST:
            raise UsageError(f"the size of a grid world must lie in [2, {WIDEST}] squares, got {self.size}.")
        if not 1 <= self.shortest <= self.longest:
            raise UsageError(f"times must have 1 <= shortest <= longest, got {self.shortest} and {self.longest}.")
        if self.horizon > LAST:
            raise UsageError(
                f"the longest time must be at most {LAST - GRACE:,}, so that single precision holds every action, "
                f"got {self.longest:,}."
            )
        if self.observation not in OBSERVATIONS:
            raise unknown("observation", self.observation, OBSERVATIONS)
        if self.told not in TOLD:
            raise unknown("time that the agent is told", self.told, TOLD)
        most = LARGEST / self.horizon
        if not _is_number(self.scale) or not SMALLEST <= self.scale <= most:
            raise UsageError(
                f"the scale of the time (time_scale) must lie in [{SMALLEST:.3g}, {most:.3g}], so that single "
                f"precision holds all times, got {self.scale!r}."
            )
        if not _is_number(self.early_cost) or not 0 <= self.early_cost <= most:
            raise UsageError(
                f"the early_cost of a grid world must lie in [0, {most:.3g}], so that single precision holds the "
                f"squares of all rewards, got {self.early_cost!r}."
            )

    @property
    def horizon(self) -> int:
        return self.longest + GRACE

    @property
    def view(self) -> str:
        return NUMBERS if self.observation == PLANES else PICTURES

    @property
    def view_size(self) -> int:
        return 2 * self.size**2 if self.observation == PLANES else 2

    @property
    def told_size(self) -> int:
        return 1

    def program(self) -> tuple[object, ...]:
        return self.size, self.observation, self.told, self.early_cost

    def tables(self) -> dict[str, np.ndarray]:
        """Pairs of squares, and times.

        `pairs` (2, P) are all pairs of distinct squares, the nearest first; `within` (longest + 1,) how many of them
        are at a distance of at most T; `times` the shortest, the number of times, 1 for a sweep, and the scale.
        """
        row, column = np.divmod(np.arange(self.size**2), self.size)
        distance = abs(row[:, None] - row) + abs(column[:, None] - column)
        agent, target = np.nonzero(distance)
        order = np.argsort(distance[agent, target], kind="stable")
        far = distance[agent, target][order]
        within = np.searchsorted(far, np.arange(self.longest + 1), side="right")
        return {
            "pairs": np.stack([agent, target])[:, order].astype(np.float32),
            "within": within.astype(np.float32),
            "times": np.array([self.shortest, self.longest + 1 - self.shortest, self.sweep, self.scale], np.float32),
        }

    def start(self, numbers: Tensor, tables: dict[str, Tensor]) -> Squares:
        """T from the first number, or in turn; a pair of squares at a distance of at most T from the second."""
        import torch

        shortest, times, sweep, scale = tables["times"]
        in_turn = torch.arange(numbers.shape[-1], device=numbers.device, dtype=numbers.dtype) % times
        at_random = torch.minimum((times * numbers[0]).floor(), times - 1)  # a product of floats may reach `times`
        time = shortest + torch.where(sweep > 0, in_turn, at_random)
        within = tables["within"][time.long()]
        pair = torch.minimum(numbers[1] * within, within - 1).long()
        agent, target = tables["pairs"][:, pair]
        nothing = torch.zeros_like(agent)
        return Squares(agent, target, time, nothing, nothing, scale.expand_as(agent))

    def observe(self, state: Squares) -> Seen:
        import torch

        places = torch.stack([state.agent, state.target])
        if self.observation == PLANES:
            squares = torch.arange(self.size**2, device=places.device, dtype=places.dtype)
            places = (places.unsqueeze(1) == squares.unsqueeze(-1)).to(places.dtype).flatten(0, 1)
        told = state.time if self.told == TIME else state.time - state.taken
        return Seen(places, (state.scale * told).unsqueeze(0))

    def place(self, square: Tensor) -> tuple[Tensor, Tensor]:
        """Row and column of squares."""
        import torch

        row = torch.div(square, self.size, rounding_mode="floor")
        return row, square - self.size * row

    def step(self, state: Squares, action: Tensor) -> Step[Squares]:
        import torch

        number = state.agent.dtype
        row, column = self.place(state.agent)
        row = (row + (action == DOWN).to(number) - (action == UP).to(number)).clamp(0, self.size - 1)
        column = (column + (action == RIGHT).to(number) - (action == LEFT).to(number)).clamp(0, self.size - 1)
        agent, taken = self.size * row + column, state.taken + 1
        going = state.arrived == 0
        arrived = torch.where(going & (agent == state.target), taken, state.arrived)
        after = state._replace(agent=agent, taken=taken, arrived=arrived)
        reward = (going & (arrived == state.time)).to(number)
        if self.early_cost:
            early = going & (arrived > 0) & (arrived < state.time)
            reward = torch.where(early, 1 - self.early_cost * (state.time - arrived), reward)
        return Step(after, reward, (arrived > 0) | (taken >= state.time + GRACE))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
