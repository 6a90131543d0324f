"""Two units in sequence that share options, so that a sweep can vary an option of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nalu_bench.models.two_layer import TwoLayer
from nalu_bench.registry import register
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network


@register("optioned", version=1)
@dataclass
class Optioned(TwoLayer):
    """As `TwoLayer`, but every unit has these options beside its own.

    Attributes:
        options: further arguments of the units' constructors, by name.
    """

    options: dict[str, Any]

    def network(self, task: Task) -> Network:
        layers = [replace(layer, options={**layer.options, **self.options}) for layer in self.layers]
        return TwoLayer.network(replace(self, layers=layers), task)
