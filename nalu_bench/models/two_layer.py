"""Two units in sequence: the model of all static arithmetic tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from nalu_bench.errors import UsageError
from nalu_bench.models.layer import Layer
from nalu_bench.models.model import Model
from nalu_bench.registry import register
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network


@register("two_layer", version=1)
@dataclass
class TwoLayer(Model):
    """input_size -> hidden_size -> output_size.

    Attributes:
        layers: the two units.
        hidden_size: outputs of the first unit, 2 in the papers.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"vector"})
    places: ClassVar[Mapping[str, int]] = {"layers": 2}

    layers: list[Layer]
    hidden_size: int

    def validate(self) -> None:
        super().validate()
        if len(self.layers) != 2:
            raise UsageError(f"model.layers must name 2 units, got {len(self.layers)}.")
        self.check_sizes("hidden_size")

    def units(self) -> list[str]:
        return [layer.unit for layer in self.layers]

    def network(self, task: Task) -> Network:
        from nalu_bench.models.network import Stack

        sizes = [task.input_size, self.hidden_size, task.output_size]
        return Stack(*(layer.build(*size) for layer, *size in zip(self.layers, sizes, sizes[1:], strict=False)))
