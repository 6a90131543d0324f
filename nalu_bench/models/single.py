"""A single unit from all inputs to all outputs."""

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


@register("single", version=1)
@dataclass
class Single(Model):
    """input_size -> output_size.

    Attributes:
        layer: the unit.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"vector"})

    places: ClassVar[Mapping[str, int]] = {"layer": 1}

    layer: Layer

    def units(self) -> list[str]:
        return [self.layer.unit]

    def network(self, task: Task) -> Network:
        from nalu_bench.models.network import Stack

        return Stack(self.layer.build(task.input_size, task.output_size))
