"""A recurrent cell over the steps of a sequence, and a unit that reads its last state."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from nalu_bench.errors import UsageError, unknown
from nalu_bench.models.layer import Layer
from nalu_bench.models.model import Model
from nalu_bench.registry import register
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network
    from nalu_bench.units.unit import Unit


LAST, EVERY = OUTPUTS = ("last", "every")
SUM = "sum"

H, C, BOTH = READS = ("h", "c", "both")


@register("recurrent", version=1)
@dataclass
class Recurrent(Model):
    """[x_t, h_{t-1}] -> h_t at every step, then h_T -> output_size.

    Attributes:
        cell: the recurrent unit, with I + S inputs and S outputs. One that hands on several vectors registers their
            number, as in `@register("lstm", version=1, states=2)`.
        head: the unit that reads h.
        hidden_size: size of h.
        initial_state: the value of every entry of h_0 (and of an LSTM's memory); 1 is neutral in products.
        outputs: `last` if the head reads only the last state; `every` if it reads every state, for targets
            (B, T, output_size); `sum` if it reads the sum of all states, h_1 + ... + h_T.
        reads: which part of a state the head reads: `h`, or the memory `c` of a cell that has one, or `both`, [h, c].
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"sequence"})

    places: ClassVar[Mapping[str, int]] = {"cell": 1, "head": 1}

    cell: Layer
    head: Layer
    hidden_size: int
    initial_state: float = field(default=0.0, kw_only=True, metadata={"before": 0.0})
    outputs: str = field(default=LAST, kw_only=True, metadata={"before": LAST})
    reads: str = field(default=H, kw_only=True, metadata={"before": H})

    def derived(self) -> dict[str, Any]:
        return {"states": self.cell.states}

    def validate(self) -> None:
        super().validate()
        self.check_sizes("hidden_size")
        if not math.isfinite(self.initial_state):
            raise UsageError(f"model.initial_state must be finite, got {self.initial_state}.")
        if self.outputs not in (*OUTPUTS, SUM):
            raise unknown("outputs of a recurrent model", self.outputs, (*OUTPUTS, SUM))
        if self.reads not in READS:
            raise unknown("part of a state that model.reads names", self.reads, READS)
        if self.reads != H and self.cell.states < 2:
            raise UsageError(
                f"model.reads must be {H} with a cell without memory ({self.cell.unit}), got {self.reads}."
            )

    def units(self) -> list[str]:
        return [self.cell.unit, self.head.unit]

    def network(self, task: Task) -> Network:
        from nalu_bench.models.network import Recurrence

        return Recurrence(*self.layers(task.input_size, task.output_size), **self.reading())

    def layers(self, size_in: int, size_out: int) -> tuple[Unit, Unit]:
        """Build the cell and the head for inputs and outputs of these sizes."""
        state = self.cell.states * self.hidden_size
        read = self.hidden_size * (2 if self.reads == BOTH else 1)
        return self.cell.build(size_in + state, state), self.head.build(read, size_out)

    def reading(self) -> dict[str, Any]:
        """The arguments of a `Recurrence` that say how it starts and what its head reads."""
        return {
            "initial": self.initial_state,
            "every": self.outputs == EVERY,
            "summed": self.outputs == SUM,
            "first": self.hidden_size if self.reads == C else 0,
        }
