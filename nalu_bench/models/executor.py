"""Networks that read a program step by step and keep their state where it has ended.

A step holds the number of an integer, and a 1 for what is read: see `tasks.programs`. After the end all are 0.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from nalu_bench.models.network import Network, Recurrence

State = tuple[Tensor, ...]
"""The vectors (..., B) that go from step to step."""


class Executor(Recurrence):
    """A unit that is fed its own output over the steps of a program, and a head: (..., B, T, I) -> (..., B, O).

    As `Recurrence`, but a state stays where there is no step.
    """

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        steps, present = steps_of(x)
        return self.run(steps, present)

    def gates(self, x: Tensor) -> dict[str, Tensor]:
        """No gates: programs have no common last step."""
        return {}


class StepByStep(Network):
    """The contract of a network whose state is more than one vector, over the steps of a program.

        s_t = step(x_t, s_{t-1}) where there is a step, else s_{t-1},    y = answer(s_T)

    A subclass gives `start`, `step` and `answer`, all for examples as columns. Its units have no matrices that are
    meant to be sparse, so that `weights` names none.
    """

    def start(self, x: Tensor) -> State:
        """s_0, for inputs of one step (I, B)."""
        raise NotImplementedError

    def step(self, x: Tensor, state: State) -> State:
        """s_t from x_t (I, B) and s_{t-1}; every part keeps its shape."""
        raise NotImplementedError

    def answer(self, state: State) -> Tensor:
        """The prediction (O, B) after the last step."""
        raise NotImplementedError

    def weights(self) -> dict[str, Tensor]:
        return {}

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        steps, present = steps_of(x)
        state = self.start(steps[0])
        for read, here in zip(steps, present, strict=True):
            after = self.step(read, state)
            state = tuple(torch.where(here, new, old) for new, old in zip(after, state, strict=True))
        return self.answer(state).mT, {}


def steps_of(x: Tensor) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
    """The inputs (..., I, B) of every step of programs (..., B, T, I), and whether there is a step (..., B)."""
    steps = x.movedim(-2, 0).mT.unbind(0)
    return steps, [step[..., 1:, :].sum(-2) > 0 for step in steps]
