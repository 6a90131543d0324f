"""The contract of a model: a description that is checked and hashed before torch is loaded, and a network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from nalu_bench.errors import UsageError
from nalu_bench.registry import units
from nalu_bench.tasks.task import Task

if TYPE_CHECKING:
    from nalu_bench.models.network import Network


WIDTH = 25
"""Number of seeds in a block, unless the model or the device names another.

Microseconds per seed-step on one core, compiled, for widths 12, 16, 20, 25, 32, 50, 100: NMU with 100 inputs 13.2,
12.4, 12.0, 12.1, 12.6, 14.0, 13.4; NALU 30.9, 30.2, 30.5, 30.7, 31.5, 33.3, 31.6; NMU with 4 inputs 6.1, 4.8, 4.1,
3.4, 2.9, 2.0, 1.4 (measured under torch.compile, whose wrappers then took a third of a step at most). Narrow blocks
wait for Python, wide ones do not fit into the cache. 25 divides 100 seeds into four full blocks to share among cores.
"""

MOST_WIDTH = 10_000
"""Seeds of one block: a hundred times what is usual."""


@dataclass
class Penalty:
    """λ(t) = weight · min(max((t - start) / (end - start), 0), 1), the factor of one regulariser at step t.

    With start = end there is no ramp: λ(t) = weight from that step on. With `falling` the ramp goes down from the
    weight to 0 instead, as for the entropy of an agent. With `tenfold_every` the weight grows by stairs:
    min(weight · 10^⌊t / tenfold_every⌋, most).

    Source: Madsen & Johansen 2020, eq. 14 (λ̂, λ_start, λ_end); the stairs: Heim et al. 2020, their code.

    Attributes:
        falling: λ(t) = weight · (1 - ramp).
        below: the penalty acts on a batch only if its loss is below this value; None: it always acts.
        tenfold_every: steps after which the weight is ten times as large; 0: it stays.
        most: the largest weight of the stairs.
    """

    weight: float
    start: int
    end: int
    below: float | None = field(default=None, metadata={"before": None})
    falling: bool = field(default=False, metadata={"before": False})
    tenfold_every: int = field(default=0, metadata={"before": 0})
    most: float = field(default=0.0, metadata={"before": 0.0})

    def check(self, name: str) -> None:
        """Raise UsageError, with the penalty's name, if the values contradict each other."""
        if self.below is not None and not 0 < self.below < math.inf:
            raise UsageError(f"model.penalties.{name}.below must be above 0 and finite, got {self.below}.")
        if not 0 <= self.weight < math.inf:
            raise UsageError(f"model.penalties.{name}.weight must be at least 0 and finite, got {self.weight}.")
        if not 0 <= self.start <= self.end:
            raise UsageError(
                f"model.penalties.{name} must have 0 <= start <= end, got start={self.start}, end={self.end}."
            )
        if self.tenfold_every < 0:
            raise UsageError(f"model.penalties.{name}.tenfold_every must be at least 0, got {self.tenfold_every}.")
        if self.most and not self.tenfold_every:
            raise UsageError(f"model.penalties.{name}.most needs tenfold_every, got most={self.most:g} alone.")
        if self.tenfold_every and not self.weight <= self.most < math.inf:
            raise UsageError(
                f"model.penalties.{name}.most must be at least the weight ({self.weight}) if it grows, got {self.most}."
            )


@dataclass
class Model:
    """The description of a network. The fields of a subclass are its keys in YAML.

    Attributes:
        kind: the registered name of the class.
        name: the name of the configuration (the YAML file's).
        penalties: the authors' factor for each regulariser of the units, by the regulariser's name.
        width: number of seeds in a block; one program trains the whole block.
        label: its name in tables and figures; `name` if empty. It is not part of a cell's identity.
        look: number of its colour, marker and line style; derived from `name` if negative. It is not part of the
            identity either.
        of: the names of the units in `conf/unit` that were put at its places; their values stand in the other fields.
        places: field -> how many units stand there, in the order of `of`; empty for a model that takes none by name.
        accepts: the kinds of input (`Task.inputs`) the network can take.
        compiles: whether compiled graphs are faster for its networks on a CPU; if not, they are trained eagerly there.
    """

    accepts: ClassVar[frozenset[str]] = frozenset()
    compiles: ClassVar[bool] = True
    places: ClassVar[Mapping[str, int]] = {}

    kind: str
    name: str
    penalties: dict[str, Penalty]
    width: int = field(default=WIDTH, kw_only=True, metadata={"before": WIDTH, "most": MOST_WIDTH})
    label: str = field(default="", kw_only=True, metadata={"identity": False})
    look: int = field(default=-1, kw_only=True, metadata={"identity": False})
    of: Any = field(default=None, kw_only=True, metadata={"identity": False})

    def validate(self) -> None:
        """Raise UsageError if the values contradict each other or a unit does not exist."""
        for unit in self.units():
            units.entry(unit)
        self.check_sizes("width")
        for name, penalty in self.penalties.items():
            penalty.check(name)

    def check_sizes(self, *keys: str) -> None:
        """Raise UsageError if one of these values is below 1."""
        for key in keys:
            if getattr(self, key) < 1:
                raise UsageError(f"model.{key} must be at least 1, got {getattr(self, key)}.")

    def skip(self, task: Task) -> str | None:
        """The reason why this model cannot do `task`, or None if it can."""
        if task.inputs in self.accepts:
            return None
        article, accepted = "an" if self.kind[0] in "aeiou" else "a", " or ".join(sorted(self.accepts))
        return f"{article} {self.kind} model takes {accepted} inputs, {task.name} gives {task.inputs}s"

    def derived(self) -> dict[str, Any]:
        """Values by key that follow from the fields and are still part of the identity of a run."""
        return {}

    def units(self) -> list[str]:
        """Registered names of the model's units. Their versions are part of the identity of a run."""
        raise NotImplementedError

    def build(self, task: Task) -> Network:
        """Build the network for `task` with uninitialised weights. Nothing is drawn from the global generator."""
        import torch

        with torch.device("meta"):
            network = self.network(task)
        return network.to_empty(device="cpu")

    def network(self, task: Task) -> Network:
        """Construct the network with the sizes of the task."""
        raise NotImplementedError
