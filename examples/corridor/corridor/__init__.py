"""An agent in a corridor that learns by policy gradient."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.tasks.measure import Measure
from nalu_bench.tasks.task import Probes, Task

if TYPE_CHECKING:
    from torch import Tensor

    from nalu_bench.tasks.task import Loss


@register("corridor", version=1)
@dataclass
class Corridor(Task):
    """The agent starts in the middle and goes left or right; its reward is 1 if it reaches the right end in time.

        loss = -mean (R - mean R) Σ_t log π(a_t | s_t)

    The network is the policy: it sees the place as a one-hot vector, and π(right | s) = σ(network(s)). The agent goes
    right where a uniform number lies below this probability; `sample` gives these numbers and nothing else.

    Source: REINFORCE (Williams 1992), the mean reward of the batch as baseline. Deviations: none known.

    Attributes:
        length: places of the corridor, an odd number.
        limit: steps until the episode ends.
    """

    evaluated: ClassVar[tuple[str, ...]] = ("validation",)
    tested: ClassVar[tuple[str, ...]] = ("test",)
    measures: ClassVar[tuple[Measure, ...]] = ()
    selecting: ClassVar[str] = "reward"
    judging: ClassVar[str] = "reward"
    larger_is_better: ClassVar[bool] = True

    length: int
    limit: int

    def validate(self) -> None:
        if self.length < 3 or self.length % 2 == 0:
            raise UsageError(f"task.length must be an odd number of places, 3 or more, got {self.length}.")
        if self.limit < self.length // 2:
            raise UsageError(
                f"task.limit must be at least the {self.length // 2} steps to the right end, got {self.limit}."
            )

    @property
    def input_size(self) -> int:
        return self.length

    def example_size(self, split: str) -> int:
        """One number for every step: it chooses the action."""
        return self.limit

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        """The numbers (B, limit) that choose the actions; the target is the largest reward, 1."""
        u = numbers.mT
        return u, u.new_ones(len(u), 1)

    def objective(
        self, network: Any, x: Tensor, t: Tensor, loss: Loss, noise: Tensor | None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        likelihood, reward, _, penalties = self.episodes(network, x, noise)
        return -(likelihood * (reward - reward.mean())).mean(), penalties

    def measure(self, network: Any, x: Tensor, t: Tensor) -> dict[str, Tensor]:
        """The mean reward, and the mean number of steps."""
        _, reward, steps, _ = self.episodes(network, x)
        return {"reward": reward.mean(), "length": steps.mean()}

    def figures(self, split: str) -> Collection[str]:
        return "reward", "length"

    def gates(self, network: Any, x: Tensor) -> dict[str, Tensor]:
        """The gates at every place of the corridor."""
        return super().gates(network, self.seen(x.new_tensor(range(self.length))))

    def probes(self) -> Probes:
        """Every place; the target is to go right."""
        places = [f"place {number}" for number in range(self.length)]
        return Probes(places, np.eye(self.length, dtype=np.float32), np.ones((self.length, 1), np.float32))

    def record(self, network: Any, x: Tensor) -> dict[str, Tensor]:
        """π(right) at every place."""
        return {"predictions": network(x).sigmoid()}

    def seen(self, place: Tensor) -> Tensor:
        """Places (B,) as one-hot vectors (B, length)."""
        return (place.unsqueeze(-1) == place.new_tensor(range(self.length))).to(place.dtype)

    def episodes(
        self, network: Any, u: Tensor, noise: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor, dict[str, Tensor]]:
        """Log-likelihood of the actions, reward and number of steps of every episode (B,), and the penalties."""
        from torch.nn.functional import logsigmoid

        end = self.length - 1
        place = u.new_full(u.shape[:1], self.length // 2)
        likelihood, steps = u.new_zeros(u.shape[:1]), u.new_zeros(u.shape[:1])
        for number in u.unbind(-1):
            seen = self.seen(place)
            logit, penalties = network.predict(seen) if noise is None else network.predict(seen, noise)
            logit = logit.squeeze(-1)
            right = number < logit.sigmoid()
            going = place < end
            likelihood = likelihood + going * logsigmoid((2.0 * right - 1.0) * logit)
            place = place + going * (2.0 * right - 1.0)
            place = place.clamp(min=0)
            steps = steps + going
        return likelihood, (place == end).to(u.dtype), steps, penalties
