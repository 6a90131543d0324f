"""The dense network of Heim, Pevný & Šmídl 2020."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nalu_bench.models.mlp import MLP
from nalu_bench.registry import register

if TYPE_CHECKING:
    from nalu_bench.units.dense import Dense


@register("heim_dense", version=1)
@dataclass
class HeimDenseNetwork(MLP):
    """As `MLP`, with Flux's initial weights: W Xavier-uniform, b = 0."""

    def units(self) -> list[str]:
        return ["heim_dense"]

    def layer(self) -> type[Dense]:
        from nalu_bench.units.heim import HeimDense

        return HeimDense
