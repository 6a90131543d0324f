"""Units that divide by reciprocals: NRU and NMRU of Mistry, Farrahi & Hare 2022."""

import torch
from torch import Tensor, nn

from nalu_bench.registry import register
from nalu_bench.units import functional
from nalu_bench.units.nau import nau_range
from nalu_bench.units.npu import EPSILON, checked
from nalu_bench.units.signs import cosine_sign, half_turns
from nalu_bench.units.unit import Initialiser, Unit, uniform

STEEPNESS = 1000.0
"""tanh(1000 W)² is 0 at W = 0 and 1 to within 1e-7 from |W| = 0.0091 on."""


@register("nru", version=1)
class NRU(Unit):
    """A product of inputs, reciprocals of inputs, and ones.

    y_o = Π_i (sign(x_i) |x_i|^W_oi |W_oi| + 1 - |W_oi|),  W in [-1, 1]; in training tanh(1000 W)² for |W|
    R_sparse = mean min(|W|, 1 - |W|)

    Source: Mistry, Farrahi & Hare 2022, Exploring the Learning Mechanisms of Neural Division Modules, definition of the
    NRU, https://openreview.net/forum?id=HjelcW6wio, and their code, https://github.com/bmistry4/nalm-division.
    Initialisation: W ~ U[-r, r], see `nau_range`. W is clamped after every step. Deviations: none, but that a separate
    sign at x = 0 and W < -1/2, where their 0^-1 is infinite, makes nan.

    A unit learns from `disturbed` that it is in training. So this one asks for a random number, which it does not use.

    Args:
        smooth: whether tanh(1000 W)² takes the place of |W| in training.
        separate_sign: whether the size is computed from |x|, and multiplied by Π sign(x_i)^round(W_oi).

    Shape: (..., in_features) -> (..., out_features).

    >>> unit = NRU(3, 1)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0, -1.0, 0.0]])})
    >>> round(unit(torch.tensor([-6.0, 3.0, 5.0])).item(), 4)
    -2.0
    """

    neutral = 1.0

    def __init__(self, in_features: int, out_features: int, smooth: bool = True, separate_sign: bool = False) -> None:
        super().__init__(in_features, out_features)
        self.noise = 1 if smooth else 0
        self.separate_sign = separate_sign
        self.W = self.matrix()

    def initialisers(self) -> dict[str, Initialiser]:
        r = nau_range(self.in_features, self.out_features)
        return {"W": uniform(-r, r)}

    def weights(self) -> dict[str, Tensor]:
        return {"W": self.W}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"sparsity": functional.sparsity_penalty(self.W, 1 - self.W.abs())}

    def project_(self) -> None:
        self.W.clamp_(-1.0, 1.0)

    def columns(self, x: Tensor) -> Tensor:
        return self._product(x, self.W.abs())

    def disturbed(self, x: Tensor, noise: Tensor) -> Tensor:
        return self._product(x.mT, torch.tanh(STEEPNESS * self.W).square()).mT

    def _product(self, x: Tensor, share: Tensor) -> Tensor:
        """The formula, with `share` (O, I) for |W|; x (..., I, B) -> (..., O, B)."""
        x, W, share = x.unsqueeze(-3), self.W.unsqueeze(-1), share.unsqueeze(-1)
        powers = x.abs() ** W
        if not self.separate_sign:
            return functional.product(x.sign() * powers * share + 1 - share)
        signs = torch.where(W.abs() > 0.5, x.sign(), 1.0)
        return functional.product(powers * share + 1 - share) * functional.product(signs)


@register("nmru", version=1)
class NMRU(Unit):
    """An NMU over the inputs and their reciprocals, whose sign is found on its own.

    z = [x, 1 / x],  y_o = Π_i (W_oi |z_i| + 1 - W_oi) cos(Σ_i W_oi k_i),  k = π [z < 0],  W (O, 2 I) in [0, 1]; in
    training z = [x, 1 / (x + ε)],  ε = 2^-23
    R_sparse = mean min(|W|, |1 - W|)

    Source: Mistry, Farrahi & Hare 2022, Exploring the Learning Mechanisms of Neural Division Modules, definition of the
    NMRU, https://openreview.net/forum?id=HjelcW6wio, and the layers `concat_reciprocal_nmu_sign_retrieval` and
    `concat_reciprocal_nmu` (`sign=False`) of their code, https://github.com/bmistry4/nalm-division. Initialisation:
    W ~ U[0.25, 0.75]. Deviations: none. W is clamped after every step.

    A unit learns from `disturbed` that it is in training. So this one asks for a random number, which it does not use.

    Args:
        sign: whether the sign is found by the cosine; without, y_o = Π_i (W_oi z_i + 1 - W_oi).
        epsilon: what is added to x in training, so that 1 / x is finite at 0.

    Shape: (..., in_features) -> (..., out_features). `weights` gives the halves of W for x and for 1 / x.

    Raises:
        UsageError for an epsilon outside of [0, 1).

    >>> unit = NMRU(2, 1)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0, 0.0, 0.0, 1.0]])})
    >>> round(unit(torch.tensor([-6.0, 3.0])).item(), 4)
    -2.0
    """

    neutral = 1.0

    def __init__(self, in_features: int, out_features: int, sign: bool = True, epsilon: float = EPSILON) -> None:
        super().__init__(in_features, out_features)
        self.sign = sign
        self.epsilon = checked(epsilon)
        self.noise = 1 if epsilon else 0
        self.W = nn.Parameter(torch.empty(out_features, 2 * in_features))

    def initialisers(self) -> dict[str, Initialiser]:
        return {"W": uniform(0.25, 0.75)}

    def weights(self) -> dict[str, Tensor]:
        return {"W": self.W[..., : self.in_features], "W_reciprocal": self.W[..., self.in_features :]}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"sparsity": functional.sparsity_penalty(self.W, 1 - self.W)}

    def project_(self) -> None:
        self.W.clamp_(0.0, 1.0)

    def columns(self, x: Tensor) -> Tensor:
        return self._product(torch.cat([x, 1 / x], dim=-2))

    def disturbed(self, x: Tensor, noise: Tensor) -> Tensor:
        return self._product(torch.cat([x.mT, 1 / (x.mT + self.epsilon)], dim=-2)).mT

    def _product(self, z: Tensor) -> Tensor:
        """The formula on z (..., 2 I, B)."""
        if not self.sign:
            return functional.gated_product(z, self.W)
        return functional.gated_product(z.abs(), self.W) * cosine_sign(half_turns(z), self.W)
