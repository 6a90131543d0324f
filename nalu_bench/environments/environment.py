"""The contract of an environment: many episodes at once, as a pure function of random numbers and actions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

NUMBERS, PICTURES = VIEWS = ("numbers", "pictures")

State = TypeVar("State", bound=NamedTuple)


class Seen(NamedTuple):
    """What an agent is shown, of B episodes.

    Attributes:
        view: (F, B), for the agent's encoder.
        told: (N, B), numbers that are given beside it, such as the time at which to arrive; N may be 0.
    """

    view: Tensor
    told: Tensor


class Step(NamedTuple, Generic[State]):
    """What an action leads to, in B episodes.

    Attributes:
        state: after the action.
        reward: (B,).
        over: (B,), whether the episode has ended; what follows counts for nothing.
    """

    state: State
    reward: Tensor
    over: Tensor


class Environment(Generic[State]):
    """Episodes are columns. Nothing is drawn in here: an episode follows from its numbers and its actions alone.

    Attributes:
        state: the class of a state: a named tuple of tensors (B,).
        actions: number of actions.
        starting: numbers, uniform on [0, 1), that an episode starts from.
        horizon: the most actions that an episode has.
        view: `numbers`, or `pictures` that the numbers stand for.
        view_size, told_size: F and N of `Seen`.
    """

    state: ClassVar[Any]
    actions: ClassVar[int]
    starting: ClassVar[int]

    @property
    def horizon(self) -> int:
        raise NotImplementedError

    @property
    def view(self) -> str:
        return NUMBERS

    @property
    def view_size(self) -> int:
        raise NotImplementedError

    @property
    def told_size(self) -> int:
        return 0

    def program(self) -> tuple[object, ...]:
        """The values that `observe` and `step` read directly: environments with equal ones share a compiled program.

        The default is all of them, which is always right. What the tables and the states hold need not be here.
        """
        return (repr(self),)

    def tables(self) -> dict[str, np.ndarray]:
        """Arrays that `start` looks into; none by default."""
        return {}

    def start(self, numbers: Tensor, tables: dict[str, Tensor]) -> State:
        """The state of B episodes before their first action, from numbers (starting, B)."""
        raise NotImplementedError

    def observe(self, state: State) -> Seen:
        """What the agent is shown."""
        raise NotImplementedError

    def step(self, state: State, action: Tensor) -> Step[State]:
        """What actions (B,) lead to."""
        raise NotImplementedError
