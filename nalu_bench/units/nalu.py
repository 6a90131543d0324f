"""The neural arithmetic logic unit (NALU) of Trask et al. 2018, and the same gate over NAU and NMU."""

import torch
from torch import Tensor

from nalu_bench.registry import register
from nalu_bench.units import functional
from nalu_bench.units.nac import nac_initialiser
from nalu_bench.units.nau import nau_range
from nalu_bench.units.unit import Initialiser, Unit, uniform, xavier_normal, xavier_uniform


class TwoPaths(Unit):
    """A unit with a gate G, and with Ŵ and M̂ of an additive and of a multiplicative path, or of both together."""

    gating = ("G",)

    def add_paths(self, shared: bool) -> None:
        """Add the parameters of the paths: `shared` ones, or two for each."""
        self.shared = shared
        self.W_hat = self.matrix()
        self.M_hat = self.matrix()
        if not shared:
            self.W_hat_mul = self.matrix()
            self.M_hat_mul = self.matrix()

    def weight(self, W_hat: Tensor, M_hat: Tensor) -> Tensor:
        """The effective matrix of a path."""
        return functional.nac_weight(W_hat, M_hat)

    def weights(self) -> dict[str, Tensor]:
        W = self.weight(self.W_hat, self.M_hat)
        return {"W": W} if self.shared else {"W": W, "W_mul": self.weight(self.W_hat_mul, self.M_hat_mul)}


@register("nalu", version=1)
class NALU(TwoPaths):
    """A gate between adding (NAC₊) and multiplying (NAC•).

    g = σ(G x),  y = g ⊙ a + (1 - g) ⊙ m,  a = W x,  m = exp(W log(|x| + ε)),  W = tanh(Ŵ) ⊙ σ(M̂),  ε = 1e-7

    Source: Trask et al. 2018, eq. 1 and 2, https://arxiv.org/abs/1808.00508. Initialisation: Ŵ, M̂ as in the NAC, G
    Xavier-uniform with gain 1 (Madsen & Johansen's code). The gate has no bias. Deviations: none with shared weights;
    with `shared=False` the additive and the multiplicative path have weights of their own (Madsen & Johansen 2020, the
    gating experiment).

    Args:
        shared: whether both paths use one W (the paper) or two.
        init: the distribution of Ŵ and M̂, see `nac_initialiser`; "xavier_normal" is also that of G.

    Shape: (..., in_features) -> (..., out_features).

    >>> unit, twenty = NALU(2, 1), torch.tensor([[20.0, 20.0]])
    >>> for G in (twenty, -twenty):
    ...     _ = unit.load_state_dict({"G": G, "W_hat": twenty, "M_hat": twenty})
    ...     round(unit(torch.tensor([2.0, 3.0])).item(), 4)  # the gate is open for the sum, then for the product
    5.0
    6.0
    """

    def __init__(self, in_features: int, out_features: int, shared: bool = True, init: str = "uniform") -> None:
        super().__init__(in_features, out_features)
        self.init = init
        self.G = self.matrix()
        self.add_paths(shared)

    def initialisers(self) -> dict[str, Initialiser]:
        names = ["W_hat", "M_hat"] if self.shared else ["W_hat", "M_hat", "W_hat_mul", "M_hat_mul"]
        initialise = nac_initialiser(self.init, self.in_features, self.out_features)
        gate = xavier_normal if self.init == "xavier_normal" else xavier_uniform
        return {"G": gate} | dict.fromkeys(names, initialise)

    def columns(self, x: Tensor) -> Tensor:
        weights = self.weights()
        a = weights["W"] @ x
        m = functional.log_space_product(x, weights.get("W_mul", weights["W"]))
        g = torch.sigmoid(self.G @ x)
        return g * a + (1 - g) * m

    def gates(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"g": torch.sigmoid(inputs @ self.G.mT)}


@register("gated_nau_nmu", version=1)
class GatedNAUNMU(Unit):
    """The NALU's gate between a NAU and an NMU that share no weights.

    g = σ(G x),  y = g ⊙ NAU(x) + (1 - g) ⊙ NMU(x)
    R_sparse = R_sparse(NAU) + R_sparse(NMU)

    Source: Madsen & Johansen 2020, the gating experiment, https://arxiv.org/abs/2001.05016. Initialisation: G
    Xavier-uniform, the rest as in NAU and NMU. Deviations: none.

    Shape: (..., in_features) -> (..., out_features).

    >>> unit, one = GatedNAUNMU(2, 1), torch.ones(1, 2)
    >>> _ = unit.load_state_dict({"G": -20 * one, "W_add": one, "W_mul": one})
    >>> unit(torch.tensor([2.0, 3.0])).tolist()  # the gate is open for the product
    [6.0]
    """

    gating = ("G",)

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.G = self.matrix()
        self.W_add = self.matrix()
        self.W_mul = self.matrix()

    def initialisers(self) -> dict[str, Initialiser]:
        r = nau_range(self.in_features, self.out_features)
        return {"G": xavier_uniform, "W_add": uniform(-r, r), "W_mul": uniform(0.25, 0.75)}

    def weights(self) -> dict[str, Tensor]:
        return {"W_add": self.W_add.clamp(-1.0, 1.0), "W_mul": self.W_mul}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        add = functional.sparsity_penalty(self.W_add, 1 - self.W_add.abs())
        mul = functional.sparsity_penalty(self.W_mul, 1 - self.W_mul)
        return {"sparsity": add + mul}

    def project_(self) -> None:
        self.W_add.clamp_(-1.0, 1.0)
        self.W_mul.clamp_(0.0, 1.0)

    def columns(self, x: Tensor) -> Tensor:
        weights = self.weights()
        a = weights["W_add"] @ x
        m = functional.gated_product(x, weights["W_mul"])
        g = torch.sigmoid(self.G @ x)
        return g * a + (1 - g) * m

    def gates(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"g": torch.sigmoid(inputs @ self.G.mT)}
