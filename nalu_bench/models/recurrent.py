"""A recurrent cell over the steps of a sequence, and a unit that reads its last state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from nalu_bench.errors import UsageError
from nalu_bench.models.layer import Layer
from nalu_bench.models.model import Model
from nalu_bench.registry import register
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network
    from nalu_bench.units.unit import Unit


@register("recurrent", version=1)
@dataclass
class Recurrent(Model):
    """[x_t, h_{t-1}] -> h_t at every step, then h_T -> output_size.

    Attributes:
        cell: the recurrent unit.
        head: the unit after the last step.
        hidden_size: size of h.
        states: vectors of that size that the cell hands on: 1, or 2 for an LSTM, whose memory is the second.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"sequence"})

    cell: Layer
    head: Layer
    hidden_size: int
    states: int

    def validate(self) -> None:
        super().validate()
        for key in ("hidden_size", "states"):
            if getattr(self, key) < 1:
                raise UsageError(f"model.{key} must be at least 1, got {getattr(self, key)}.")

    def units(self) -> list[str]:
        return [self.cell.unit, self.head.unit]

    def network(self, task: Task) -> Network:
        from nalu_bench.models.network import Recurrence

        return Recurrence(*self.layers(task.input_size, task.output_size))

    def layers(self, size_in: int, size_out: int) -> tuple[Unit, Unit]:
        """The cell and the head between vectors of these sizes."""
        state = self.states * self.hidden_size
        return self.cell.build(size_in + state, state), self.head.build(self.hidden_size, size_out)
