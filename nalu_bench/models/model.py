"""What every model offers: a description that is checked and hashed before torch is loaded, and a network."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from nalu_bench.errors import UsageError
from nalu_bench.registry import units
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network


@dataclass
class Penalty:
    """λ(t) = weight · min(max((t - start) / (end - start), 0), 1), the factor of one regulariser at step t.

    Source: Madsen & Johansen 2020, eq. 14 (λ̂, λ_start, λ_end).
    """

    weight: float
    start: int
    end: int


@dataclass
class Model:
    """The description of a network. The fields of a subclass are its keys in YAML.

    Attributes:
        kind: the registered name of the class.
        name: the name of the configuration (the YAML file's).
        penalties: the authors' factor for each regulariser of the units, by the regulariser's name.
        label: what tables and figures call it; its name if empty. No part of a cell's identity.
        look: the number of its colour, marker and line style; derived from its name if negative. No part of it either.
        accepts: the kinds of input (`Task.inputs`) the network can take.
    """

    accepts: ClassVar[frozenset[str]] = frozenset()

    kind: str
    name: str
    penalties: dict[str, Penalty]
    label: str = field(default="", kw_only=True, metadata={"identity": False})
    look: int = field(default=-1, kw_only=True, metadata={"identity": False})

    def validate(self) -> None:
        """Raise UsageError if the values cannot go together, or for a unit that does not exist."""
        for unit in self.units():
            units.entry(unit)
        for name, penalty in self.penalties.items():
            if not 0 <= penalty.weight < math.inf:
                raise UsageError(f"model.penalties.{name}.weight must be at least 0 and finite, got {penalty.weight}.")
            if not 0 <= penalty.start < penalty.end:
                raise UsageError(
                    f"model.penalties.{name} must have 0 <= start < end, got start={penalty.start}, end={penalty.end}."
                )

    def skip(self, task: Task) -> str | None:
        """Why this model cannot do `task`, or None if it can."""
        if task.inputs in self.accepts:
            return None
        return f"a {self.kind} model takes {' or '.join(sorted(self.accepts))} inputs, {task.name} gives {task.inputs}s"

    def units(self) -> list[str]:
        """Registered names of the units it is made of: their versions belong to the identity of a run."""
        raise NotImplementedError

    def build(self, task: Task) -> Network:
        """The network for `task`, with weights yet to be drawn: not here, and not from the global generator."""
        import torch

        with torch.device("meta"):
            network = self.network(task)
        return network.to_empty(device="cpu")

    def network(self, task: Task) -> Network:
        """The network of the task's sizes."""
        raise NotImplementedError
