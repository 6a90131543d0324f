"""A named figure that a task judges networks by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nalu_bench import registry

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Measure:
    """A registered function of predictions and targets, with its options.

    >>> Measure("accuracy", {"tolerance": 0.1}).name
    'accuracy_0.1'

    Attributes:
        function: the name of a registered measure, see `nalu_bench.measures`.
        options: its further arguments; they are part of the figure's name.
    """

    function: str
    options: Mapping[str, float] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The last part of a column's name: `mse` in `validation_mse`."""
        return "_".join([self.function, *(f"{value:g}" for value in self.options.values())])

    def __call__(self, y: Tensor, t: Tensor) -> Tensor:
        """The figure, a scalar."""
        figure: Tensor = registry.measures.load(self.function)(y, t, **self.options)
        return figure
