"""A convolutional encoder over the images of a series, and a recurrent cell over its outputs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from nalu_bench.errors import UsageError, unknown
from nalu_bench.models.layer import Layer
from nalu_bench.models.model import Model
from nalu_bench.models.recurrent import EVERY, LAST, OUTPUTS
from nalu_bench.registry import register
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network

SUM, PRODUCT = ACCUMULATORS = ("sum", "product")


@dataclass
class Images(Model):
    """A model over series of images. The encoder's output z has the size of the task's output.

    Attributes:
        encoder_offset: initial bias of the encoder's last layer.
        outputs: whether the prediction comes after the `last` image or after `every` one.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"image sequence"})
    compiles: ClassVar[bool] = False

    encoder_offset: float = field(default=0.0, kw_only=True, metadata={"before": 0.0})
    outputs: str = field(default=LAST, kw_only=True, metadata={"before": LAST})

    def validate(self) -> None:
        super().validate()
        if not math.isfinite(self.encoder_offset):
            raise UsageError(f"model.encoder_offset must be finite, got {self.encoder_offset}.")
        if self.outputs not in OUTPUTS:
            raise unknown("outputs of a model of series", self.outputs, OUTPUTS)


@register("image_sequence", version=1)
@dataclass
class ImageSequence(Images):
    """image_t -> z_t, [z_t, h_{t-1}] -> h_t, then h -> output_size if there is a head; else h is the output.

    Attributes:
        cell: the recurrent unit.
        head: the unit that reads the state, or null.
        hidden_size: size of h with a head; without one it is the size of the output.
        initial_state: every number of h_0.
        head_offset: initial bias of a linear head, such as the mean target; 0 without one.
        cell_rate: factor on the recipe's learning rate for the cell's parameters.

    With the penalty `inputs` among `penalties` the mean inputs of the cell are penalised (R_z of Madsen & Johansen
    2020), see `functional.input_penalty`.
    """

    places: ClassVar[Mapping[str, int]] = {"cell": 1, "head": 1}

    cell: Layer
    head: Layer | None
    hidden_size: int
    initial_state: float = field(default=0.0, kw_only=True, metadata={"before": 0.0})
    head_offset: float = field(default=0.0, kw_only=True, metadata={"before": 0.0})
    cell_rate: float = field(default=1.0, kw_only=True, metadata={"before": 1.0})

    def validate(self) -> None:
        super().validate()
        self.check_sizes("hidden_size")
        for key in ("initial_state", "head_offset"):
            if not math.isfinite(getattr(self, key)):
                raise UsageError(f"model.{key} must be finite, got {getattr(self, key)}.")
        if not 0 < self.cell_rate < math.inf:
            raise UsageError(f"model.cell_rate must be above 0 and finite, got {self.cell_rate}.")
        if self.head_offset and (self.head is None or self.head.unit != "linear"):
            head = self.head.unit if self.head else "none"
            raise UsageError(f"model.head_offset={self.head_offset} needs model.head to be linear, got {head}.")

    def units(self) -> list[str]:
        return [self.cell.unit, *([self.head.unit] if self.head else [])]

    def derived(self) -> dict[str, Any]:
        return {"states": self.cell.states}

    def network(self, task: Task) -> Network:
        from nalu_bench.models.images import ImageRecurrence, NoHead
        from nalu_bench.models.network import INPUTS, Recurrence

        size = task.output_size
        hidden = self.hidden_size if self.head else size
        state = self.cell.states * hidden
        head = self.head.build(hidden, size) if self.head else NoHead(size)
        cell = self.cell.build(size + state, state)
        every, penalised = self.outputs == EVERY, INPUTS in self.penalties
        recurrence = Recurrence(cell, head, self.initial_state, every, penalised)
        offset = self.head_offset or None
        return ImageRecurrence(size, recurrence, self.encoder_offset, offset, self.cell_rate)


@register("image_accumulator", version=1)
@dataclass
class ImageAccumulator(Images):
    """The reference: the encoder with a solved accumulator, y = z_1 + ... + z_T or their product.

    Attributes:
        accumulates: sum or product.
    """

    accumulates: str

    def validate(self) -> None:
        super().validate()
        if self.accumulates not in ACCUMULATORS:
            raise unknown("accumulator", self.accumulates, ACCUMULATORS)

    def units(self) -> list[str]:
        return []

    def network(self, task: Task) -> Network:
        from nalu_bench.models.images import Accumulator

        product, every = self.accumulates == PRODUCT, self.outputs == EVERY
        return Accumulator(task.output_size, product, every, self.encoder_offset)
