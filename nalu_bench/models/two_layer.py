"""Two units, one after the other: the model of all static arithmetic tasks."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from nalu_bench.errors import UsageError, unknown
from nalu_bench.models.model import Model
from nalu_bench.registry import register, units
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network


@dataclass
class Layer:
    """A unit by its registered name, with the arguments of its constructor beyond the two sizes."""

    unit: str
    options: dict[str, Any]


@register("two_layer", version=1)
@dataclass
class TwoLayer(Model):
    """input_size -> hidden_size -> output_size.

    Attributes:
        layers: the two units.
        hidden_size: outputs of the first unit, 2 in the papers.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"vector"})

    layers: list[Layer]
    hidden_size: int

    def validate(self) -> None:
        super().validate()
        if len(self.layers) != 2:
            raise UsageError(f"model.layers must name 2 units, got {len(self.layers)}.")
        if self.hidden_size < 1:
            raise UsageError(f"model.hidden_size must be at least 1, got {self.hidden_size}.")
        for name in self.units():
            units.entry(name)

    def units(self) -> list[str]:
        return [layer.unit for layer in self.layers]

    def build(self, task: Task) -> Network:
        import torch

        from nalu_bench.models.network import Network

        sizes = [task.input_size, self.hidden_size, task.output_size]
        made = []
        for layer, size_in, size_out in zip(self.layers, sizes, sizes[1:], strict=False):
            unit = units.load(layer.unit)
            known = list(inspect.signature(unit).parameters)[2:]
            for option in layer.options:
                if option not in known:
                    raise unknown(f"option of the unit {layer.unit}", option, known)
            with torch.device("meta"):  # the weights are drawn later, and not from the global generator
                made.append(unit(size_in, size_out, **layer.options))
        return Network(*made).to_empty(device="cpu")
