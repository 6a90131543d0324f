"""Multilayer perceptrons: affine layers with the same activation after each but the last."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from nalu_bench import registry
from nalu_bench.errors import UsageError
from nalu_bench.models.model import Model
from nalu_bench.registry import register
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network


@register("mlp", version=1)
@dataclass
class MLP(Model):
    """input_size -> hidden[0] -> hidden[1] -> ... -> output_size.

    Attributes:
        activation: a key of `units.dense.ACTIVATIONS`; it follows every layer but the last.
        hidden: sizes of the hidden layers.
        bias: whether the layers have biases.
        initialisation: a key of `units.dense.INITIALISATIONS`.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"vector"})

    activation: str
    hidden: list[int]
    bias: bool = field(default=True, kw_only=True, metadata={"before": True})
    initialisation: str = field(default="torch", kw_only=True, metadata={"before": "torch"})

    def validate(self) -> None:
        super().validate()
        if not self.hidden or min(self.hidden) < 1:
            raise UsageError(f"model.hidden must list the sizes of the hidden layers, got {list(self.hidden)}.")

    def units(self) -> list[str]:
        return ["dense"]

    def network(self, task: Task) -> Network:
        from nalu_bench.models.network import Stack
        from nalu_bench.units.dense import OUTPUTS

        hidden = [size * OUTPUTS.get(self.activation, 1) for size in self.hidden]
        sizes = [task.input_size, *hidden, task.output_size]
        activations = [self.activation] * len(hidden) + ["linear"]
        layers = zip(sizes, sizes[1:], activations, strict=False)
        unit = registry.units.load(*self.units())
        return Stack(*(unit(*layer, bias=self.bias, initialisation=self.initialisation) for layer in layers))
