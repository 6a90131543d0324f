"""The improved NALU (iNALU) of Schlör, Ring & Hotho 2020, and the NALU as they compare it."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from nalu_bench.errors import UsageError, unknown
from nalu_bench.registry import register
from nalu_bench.units import functional
from nalu_bench.units.nalu import TwoPaths
from nalu_bench.units.signs import mixed_sign
from nalu_bench.units.unit import Initialiser, Unit, xavier_uniform

OMEGA, EPSILON = 20.0, 1e-7
"""The bounds of the iNALU's log space, of the paper and of the authors' code."""

LARGEST = torch.finfo(torch.float32).max
"""The largest number that single precision holds."""

FAR = 20.0
"""From this absolute value on a raw parameter is no longer pushed: tanh and σ of it are -1, 0 or 1 to rounding."""

MEANS, DEVIATION = (0.0, -1.0, 1.0), 0.1
"""The means of G, M̂ and Ŵ, and their standard deviation, in experiments 1, 2 and 4 of the authors' code."""

NORMAL, XAVIER = "normal", "xavier_uniform"
INDEPENDENT, DEPENDENT = "independent", "dependent"


def normal(mean: float, deviation: float) -> Initialiser:
    """Initialiser for N(mean, deviation²)."""
    return lambda tensor, generator: nn.init.normal_(tensor, mean, deviation, generator=generator)


def three_means(means: Any, deviation: Any) -> tuple[float, ...]:
    """The means of G, M̂ and Ŵ. Raises UsageError unless they are three finite numbers, and the deviation is above 0."""
    numbers = means if isinstance(means, Sequence) and not isinstance(means, str) else ()
    if len(numbers) != 3 or not all(_is_finite(value) for value in numbers):
        raise UsageError(
            f"means must be three finite numbers, those of G, M̂ and Ŵ, got {means}; the paper has [0, -1, 1]."
        )
    if not _is_finite(deviation) or deviation <= 0:
        raise UsageError(f"deviation must be above 0 and finite, got {deviation}; the paper has 0.1.")
    return tuple(float(value) for value in numbers)


def _is_finite(value: Any) -> bool:
    """Whether a value is a number that single precision holds."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


@register("inalu", version=1)
class INALU(TwoPaths):
    """A NALU that keeps signs, bounds its log space, and whose gates do not depend on the inputs.

    g = σ(G),  y = g ⊙ a + (1 - g) ⊙ m ⊙ s,  a = W_a x,  m = exp(min(W_m log(max(|x|, ε)), ω)),
    s_o = Π_i (sign(x_i) |W_m,oi| + 1 - |W_m,oi|),  W_a = tanh(Ŵ_a) ⊙ σ(M̂_a),  W_m = tanh(Ŵ_m) ⊙ σ(M̂_m)
    R_saturation = Σ_V mean max(20 - |V|, 0), V each of Ŵ, M̂ and G

    Source: Schlör, Ring & Hotho 2020, https://doi.org/10.3389/frai.2020.00071, and the layers `nalui1`
    (shared weights) and `nalui2` of their code, https://github.com/daschloer/inalu. Initialisation: G ~ N(0, 0.1²),
    M̂ ~ N(-1, 0.1²), Ŵ ~ N(1, 0.1²), as in their experiments 1, 2 and 4; the layers alone have 0, 0.5, 0.88 and 0.2².
    Deviations: their code clips s to [-1, 1], where it always is. With several inputs and outputs it takes the |W| of s
    in another order than the inputs, so that weights of other outputs stand in a product; we follow the formula, as
    NALM and Heim et al. do. Gates that depend on the inputs are those of Heim et al. 2020, whose iNALU has g = σ(G x).

    Args:
        shared: whether both paths use one W, as in the NALU, or have weights of their own.
        gate: "independent" of the inputs, G (O,), or "dependent", g = σ(G x) with G (O, I).
        omega, epsilon: the bounds of the log space: no m is above exp(ω), and no |x| below ε counts.
        means: those of G, M̂ and Ŵ. deviation: that of all.
        init: "normal", or "xavier_uniform" for all matrices, as Heim et al. have it.

    Shape: (..., in_features) -> (..., out_features).

    Raises:
        UsageError for two gates at once, without bounds of the log space, and for an initialisation that G cannot have.

    >>> unit, far = INALU(2, 1), torch.tensor([[20.0, 20.0]])
    >>> for G in (20.0, -20.0):
    ...     raw = {"G": torch.tensor([G]), **dict.fromkeys(("W_hat", "M_hat", "W_hat_mul", "M_hat_mul"), far)}
    ...     _ = unit.load_state_dict(raw)
    ...     round(unit(torch.tensor([-2.0, 3.0])).item(), 4)  # the gate is open for the sum, then for the product
    1.0
    -6.0
    """

    def __init__(
        self, in_features: int, out_features: int, shared: bool = False, gate: str = INDEPENDENT,
        omega: float = OMEGA, epsilon: float = EPSILON,
        means: Sequence[float] = MEANS, deviation: float = DEVIATION, init: str = NORMAL,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features)
        self.gate = _gate(gate, (INDEPENDENT, DEPENDENT))
        for name, bound in (("omega", omega), ("epsilon", epsilon)):
            if not _is_finite(bound) or bound <= 0:
                raise UsageError(
                    f"{name} must be above 0 and finite, got {bound}: the log space of an iNALU is clipped; the paper "
                    f"has omega = {OMEGA:g} and epsilon = {EPSILON:g}, and unit=nalu has no clipping."
                )
        if init not in (NORMAL, XAVIER):
            raise unknown("initialisation", str(init), (NORMAL, XAVIER))
        if init == XAVIER and gate == INDEPENDENT:
            raise UsageError(
                f"init={XAVIER} needs a matrix G, got gate={INDEPENDENT}; choose gate={DEPENDENT} or init={NORMAL}."
            )
        self.init = init
        self.omega, self.epsilon = float(omega), float(epsilon)
        self.means, self.deviation = three_means(means, deviation), float(deviation)
        self.G = nn.Parameter(torch.empty(out_features)) if gate == INDEPENDENT else self.matrix()
        self.add_paths(shared)

    def initialisers(self) -> dict[str, Initialiser]:
        if self.init == XAVIER:
            return dict.fromkeys(self._raw(), xavier_uniform)
        of = dict(zip("GMW", self.means, strict=True))
        return {name: normal(of[name[0]], self.deviation) for name in self._raw()}

    def _raw(self) -> tuple[str, ...]:
        """The names of the unit's own parameters."""
        return ("G", "W_hat", "M_hat") if self.shared else ("G", "W_hat", "M_hat", "W_hat_mul", "M_hat_mul")

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"saturation": torch.stack([saturation_penalty(getattr(self, name)) for name in self._raw()]).sum()}

    def columns(self, x: Tensor) -> Tensor:
        weights = self.weights()
        W = weights.get("W_mul", weights["W"])
        a = weights["W"] @ x
        m = torch.exp((W @ x.abs().clamp(min=self.epsilon).log()).clamp(max=self.omega))
        g = torch.sigmoid(self.G.unsqueeze(-1) if self.gate == INDEPENDENT else self.G @ x)
        return g * a + (1 - g) * m * mixed_sign(x, W)

    def gates(self, inputs: Tensor) -> dict[str, Tensor]:
        if self.gate == DEPENDENT:
            return {"g": torch.sigmoid(inputs @ self.G.mT)}
        return {"g": torch.sigmoid(self.G).expand(*inputs.shape[:-1], self.out_features)}


@register("schlor_nalu", version=1)
class SchlorNALU(Unit):
    """The NALU in two readings of its gate: one gate for each output, or one for all.

    g = σ(G x),  y = g ⊙ a + (1 - g) ⊙ m,  a = W x,  m = exp(W log(|x| + ε)),  W = tanh(Ŵ) ⊙ σ(M̂),  ε = 1e-7
    R_saturation as in `INALU`: their trainer has it for every unit.

    Source: Schlör, Ring & Hotho 2020, NALU (m) and NALU (v), https://doi.org/10.3389/frai.2020.00071, and the layers
    `nalu_paper_matrix` and `nalu_paper_vector` of their code, https://github.com/daschloer/inalu. Initialisation as in
    `INALU`. Deviations: none.

    Args:
        gate: "matrix", G (O, I), or "vector", G (I,).
        means: those of G, M̂ and Ŵ. deviation: that of all.

    Shape: (..., in_features) -> (..., out_features).

    Raises:
        UsageError for another gate.

    >>> unit, twenty = SchlorNALU(2, 1, gate="vector"), torch.tensor([[20.0, 20.0]])
    >>> _ = unit.load_state_dict({"G": -twenty[0], "W_hat": twenty, "M_hat": twenty})
    >>> round(unit(torch.tensor([2.0, 3.0])).item(), 4)  # the gate is open for the product
    6.0
    """

    gating = ("G",)

    def __init__(
        self, in_features: int, out_features: int, gate: str = "matrix",
        means: Sequence[float] = MEANS, deviation: float = DEVIATION,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features)
        self.gate = _gate(gate, ("matrix", "vector"))
        self.means, self.deviation = three_means(means, deviation), float(deviation)
        self.G = self.matrix() if gate == "matrix" else nn.Parameter(torch.empty(in_features))
        self.W_hat = self.matrix()
        self.M_hat = self.matrix()

    def initialisers(self) -> dict[str, Initialiser]:
        return {
            name: normal(mean, self.deviation) for name, mean in zip(("G", "M_hat", "W_hat"), self.means, strict=True)
        }

    def weights(self) -> dict[str, Tensor]:
        return {"W": functional.nac_weight(self.W_hat, self.M_hat)}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        raw = (self.G, self.W_hat, self.M_hat)
        return {"saturation": torch.stack([saturation_penalty(value) for value in raw]).sum()}

    def columns(self, x: Tensor) -> Tensor:
        W = self.weights()["W"]
        g = self.gates(x.mT)["g"].mT
        return g * (W @ x) + (1 - g) * functional.log_space_product(x, W)

    def gates(self, inputs: Tensor) -> dict[str, Tensor]:
        G = self.G if self.gate == "matrix" else self.G.expand(self.out_features, self.in_features)
        return {"g": torch.sigmoid(inputs @ G.mT)}


def saturation_penalty(raw: Tensor) -> Tensor:
    """mean max(20 - |v|, 0): raw parameters are pushed to where tanh and σ are -1, 0 or 1.

    Source: Schlör, Ring & Hotho 2020, and their code, https://github.com/daschloer/inalu. Deviations: none.
    """
    return (FAR - raw.abs()).clamp(min=0.0).mean()


def _gate(given: Any, known: tuple[str, ...]) -> str:
    """The gate, if it is one that is known. Raises UsageError otherwise."""
    if isinstance(given, str):
        if given not in known:
            raise unknown("gate", given, known)
        return given
    raise UsageError(f"gate must be one of {' and '.join(known)}, got {given}; a unit has one gate, so choose one.")
