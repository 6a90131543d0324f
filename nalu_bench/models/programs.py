"""Models that evaluate programs: recurrent cells, a NALU whose weights an LSTM produces, and a computer with memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from nalu_bench.errors import unknown
from nalu_bench.models.model import Model
from nalu_bench.models.recurrent import Recurrent
from nalu_bench.registry import register
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network

PROGRAMS = frozenset({"program"})

OPERATORS, ALL = SEEN = ("operators", "all")


@register("program_cell", version=1)
@dataclass
class ProgramCell(Recurrent):
    """[x_t, h_{t-1}] -> h_t at every step of a program, then h_T -> output_size. See `Recurrent`."""

    accepts: ClassVar[frozenset[str]] = PROGRAMS

    def network(self, task: Task) -> Network:
        from nalu_bench.models.executor import Executor

        return Executor(*self.layers(task.input_size, task.output_size), **self.reading())


@register("controlled_nalu", version=1)
@dataclass
class ControlledNALU(Model):
    """An LSTM produces the weights and gates of a NALU at every step. See `controlled.Controlled`.

    Attributes:
        hidden_size: units of the LSTM.
        numbers: size of the NALU's output, which it reads again at the next step.
        sees: what the LSTM reads: `operators` (what stands at a step, without the number), or `all`.
    """

    accepts: ClassVar[frozenset[str]] = PROGRAMS

    hidden_size: int
    numbers: int
    sees: str

    def validate(self) -> None:
        super().validate()
        self.check_sizes("hidden_size", "numbers")
        if self.sees not in SEEN:
            raise unknown("value of model.sees", self.sees, SEEN)

    def skip(self, task: Task) -> str | None:
        if (reason := super().skip(task)) is None and task.output_size > self.numbers:
            return f"{task.name} has {task.output_size} outputs, more than model.numbers={self.numbers}"
        return reason

    def units(self) -> list[str]:
        return ["lstm", "dense"]

    def network(self, task: Task) -> Network:
        from nalu_bench.models.controlled import Controlled

        return Controlled(task.input_size, task.output_size, self.numbers, self.hidden_size, self.sees == ALL)


@register("dnc", version=1)
@dataclass
class DNC(Model):
    """A differentiable neural computer: an LSTM that writes to and reads from a memory. See `dnc.Computer`.

    Attributes:
        hidden_size: units of the LSTM.
        slots: places of the memory. word: numbers at each place.
        reads: number of read heads.
    """

    accepts: ClassVar[frozenset[str]] = PROGRAMS

    hidden_size: int
    slots: int
    word: int
    reads: int

    def validate(self) -> None:
        super().validate()
        self.check_sizes("hidden_size", "slots", "word", "reads")

    def units(self) -> list[str]:
        return ["lstm", "dense"]

    def network(self, task: Task) -> Network:
        from nalu_bench.models.dnc import Computer

        return Computer(task.input_size, task.output_size, self.hidden_size, self.slots, self.word, self.reads)
