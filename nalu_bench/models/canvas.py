"""A convolutional network over one image of several digits, with any unit as its last layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from nalu_bench.models.layer import Layer
from nalu_bench.models.model import Model
from nalu_bench.registry import register
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network


@register("canvas", version=1)
@dataclass
class Canvas(Model):
    """canvas -> convolutions -> hidden_size -> output_size, see `CanvasNetwork`.

    Attributes:
        head: the unit that gives the logits.
        hidden_size: what it reads.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"canvas"})
    compiles: ClassVar[bool] = False
    places: ClassVar[Mapping[str, int]] = {"head": 1}

    head: Layer
    hidden_size: int

    def validate(self) -> None:
        super().validate()
        self.check_sizes("hidden_size")

    def units(self) -> list[str]:
        return [self.head.unit]

    def network(self, task: Task) -> Network:
        from nalu_bench.models.canvas_network import CanvasNetwork

        head = self.head.build(self.hidden_size, task.output_size)
        return CanvasNetwork(round(task.input_size**0.5), head)
