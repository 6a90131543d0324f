"""The layers of Heim, Pevný & Šmídl 2020 where they are other than the units of the papers that they are named after.

Source of all: https://github.com/nmheim/NeuralPowerUnits, in Julia. The large-scale task has one penalty for all units,
in the paper over all parameters θ of the unit, in the code over its arrays θ_k,

    R_l1 = Σ |θ|          R_norms = Σ_k √(Σ θ_k²)

The code calls it L1: `norm(ps, 1)` of a list of arrays adds up the norms of the arrays, and the norm of an array is its
2-norm.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from nalu_bench.errors import chosen
from nalu_bench.registry import register
from nalu_bench.units import functional
from nalu_bench.units.affine import Linear
from nalu_bench.units.dense import Dense
from nalu_bench.units.inalu import FAR, INALU
from nalu_bench.units.npu import NPU
from nalu_bench.units.unit import Initialiser, Unit, uniform, xavier_uniform, zeros

INITS: dict[str, Initialiser] = {
    "xavier_uniform": xavier_uniform, "unit": uniform(0.0, 1.0), "tenth": uniform(0.0, 0.1),
}  # fmt: skip
"""Name -> distribution; "tenth" is `rand` in their large-scale task, "unit" that of their NMU elsewhere."""

NALU_EPSILON = 1e-8


def initialiser(init: str) -> Initialiser:
    """The distribution of this name. Raises UsageError for a name that is not among `INITS`."""
    return chosen("initialisation", init, INITS)


def l1(unit: nn.Module) -> Tensor:
    """Σ |θ| over all parameters of a unit."""
    return torch.stack([parameter.abs().sum() for parameter in unit.parameters()]).sum()


def norms(unit: nn.Module) -> Tensor:
    """Σ_k √(Σ θ_k² + ε) over the arrays θ_k of a unit; ε is the least normal number, for arrays of zeros."""
    squares = [parameter.square().sum() + torch.finfo(parameter.dtype).tiny for parameter in unit.parameters()]
    return torch.stack(squares).sqrt().sum()


PENALTIES: dict[str, Callable[[nn.Module], Tensor]] = {"l1": l1, "norms": norms}
"""Name -> penalty of a unit."""


def penalty_of(name: str) -> Callable[[nn.Module], Tensor]:
    """The penalty of this name. Raises UsageError for a name that is not among `PENALTIES`."""
    return chosen("penalty", name, PENALTIES)


@register("heim_nau", version=1)
class HeimNAU(Linear):
    """A linear layer without bias, which they call a NAU: its weights are neither clamped nor pulled to -1, 0 and 1.

    a = W x
    R_l1 = Σ |W|

    Source: Heim, Pevný & Šmídl 2020, https://arxiv.org/abs/2006.01681, and their code. Deviations: none.

    Args:
        init: the distribution of W, see `INITS`. penalty: l1 or norms.

    Shape: (..., in_features) -> (..., out_features).

    Raises:
        UsageError for an initialisation or a penalty that does not exist.

    >>> unit = HeimNAU(2, 1)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0, -2.0]])})
    >>> unit(torch.tensor([5.0, 3.0])).tolist()
    [-1.0]
    """

    def __init__(self, in_features: int, out_features: int, init: str = "xavier_uniform", penalty: str = "l1") -> None:
        super().__init__(in_features, out_features, bias=False)
        self.init, self.penalty = init, penalty
        initialiser(init)
        penalty_of(penalty)

    def initialisers(self) -> dict[str, Initialiser]:
        return {"W": initialiser(self.init)}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        return {self.penalty: penalty_of(self.penalty)(self)}


@register("heim_nmu", version=1)
class HeimNMU(Unit):
    """An NMU whose weights are clamped where they are used, and not after a step: beyond 0 and 1 they have no gradient.

    y_o = Π_i (V_oi x_i + 1 - V_oi),  V = min(max(W, 0), 1)
    R_l1 = Σ |W|

    Source: Heim, Pevný & Šmídl 2020, https://arxiv.org/abs/2006.01681, and their code. Initialisation: W ~ U[0, 1], or
    U[0, 1/10] in their large-scale task. Deviations: none.

    Args:
        init: the distribution of W, see `INITS`. penalty: l1 or norms.

    Shape: (..., in_features) -> (..., out_features); keeps the signs of x.

    Raises:
        UsageError for an initialisation or a penalty that does not exist.

    >>> unit = HeimNMU(3, 1)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0, 1.5, -0.5]])})  # V = [1, 1, 0]
    >>> unit(torch.tensor([-2.0, 3.0, 5.0])).tolist()
    [-6.0]
    """

    neutral = 1.0

    def __init__(self, in_features: int, out_features: int, init: str = "unit", penalty: str = "l1") -> None:
        super().__init__(in_features, out_features)
        self.init, self.penalty = init, penalty
        initialiser(init)
        penalty_of(penalty)
        self.W = self.matrix()

    def initialisers(self) -> dict[str, Initialiser]:
        return {"W": initialiser(self.init)}

    def weights(self) -> dict[str, Tensor]:
        return {"W": self.W.clamp(0.0, 1.0)}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        return {self.penalty: penalty_of(self.penalty)(self)}

    def columns(self, x: Tensor) -> Tensor:
        return functional.gated_product(x, self.weights()["W"])


@register("heim_nalu", version=1)
class HeimNALU(Unit):
    """A NALU whose gate has a bias.

    g = σ(G x + b),  y = g ⊙ a + (1 - g) ⊙ m,  a = W x,  m = exp(W log(|x| + ε)),  W = tanh(Ŵ) ⊙ σ(M̂),  ε = 1e-8
    R_l1 = Σ |Ŵ| + Σ |M̂| + Σ |G| + Σ |b|

    Source: Heim, Pevný & Šmídl 2020, https://arxiv.org/abs/2006.01681, and their code. Initialisation: all matrices
    Xavier-uniform and b ~ U[-r, r], r = √(6 / (1 + out)); in their large-scale task U[0, 1/10] and b = 0. Deviations:
    theirs computes in double precision, because ε is a number of double precision.

    Args:
        init: the distribution of G, Ŵ and M̂, see `INITS`; with "tenth" b = 0. penalty: l1 or norms.

    Shape: (..., in_features) -> (..., out_features).

    Raises:
        UsageError for an initialisation or a penalty that does not exist.

    >>> unit, twenty = HeimNALU(2, 1), torch.tensor([[20.0, 20.0]])
    >>> for b in (1000.0, -1000.0):
    ...     raw = {"G": twenty, "b": torch.tensor([b]), "W_hat": twenty, "M_hat": twenty}
    ...     _ = unit.load_state_dict(raw)
    ...     round(unit(torch.tensor([2.0, 3.0])).item(), 4)  # the gate is open for the sum, then for the product
    5.0
    6.0
    """

    gating = ("G", "b")

    def __init__(self, in_features: int, out_features: int, init: str = "xavier_uniform", penalty: str = "l1") -> None:
        super().__init__(in_features, out_features)
        self.init, self.penalty = init, penalty
        initialiser(init)
        penalty_of(penalty)
        self.G = self.matrix()
        self.b = nn.Parameter(torch.empty(out_features))
        self.W_hat = self.matrix()
        self.M_hat = self.matrix()

    def initialisers(self) -> dict[str, Initialiser]:
        r = (6 / (1 + self.out_features)) ** 0.5
        bias = zeros if self.init == "tenth" else uniform(-r, r)
        return {**dict.fromkeys(("G", "W_hat", "M_hat"), initialiser(self.init)), "b": bias}

    def weights(self) -> dict[str, Tensor]:
        return {"W": functional.nac_weight(self.W_hat, self.M_hat)}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        return {self.penalty: penalty_of(self.penalty)(self)}

    def columns(self, x: Tensor) -> Tensor:
        W = self.weights()["W"]
        g = torch.sigmoid(self.G @ x + self.b.unsqueeze(-1))
        return g * (W @ x) + (1 - g) * functional.log_space_product(x, W, NALU_EPSILON)

    def gates(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"g": torch.sigmoid(inputs @ self.G.mT + self.b)}


@register("heim_inalu", version=1)
class HeimINALU(INALU):
    """An iNALU whose gates depend on the inputs, and whose regulariser is a sum; else as `INALU`.

    R_saturation = Σ max(20 - |v|, 0) / 20 over all numbers v of Ŵ, M̂ and G of both paths

    Source: Heim, Pevný & Šmídl 2020, https://arxiv.org/abs/2006.01681, and their code, whose script leaves out the 20,
    which is that of the iNALU's paper. Initialisation: all Xavier-uniform. Deviations: none known.

    >>> unit, far = HeimINALU(2, 1), torch.tensor([[20.0, 20.0]])
    >>> raw = {"G": -far, **dict.fromkeys(("W_hat", "M_hat", "W_hat_mul", "M_hat_mul"), far)}
    >>> _ = unit.load_state_dict(raw)
    >>> round(unit(torch.tensor([2.0, 3.0])).item(), 4)  # the gate is open for the product
    6.0
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features, gate="dependent", init="xavier_uniform")

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        far = [(FAR - parameter.abs()).clamp(min=0.0).sum() for parameter in self.parameters()]
        return {"saturation": torch.stack(far).sum() / FAR}


@register("heim_npu", version=1)
class HeimNPU(NPU):
    """An NPU with the initial weights of their large-scale task: W_re ~ U[0, 1/10] and a constant gate; else as `NPU`.

    g = `opened` at first: 1 in their NPU, 1/2 in their Real NPU.  R_l1 as in `NPU`; it has no other regulariser.

    Args:
        imaginary, gate: as in `NPU`.
        opened: the initial value of every gate. penalty: l1 or norms.

    >>> HeimNPU(2, 1, opened=1.0).g.tolist()
    [1.0, 1.0]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        imaginary: bool = True,
        gate: bool = True,
        opened: float = 0.5,
        penalty: str = "l1",
    ) -> None:
        super().__init__(in_features, out_features, imaginary=imaginary, gate=gate)
        self.opened, self.penalty = float(opened), penalty
        penalty_of(penalty)

    def initialisers(self) -> dict[str, Initialiser]:
        gate = {"g": uniform(self.opened, self.opened)} if self.g is not None else {}
        return {**super().initialisers(), "W_re": INITS["tenth"], **gate}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        return {self.penalty: penalty_of(self.penalty)(self)}


@register("heim_dense", version=1)
class HeimDense(Dense):
    """y = f(W x + b), W Xavier-uniform, b = 0, as Flux draws a dense layer; else as `Dense`.

    >>> unit = HeimDense(2, 1, activation="sigmoid")
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0, -1.0]]), "b": torch.tensor([2.0])})
    >>> unit(torch.tensor([1.0, 3.0])).tolist()
    [0.5]
    """

    def initialisers(self) -> dict[str, Initialiser]:
        bias = {"b": zeros} if self.b is not None else {}
        return {**super().initialisers(), "W": xavier_uniform, **bias}
