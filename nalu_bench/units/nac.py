"""The neural accumulator (NAC) of Trask et al. 2018 and its multiplicative variants."""

import functools
import math

import torch
from torch import Tensor

from nalu_bench.errors import unknown
from nalu_bench.registry import register
from nalu_bench.units import functional
from nalu_bench.units.nmu import NMU
from nalu_bench.units.unit import Initialiser, Unit, uniform, xavier_normal


@functools.cache
def nac_range(in_features: int, out_features: int) -> float:
    """r such that Ŵ, M̂ ~ U[-r, r] give W = tanh(Ŵ) σ(M̂) the Glorot variance 2 / (in + out).

    Var(W) = (1 - tanh(r)/r) (r - tanh(r/2)) / (2 r), solved for r in (0, 10]; in + out counts as at least 5:
    there is no solution below. Source: Madsen & Johansen 2020, appendix, and their code.

    >>> round(nac_range(100, 2), 4)
    0.5039
    """
    from scipy.optimize import brentq  # not at the top: importing a unit must not load scipy

    def excess(r: float) -> float:
        return (1 - math.tanh(r) / r) * (r - math.tanh(r / 2)) / (2 * r) - 2 / fan

    fan = max(in_features + out_features, 5)
    return float(brentq(excess, 1e-6, 10.0))


INITS = ("uniform", "xavier_normal")


def nac_initialiser(init: str, in_features: int, out_features: int) -> Initialiser:
    """The distribution of Ŵ and M̂: "uniform" is U[-r, r] with r of `nac_range`, "xavier_normal" N(0, 2 / (in + out)).

    Public code often uses the latter. The choice decides how often a NALU succeeds. Raises UsageError for other names.
    """
    if init not in INITS:
        raise unknown("initialisation", init, INITS)
    r = nac_range(in_features, out_features)
    return xavier_normal if init == "xavier_normal" else uniform(-r, r)


@register("nac", version=1)
class NAC(Unit):
    """NAC₊: a linear layer whose weights are pulled towards -1, 0 and 1.

    W = tanh(Ŵ) ⊙ σ(M̂),  a = W x  (no bias)

    Source: Trask et al. 2018, eq. 1, https://arxiv.org/abs/1808.00508. Initialisation: Ŵ, M̂ ~ U[-r, r], see
    `nac_range`. Deviations: none.

    Args:
        init: another distribution of Ŵ and M̂, see `nac_initialiser`.

    Shape: (..., in_features) -> (..., out_features).

    >>> unit = NAC(2, 1)
    >>> _ = unit.load_state_dict({"W_hat": torch.tensor([[20.0, -20.0]]), "M_hat": torch.tensor([[20.0, 20.0]])})
    >>> unit(torch.tensor([5.0, 3.0])).tolist()  # W = [1, -1]
    [2.0]
    """

    neutral = 0.0

    def __init__(self, in_features: int, out_features: int, init: str = "uniform") -> None:
        super().__init__(in_features, out_features)
        self.init = init
        self.W_hat = self.matrix()
        self.M_hat = self.matrix()

    def initialisers(self) -> dict[str, Initialiser]:
        initialise = nac_initialiser(self.init, self.in_features, self.out_features)
        return {"W_hat": initialise, "M_hat": initialise}

    def weights(self) -> dict[str, Tensor]:
        return {"W": functional.nac_weight(self.W_hat, self.M_hat)}

    def columns(self, x: Tensor) -> Tensor:
        return self.weights()["W"] @ x


@register("nac_mul", version=1)
class NACMul(NAC):
    """NAC•: multiplication and division in log space, with the weights of the NAC.

    m = exp(W log(|x| + ε)),  W = tanh(Ŵ) ⊙ σ(M̂),  ε = 1e-7

    Source: Trask et al. 2018, eq. 2 (`m`), https://arxiv.org/abs/1808.00508; named NAC• by Madsen & Johansen 2020, eq.
    3. Deviations: none. Loses the signs of x; with W < 0 and x near 0 the output explodes.

    Shape: (..., in_features) -> (..., out_features), outputs positive.

    >>> unit = NACMul(2, 1)
    >>> _ = unit.load_state_dict({"W_hat": torch.tensor([[20.0, -20.0]]), "M_hat": torch.tensor([[20.0, 20.0]])})
    >>> round(unit(torch.tensor([-6.0, 3.0])).item(), 4)  # W = [1, -1]; the sign is lost
    2.0
    """

    neutral = 1.0

    def columns(self, x: Tensor) -> Tensor:
        return functional.log_space_product(x, self.weights()["W"])


@register("nac_mul_sigma", version=1)
class NACMulSigma(Unit):
    """NAC•,σ: NAC• that can only multiply.

    m = exp(W log(|x| + ε)),  W = σ(Ŵ) in (0, 1),  ε = 1e-7

    Source: Madsen & Johansen 2020, section 4.1, https://arxiv.org/abs/2001.05016. Initialisation: Ŵ Xavier-normal
    (their code). Deviations: none.

    Shape: (..., in_features) -> (..., out_features), outputs positive.

    >>> unit = NACMulSigma(2, 1)
    >>> _ = unit.load_state_dict({"W_hat": torch.tensor([[20.0, 20.0]])})
    >>> round(unit(torch.tensor([2.0, 3.0])).item(), 4)  # W = [1, 1]
    6.0
    """

    neutral = 1.0

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.W_hat = self.matrix()

    def initialisers(self) -> dict[str, Initialiser]:
        return {"W_hat": xavier_normal}

    def weights(self) -> dict[str, Tensor]:
        return {"W": torch.sigmoid(self.W_hat)}

    def columns(self, x: Tensor) -> Tensor:
        return functional.log_space_product(x, self.weights()["W"])


@register("nac_mul_nmu", version=1)
class NACMulNMU(NMU):
    """NAC•,NMU: NAC• with the weights, penalty and clamp of the NMU.

    m = exp(W log(|x| + ε)),  W in [0, 1],  ε = 1e-7

    Source: Madsen & Johansen 2020, section 4.1, https://arxiv.org/abs/2001.05016. Initialisation: W ~ U[0.25, 0.75].
    Deviations: none.

    Shape: (..., in_features) -> (..., out_features), outputs positive.

    >>> unit = NACMulNMU(2, 1)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0, 0.0]])})
    >>> round(unit(torch.tensor([2.0, 3.0])).item(), 4)
    2.0
    """

    def columns(self, x: Tensor) -> Tensor:
        return functional.log_space_product(x, self.weights()["W"])
