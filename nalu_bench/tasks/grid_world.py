"""An agent that learns to tell the time in a grid world."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from nalu_bench.environments.grid_world import GRACE, GridWorldTime
from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.actor_critic import ActorCritic
from nalu_bench.tasks.task import Probes

if TYPE_CHECKING:
    from torch import Tensor

NEAR = 1
"""Actions by which an arrival at the longest T of training may miss it, in the figure `longest`."""

AT_A_TIME = 2048
"""Episodes that are evaluated at once, at most."""

FILMED = (10, 18)
"""The T of two episodes that are recorded; the agent starts in one corner, and the target is in the opposite one."""


@register("grid_world", version=1)
@dataclass
class GridWorld(ActorCritic):
    """Reach the red square with action number T, see `GridWorldTime`; the agent is trained on short times.

    The test has every T from `test_times[0]` to `test_times[1]` equally often. Its figures, for every T: the mean
    `reward` of the greedy policy, and each a share of its episodes, `success`, `early`, `late`, `never` and `longest`,
    an arrival as if T were the longest of training, one action more or less; `sampled` is the success of the policy
    that explores.

    Source: Trask et al. 2018, section 4.5. Deviations: see the experiment's README.

    Attributes:
        size: squares of a side, at most 64.
        times, test_times: the shortest and the longest T, in training and in the test.
        test_episodes: of every T in the test.
        observation, told, time_scale, early_cost: see `GridWorldTime`.
    """

    shares: ClassVar[tuple[str, ...]] = ("success", "early", "late", "never", "longest", "sampled")
    judging: ClassVar[str] = "success"

    size: int
    times: list[int]
    test_times: list[int]
    test_episodes: int = field(metadata={"most": 100_000})
    observation: str
    told: str
    time_scale: float
    early_cost: float = field(default=0.0, metadata={"before": 0.0})

    def world(self, split: str) -> GridWorldTime:
        shortest, longest = self.test_times if split == "test" else self.times
        return GridWorldTime(
            self.size, shortest, longest, split == "test", self.observation, self.told, self.time_scale,
            self.early_cost,
        )  # fmt: skip

    def program(self) -> tuple[Any, ...]:
        return (*super().program(), *self.test_times, self.times[1])

    def validate(self) -> None:
        for key in ("times", "test_times"):
            if len(times := getattr(self, key)) != 2 or not 1 <= times[0] <= times[1]:
                raise UsageError(
                    f"task.{key} must be two times with 1 <= shortest <= longest, the shortest first, got {times}."
                )
        super().validate()
        if self.test_episodes < 1:
            raise UsageError(f"task.test_episodes must be at least 1, got {self.test_episodes}.")

    def examples(self, split: str, asked: int) -> int:
        return self.test_episodes * self._tested_times if split == "test" else asked

    def chunk(self, split: str) -> int | None:
        """In the test every T equally often, and about as many episodes as fit into a cache."""
        if split != "test":
            return None
        return AT_A_TIME // self._tested_times * self._tested_times or self._tested_times

    @property
    def _tested_times(self) -> int:
        return self.test_times[1] + 1 - self.test_times[0]

    def test(self, network: Any, x: Tensor, t: Tensor) -> dict[str, Tensor]:
        greedy, sampled = (self.episodes(network, x, greedy=choice) for choice in (True, False))
        arrived, time = greedy.last.arrived, greedy.last.time
        outcomes = {
            "success": arrived == time,
            "early": (arrived > 0) & (arrived < time),
            "late": arrived > time,
            "never": arrived == 0,
            "longest": (arrived > 0) & ((arrived - self.times[1]).abs() <= NEAR),
            "sampled": sampled.last.arrived == time,
        }
        shares = {name: outcome.to(x.dtype) for name, outcome in outcomes.items()}
        shares["reward"] = greedy.reward.sum(0)
        figures = {name: share.mean() for name, share in shares.items()}
        for T in range(self.test_times[0], self.test_times[1] + 1):
            chosen = (time == T).to(x.dtype)
            figures |= {f"{name}_{T}": (chosen * share).sum() / chosen.sum() for name, share in shares.items()}
        return figures

    def figures(self, split: str) -> Collection[str]:
        if split not in self.tested:
            return super().figures(split)
        names, (shortest, longest) = (*self.shares, "reward"), self.test_times
        return [*names, *(f"{name}_{T}" for T in range(shortest, longest + 1) for name in names)]

    def probes(self) -> Probes:
        """Two episodes between opposite corners."""
        import numpy as np

        corner, opposite, horizon = self.size * (self.size - 1), self.size - 1, max(FILMED) + GRACE
        start = np.array([[corner, opposite, time, 0, 0, self.time_scale] for time in FILMED], np.float32)
        inputs = np.concatenate([start, np.zeros((len(FILMED), horizon), np.float32)], axis=1)
        return Probes([f"T = {time}" for time in FILMED], inputs, np.zeros((len(FILMED), 1), np.float32))

    def record(self, network: Any, x: Tensor) -> dict[str, Tensor]:
        """`squares`: where the greedy agent is after every action of the two episodes, (2, actions + 1).

        `grid`: the size of the grid, and the target; `times`: T of each episode.
        """
        import torch

        path = self.episodes(network, x, greedy=True).path
        squares = torch.stack([x[:, 0], *(state.agent for state in path)], dim=-1)
        grid = torch.stack([torch.full_like(x[0, 1], self.size), x[0, 1]])
        return {"squares": squares, "grid": grid, "times": x[:, 2]}
