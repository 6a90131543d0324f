"""Affine layers with any activation of torch, as in the identity experiments."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from nalu_bench.errors import UsageError, chosen
from nalu_bench.registry import register
from nalu_bench.units.unit import Initialiser, Unit, uniform

THRESHOLD = (0.1, 20.0)
"""A `threshold` keeps what is above the first number, and gives the second otherwise. torch has no default for them;
these are of its documentation's example, in 2018 and long after (docs.pytorch.org, 1.10, `torch.nn.Threshold`)."""

ACTIVATIONS: dict[str, Callable[..., Tensor]] = {
    "linear": lambda z: z,
    "relu": functional.relu, "relu6": functional.relu6, "leaky_relu": functional.leaky_relu,
    "leaky_relu_quarter": lambda z: functional.leaky_relu(z, 0.25),
    "elu": functional.elu, "selu": functional.selu, "softplus": functional.softplus, "swish": functional.silu,
    "sigmoid": torch.sigmoid, "tanh": torch.tanh, "hardtanh": functional.hardtanh,
    "softsign": functional.softsign, "tanhshrink": functional.tanhshrink,
    "softshrink": functional.softshrink, "hardshrink": functional.hardshrink,
    "threshold": lambda z: functional.threshold(z, *THRESHOLD),
    "prelu": functional.prelu,
    "crelu": lambda z: torch.cat([functional.relu(z), functional.relu(-z)], dim=-2),
}  # fmt: skip
"""Name -> f with torch's default constants; `prelu` takes its slope as a second argument, and `crelu` gives [relu(z),
relu(-z)] (Shang et al. 2016, Understanding and Improving Convolutional Neural Networks via CReLU, equation 2). MXNet's
LeakyReLU has a slope of 1/4, and is `leaky_relu_quarter`."""

OUTPUTS = {"crelu": 2}
"""Outputs of an activation for each of its inputs, where there are more than one."""

SLOPE = 0.25
"""The initial slope of the PReLU: He et al. 2015, section 2.1, and torch's default."""


INITIALISATIONS: dict[str, Callable[[int, int], tuple[float, float]]] = {
    "torch": lambda inputs, outputs: (1 / math.sqrt(inputs), 1 / math.sqrt(inputs)),
    "xavier": lambda inputs, outputs: (math.sqrt(6 / (inputs + outputs)), 0.0),
}
"""Name -> inputs and outputs of a layer -> the bounds of W and of b: torch's of a linear layer, and Glorot & Bengio's
(2010, equation 16) with b = 0, as MXNet's `init.Xavier` draws them."""


@register("dense", version=1)
class Dense(Unit):
    """y = f(W x + b), with torch's initialisation of a linear layer: W, b ~ U[-1/√I, 1/√I]; b = 0 without a bias.

    With `initialisation="xavier"` W ~ U[-√(6/(I+O)), √(6/(I+O))] and b = 0.

    Source: `torch.nn.Linear` (https://docs.pytorch.org/docs/stable/generated/torch.nn.Linear.html) and the activations
    of `torch.nn` with their default constants, as in the public rebuilds of Trask et al. 2018, Figure 1. Deviations:
    none. A PReLU layer has one slope, which starts at 1/4 in every network.

    Args:
        activation: a key of `ACTIVATIONS`.
        bias: whether there is a b.
        initialisation: a key of `INITIALISATIONS`.

    Shape: (..., in_features) -> (..., out_features). A CReLU makes two of these of every row of W.

    Raises:
        UsageError for an unknown activation or initialisation, and for an odd number of outputs of a CReLU.

    >>> unit = Dense(2, 1, activation="hardtanh")
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0, 1.0]]), "b": torch.tensor([0.0])})
    >>> unit(torch.tensor([5.0, 3.0])).tolist()
    [1.0]
    """

    def __init__(
        self, in_features: int, out_features: int, activation: str = "linear", bias: bool = True,
        initialisation: str = "torch",
    ) -> None:  # fmt: skip
        chosen("activation", activation, ACTIVATIONS)
        self._bounds = chosen("initialisation", initialisation, INITIALISATIONS)
        super().__init__(in_features, out_features)
        self.activation = activation
        rows, left = divmod(out_features, OUTPUTS.get(activation, 1))
        if left:
            raise UsageError(f"the outputs of a layer with {activation} must be even, got {out_features}.")
        self.W = nn.Parameter(torch.empty(rows, in_features))
        self.b = nn.Parameter(torch.empty(rows)) if bias else None
        if activation == "prelu":
            self.slope = nn.Parameter(torch.empty(1))

    def initialisers(self) -> dict[str, Initialiser]:
        r, b = self._bounds(self.in_features, len(self.W))
        slope: dict[str, Initialiser] = {"slope": uniform(SLOPE, SLOPE)} if self.activation == "prelu" else {}
        bias = {"b": uniform(-b, b)} if self.b is not None else {}
        return {"W": uniform(-r, r)} | bias | slope

    def weights(self) -> dict[str, Tensor]:
        return {"W": self.W}

    def columns(self, x: Tensor) -> Tensor:
        slope = [self.slope] if self.activation == "prelu" else []
        z = self.W @ x if self.b is None else self.W @ x + self.b.unsqueeze(-1)
        return ACTIVATIONS[self.activation](z, *slope)
