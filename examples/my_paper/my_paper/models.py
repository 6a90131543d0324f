"""Two layers whose hidden size is a multiple."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nalu_bench.models.two_layer import TwoLayer
from nalu_bench.registry import register
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network


@register("wide", version=1)
@dataclass
class Wide(TwoLayer):
    """input_size -> factor · hidden_size -> output_size.

    Attributes:
        factor: on the hidden size.
    """

    factor: int

    def network(self, task: Task) -> Network:
        from nalu_bench.models.network import Stack

        size = self.factor * self.hidden_size
        first, second = self.layers
        return Stack(first.build(task.input_size, size), second.build(size, task.output_size))
