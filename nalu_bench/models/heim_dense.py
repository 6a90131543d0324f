"""The dense network of Heim, Pevný & Šmídl 2020."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nalu_bench.models.mlp import MLP
from nalu_bench.registry import register
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network


@register("heim_dense", version=1)
@dataclass
class HeimDenseNetwork(MLP):
    """As `MLP`, with Flux's initial weights: W Xavier-uniform, b = 0."""

    def units(self) -> list[str]:
        return ["heim_dense"]

    def network(self, task: Task) -> Network:
        from nalu_bench.models.network import Stack
        from nalu_bench.units.heim import HeimDense

        sizes = [task.input_size, *self.hidden, task.output_size]
        activations = [self.activation] * len(self.hidden) + ["linear"]
        layers = zip(sizes, sizes[1:], activations, strict=False)
        return Stack(*(HeimDense(*layer, bias=self.bias) for layer in layers))
