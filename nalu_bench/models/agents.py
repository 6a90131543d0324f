"""Networks that act: an LSTM between an encoder and two linear layers, and perhaps a unit that feeds it."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from nalu_bench.environments.pictures import pictures, side
from nalu_bench.models.agent import HIDDEN, MEMORY, NOTHING
from nalu_bench.models.network import Network
from nalu_bench.units.dense import Dense
from nalu_bench.units.lstm import LSTM
from nalu_bench.units.unit import Initialiser, Unit

Memory = tuple[Tensor, Tensor]
"""What the encoder has prepared, and the LSTM's [h, c] (2 H, B)."""


class NumberEncoder(nn.Module):
    """z = ReLU(W x + b): (F, B) -> (Z, B)."""

    def __init__(self, view_size: int, size: int) -> None:
        super().__init__()
        self.hidden = Dense(view_size, size, "relu")

    def prepared(self) -> Tensor:
        """Nothing."""
        return self.hidden.W.new_zeros(0)

    def forward(self, prepared: Tensor, view: Tensor) -> Tensor:
        return self.hidden.columns(view)


class PictureEncoder(nn.Module):
    """conv 16 (8x8, stride 4), ReLU, conv 32 (4x4, stride 2), ReLU, Z, ReLU: two numbers of squares (2, B) -> (Z, B).

    There are few pictures of a small grid. Each is encoded once an update, not once a step.

    Source: Mnih et al. 2016, section 5.1, whose last layer has 256 units. Deviations: none known.

    Args:
        squares: of a side of the grid.
        size: Z.
    """

    def __init__(self, squares: int, size: int) -> None:
        super().__init__()
        self.squares = squares
        self.conv1 = nn.Conv2d(3, 16, 8, stride=4)
        self.conv2 = nn.Conv2d(16, 32, 4, stride=2)
        after = ((side(squares) - 8) // 4 + 1 - 4) // 2 + 1
        self.hidden = nn.Linear(32 * after**2, size)

    def prepared(self) -> Tensor:
        """z of every pair of squares (Z, squares⁴)."""
        squares = torch.arange(self.squares**2, device=self.hidden.bias.device, dtype=self.hidden.bias.dtype)
        pairs = torch.cartesian_prod(squares, squares)
        images = pictures(self.squares, *pairs.mT)
        for conv in (self.conv1, self.conv2):
            images = functional.relu(conv(images))
        return functional.relu(self.hidden(images.flatten(1))).mT

    def forward(self, prepared: Tensor, view: Tensor) -> Tensor:
        return prepared[:, (self.squares**2 * view[0] + view[1]).long()]


class Actor(Network):
    """See `models.agent.Agent`. Examples are columns.

    Args:
        encoder: of what the agent sees.
        lstm: on [z, n, told, h, c], without those of n and told that it does not get.
        unit: on [told] or [told, s]; None for an agent without one.
        reads: `nothing`, `hidden` or `memory`.
        direct: whether the LSTM gets what is told.
        actions: number of them.
        forget_bias, policy_scale: see `Agent`.
    """

    def __init__(
        self, encoder: NumberEncoder | PictureEncoder, lstm: LSTM, unit: Unit | None, reads: str, direct: bool,
        actions: int, forget_bias: float, policy_scale: float,
    ) -> None:  # fmt: skip
        super().__init__()
        self.encoder = encoder
        self.lstm = lstm
        self.unit = unit
        self.policy = Dense(lstm.hidden, actions)
        self.value = Dense(lstm.hidden, 1)
        self.reads = reads
        self.direct = direct
        self.forget_bias = forget_bias
        self.policy_scale = policy_scale

    def begin(self, like: Tensor) -> Memory:
        """The memory before the first action of episodes (B,)."""
        state = like.new_zeros(2 * self.lstm.hidden, len(like))
        return self.encoder.prepared(), state

    def act(self, view: Tensor, told: Tensor, memory: Memory) -> tuple[Tensor, Tensor, Memory]:
        """The logits of the actions (A, B), the value (B,), and the memory after a step."""
        prepared, state = memory
        hidden, kept = state.chunk(2)
        inputs = [self.encoder(prepared, view)]
        if self.unit is not None:
            read = {NOTHING: [told], HIDDEN: [told, hidden], MEMORY: [told, kept]}
            inputs.append(self.unit(torch.cat(read[self.reads]).mT).mT)
        if self.direct or self.unit is None:
            inputs.append(told)
        state = self.lstm.columns(torch.cat([*inputs, state]))
        hidden = state[: self.lstm.hidden]
        return self.policy.columns(hidden), self.value.columns(hidden)[0], (prepared, state)

    def weights(self) -> dict[str, Tensor]:
        """Those of the unit alone: no other layer is meant to be sparse."""
        return {f"unit.{name}": W for name, W in self.unit.weights().items()} if self.unit else {}

    def initialisers(self) -> dict[str, Initialiser]:
        found = super().initialisers()
        H = self.lstm.hidden
        found["lstm.b"] = _changed(found["lstm.b"], lambda b: b[H : 2 * H].add_(self.forget_bias))
        for name in ("policy.W", "policy.b"):
            found[name] = _changed(found[name], lambda value: value.mul_(self.policy_scale))
        return found


def _changed(initialise: Initialiser, change: Callable[[Tensor], object]) -> Initialiser:
    """An initialiser followed by a change in place."""

    def both(tensor: Tensor, generator: torch.Generator | None) -> object:
        initialise(tensor, generator)
        return change(tensor)

    return both
