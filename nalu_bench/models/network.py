"""A stack of units that sums the units' penalties while it computes."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from nalu_bench.units import functional
from nalu_bench.units.unit import Initialiser, Unit


class Network(nn.Module):
    """Units applied one after the other: (..., in_features of the first) -> (..., out_features of the last)."""

    def __init__(self, *units: Unit) -> None:
        super().__init__()
        self.layers = nn.ModuleList(units)

    def units(self) -> Iterator[tuple[str, Unit]]:
        """(path, unit) for every unit, in order."""
        for path, module in self.named_modules():
            if isinstance(module, Unit):
                yield path, module

    def initialisers(self) -> dict[str, Initialiser]:
        """Full parameter name -> its initialiser."""
        return {
            f"{path}.{name}": initialise
            for path, unit in self.units()
            for name, initialise in unit.initialisers().items()
        }

    def forward(self, x: Tensor) -> Tensor:
        return self.predict(x)[0]

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """The prediction and the penalties, each summed over the units."""
        penalties: dict[str, Tensor] = {}
        for layer in self.layers:
            assert isinstance(layer, Unit)
            for name, value in layer.penalties(x).items():
                penalties[name] = penalties[name] + value if name in penalties else value
            x = layer(x)
        return x, penalties

    def weights(self) -> dict[str, Tensor]:
        """The effective matrices of all units, by path and name."""
        return {f"{path}.{name}": W for path, unit in self.units() for name, W in unit.weights().items()}

    def sparsity_error(self) -> Tensor:
        """The largest sparsity error of any weight of any unit, see `functional.sparsity_error`."""
        return torch.stack([functional.sparsity_error(W) for W in self.weights().values()]).amax()

    def project_(self) -> None:
        """Clamp the parameters of every unit."""
        for _, unit in self.units():
            unit.project_()
