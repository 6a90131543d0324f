"""The dense network of Heim, Pevný & Šmídl 2020."""

from dataclasses import dataclass

from nalu_bench.models.mlp import MLP
from nalu_bench.registry import register


@register("heim_dense", version=1)
@dataclass
class HeimDenseNetwork(MLP):
    """As `MLP`, with Flux's initial weights: W Xavier-uniform, b = 0."""

    def units(self) -> list[str]:
        return ["heim_dense"]
