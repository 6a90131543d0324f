"""A unit of a model, as it stands in a configuration."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nalu_bench.errors import UsageError, unknown
from nalu_bench.registry import units

if TYPE_CHECKING:
    from nalu_bench.units.unit import Unit


@dataclass
class Layer:
    """The registered name of a unit, and the arguments of its constructor other than the two sizes."""

    unit: str
    options: dict[str, Any]

    @property
    def states(self) -> int:
        """Vectors of one size that the unit hands on as a recurrent cell: 2 for an LSTM, whose memory is the second."""
        return int(units.fact(self.unit, "states", 1))

    def build(self, size_in: int, size_out: int) -> Unit:
        """Build the unit with these sizes.

        Raises:
            UsageError for an option that the unit does not have, and for one that must be true or false and is neither.
        """
        unit = units.load(self.unit)
        known = dict(list(inspect.signature(unit).parameters.items())[2:])
        for option, value in self.options.items():
            if option not in known:
                raise unknown(f"option of the unit {self.unit}", option, known)
            if known[option].annotation in (bool, "bool") and not isinstance(value, bool):
                raise UsageError(f"{option} of the unit {self.unit} must be true or false, got {value!r}.")
        built: Unit = unit(size_in, size_out, **self.options)
        return built
