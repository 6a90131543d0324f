"""Models of texts: an embedding, a recurrent cell over the tokens, and a unit that reads the last state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from nalu_bench.models.recurrent import Recurrent
from nalu_bench.registry import register
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network


@register("text", version=2)
@dataclass
class Text(Recurrent):
    """token_t -> e_t, [e_t, h_{t-1}] -> h_t at every token, then h -> output_size after the last, or their sum.

    Attributes:
        embedding_size: size of e.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"text"})

    embedding_size: int

    def validate(self) -> None:
        super().validate()
        self.check_sizes("embedding_size")

    def units(self) -> list[str]:
        return ["embedding", *super().units()]

    def network(self, task: Task) -> Network:
        from nalu_bench.models.network import Reader
        from nalu_bench.units.embedding import Embedding

        cell, head = self.layers(self.embedding_size, task.output_size)
        return Reader(Embedding(task.input_size, self.embedding_size), cell, head, **self.reading())
