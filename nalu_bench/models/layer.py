"""A unit of a model, as a configuration names it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nalu_bench.errors import unknown
from nalu_bench.registry import units

if TYPE_CHECKING:
    from nalu_bench.units.unit import Unit


@dataclass
class Layer:
    """A unit by its registered name, with the arguments of its constructor beyond the two sizes."""

    unit: str
    options: dict[str, Any]

    def build(self, size_in: int, size_out: int) -> Unit:
        """The unit of these sizes; raises UsageError for an option that it does not have."""
        unit = units.load(self.unit)
        known = list(inspect.signature(unit).parameters)[2:]
        for option in self.options:
            if option not in known:
                raise unknown(f"option of the unit {self.unit}", option, known)
        built: Unit = unit(size_in, size_out, **self.options)
        return built
