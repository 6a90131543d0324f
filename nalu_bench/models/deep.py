"""The same unit many times over, one layer after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from nalu_bench.errors import UsageError
from nalu_bench.models.layer import Layer
from nalu_bench.models.model import Model
from nalu_bench.registry import register
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network

DEEPEST = 100


@register("deep", version=1)
@dataclass
class Deep(Model):
    """input_size -> hidden_size -> ... -> hidden_size -> output_size.

    Source: the IIT Indore report, section 6.1 (four NALUs of four inputs and four outputs). Deviations: the last layer
    has as many outputs as the task.

    Attributes:
        layer: the unit of every layer.
        depth: number of layers.
        hidden_size: outputs of every layer but the last.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"vector"})
    places: ClassVar[Mapping[str, int]] = {"layer": 1}

    layer: Layer
    depth: int
    hidden_size: int

    def validate(self) -> None:
        super().validate()
        if not 1 <= self.depth <= DEEPEST:
            raise UsageError(f"model.depth must be from 1 to {DEEPEST} layers, got {self.depth}.")
        self.check_sizes("hidden_size")

    def units(self) -> list[str]:
        return [self.layer.unit] * self.depth

    def network(self, task: Task) -> Network:
        from nalu_bench.models.network import Stack

        sizes = [task.input_size, *[self.hidden_size] * (self.depth - 1), task.output_size]
        return Stack(*(self.layer.build(*size) for size in pairwise(sizes)))
