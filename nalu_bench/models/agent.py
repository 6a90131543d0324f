"""An agent with an LSTM, and perhaps an arithmetic unit that feeds it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from nalu_bench.environments.environment import PICTURES, VIEWS
from nalu_bench.environments.grid_world import GridWorldTime
from nalu_bench.errors import UsageError, unknown
from nalu_bench.models.layer import Layer
from nalu_bench.models.model import Model
from nalu_bench.registry import register
from nalu_bench.tasks.actor_critic import ActorCritic
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network

HIDDEN, MEMORY, NOTHING = READS = ("hidden", "memory", "nothing")
"""What an agent's unit reads beside what it is told."""


@register("agent", version=1)
@dataclass
class Agent(Model):
    """An LSTM that sees the world and acts; its policy and its value are linear in h.

        z_t = ReLU(W view_t + b),  n_t = unit([told_t, s_{t-1}]),  [h_t, c_t] = LSTM([z_t, n_t, told_t], [h, c])
        log π(a) ∝ W_π h_t,  V = W_V h_t

    Without a unit there is no n_t. With one, what the agent is told reaches the LSTM through it alone, unless `direct`.
    Gradients pass through all steps of an episode.

    Source: Trask et al. 2018, section 4.5: agent A without a unit, agent B with a NAC that reads nothing else, and
    `direct`. Deviations: the paper gives no sizes. That the unit reads a vector of the LSTM, too, is another reading of
    its words "through an NAC and back into the LSTM".

    Attributes:
        encoder: of `numbers`, one linear layer with ReLU; of `pictures` of a grid world, convolutions.
        encoder_size: size of z.
        hidden_size: H of the LSTM.
        unit: between what is told and the LSTM; None for agent A.
        unit_size: size of n.
        reads: s, what the unit reads beside it: `nothing`, `hidden` h_{t-1} or `memory` c_{t-1}.
        direct: whether the LSTM is told, too.
        forget_bias: mean of the initial bias of the forget gate.
        policy_scale: factor on the initial weights of the policy.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"episode"})

    encoder: str
    encoder_size: int
    hidden_size: int
    unit: Layer | None
    unit_size: int
    reads: str
    direct: bool
    forget_bias: float
    policy_scale: float

    def validate(self) -> None:
        super().validate()
        self.check_sizes("encoder_size", "hidden_size", "unit_size")
        if self.encoder not in VIEWS:
            raise unknown("encoder of an agent", self.encoder, VIEWS)
        if self.reads not in READS:
            raise unknown("input of an agent's unit", self.reads, READS)
        if not math.isfinite(self.forget_bias):
            raise UsageError(f"model.forget_bias must be finite, got {self.forget_bias}.")
        if not 0 < self.policy_scale < math.inf:
            raise UsageError(f"model.policy_scale must be above 0 and finite, got {self.policy_scale}.")

    def skip(self, task: Task) -> str | None:
        if reason := super().skip(task):
            return reason
        if not isinstance(task, ActorCritic):
            return f"an agent acts in an ActorCritic task, and {task.name} is none"
        world = task.world("train")
        if world.view != self.encoder:
            return f"an agent with an encoder of {self.encoder} does not see {world.view}"
        if self.encoder == PICTURES and not isinstance(world, GridWorldTime):
            return f"an encoder of pictures draws grid worlds, and {task.name} is none"
        return None

    def units(self) -> list[str]:
        return ["lstm", *([self.unit.unit] if self.unit else [])]

    def network(self, task: Task) -> Network:
        from nalu_bench.models.agents import Actor, NumberEncoder, PictureEncoder
        from nalu_bench.units.lstm import LSTM

        assert isinstance(task, ActorCritic)
        world = task.world("train")
        encoder: NumberEncoder | PictureEncoder = NumberEncoder(task.input_size, self.encoder_size)
        if self.encoder == PICTURES:
            assert isinstance(world, GridWorldTime)
            encoder = PictureEncoder(world.size, self.encoder_size)
        told, unit, fed = task.told_size, None, 0
        if self.unit is not None:
            read = told if self.reads == NOTHING else told + self.hidden_size
            unit, fed = self.unit.build(read, self.unit_size), self.unit_size
        directly = told if self.direct or unit is None else 0
        state = 2 * self.hidden_size
        lstm = LSTM(self.encoder_size + fed + directly + state, state)
        return Actor(
            encoder, lstm, unit, self.reads, self.direct, task.output_size,
            self.forget_bias, self.policy_scale,
        )  # fmt: skip
