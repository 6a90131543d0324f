"""The neural power units of Heim, Pevný & Šmídl 2020: NPU, Real NPU and naive NPU."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn

from nalu_bench.errors import UsageError, unknown
from nalu_bench.registry import register
from nalu_bench.units import functional
from nalu_bench.units.nau import nau_range
from nalu_bench.units.signs import half_turns
from nalu_bench.units.unit import Initialiser, Unit, uniform, xavier_uniform, zeros

EPSILON = 2.0**-23
"""The machine epsilon of float32, which the authors' code adds to |x|; the paper has none."""

BOUNDS = {"W_re": (-1.0, 1.0), "W_im": (-1.0, 1.0), "g": (0.0, 1.0)}
"""Parameter -> what `project_` clamps it to, where it is `clamped`."""

INITS = ("xavier_uniform", "nau")


def checked(epsilon: float) -> float:
    """The epsilon. Raises UsageError unless it lies in [0, 1)."""
    if not isinstance(epsilon, int | float) or not 0 <= epsilon < 1:
        raise UsageError(f"epsilon must lie in [0, 1), got {epsilon}; the authors have {EPSILON:.3g}.")
    return epsilon


def half(tensor: Tensor, generator: Generator | None) -> object:
    """Initialiser for 1/2."""
    return tensor.fill_(0.5)


@register("npu", version=1)
class NPU(Unit):
    """A product of powers of the inputs, with complex exponents and a gate that turns inputs into 1.

    y = exp(W_re log r - W_im k) ⊙ cos(W_im log r + W_re k),  r = ĝ ⊙ (|x| + ε) + 1 - ĝ,  k = ĝ ⊙ π [x < 0],
    ĝ = min(max(g, 0), 1),  ε = 2^-23
    R_l1 = Σ |W_re| + Σ |W_im| + Σ |g|,  R_gate = mean min(|g|, |1 - g|),  R_discrete = mean |1 - |W_re||

    Source: Heim, Pevný & Šmídl 2020, section 3, definition of the NPU, https://arxiv.org/abs/2006.01681, and their
    code, https://github.com/nmheim/NeuralPowerUnits. `imaginary=False` is their Real NPU, `gate=False` their naive NPU.
    `clamped`, `init="nau"`, R_gate and R_discrete are the changes of Mistry, Farrahi & Hare 2022, Exploring the
    Learning Mechanisms of Neural Division Modules, https://openreview.net/forum?id=HjelcW6wio, and their code; with
    W_im clamped, R_discrete has Σ |W_im| as well. Initialisation: W_re Xavier-uniform, W_im = 0, g = 1/2 (section 3).
    Deviations: none from their code. Its ε is not in the paper, which also prints the cases of k the other way round.
    R_l1 is that of the unit; the authors sum it over all parameters of the network.

    Args:
        imaginary: whether there is a W_im.
        gate: whether there is a g; without, ĝ = 1.
        init: the distribution of W_re, "xavier_uniform" or that of the "nau".
        clamped: the parameters that are clamped after each step: W_re and W_im to [-1, 1], g to [0, 1].
        epsilon: what is added to |x|.

    Shape: (..., in_features) -> (..., out_features).

    Raises:
        UsageError for an initialisation that does not exist, for a parameter to clamp that the unit does not have, and
        for an epsilon outside of [0, 1).

    >>> unit = NPU(3, 1)
    >>> W_re, g = torch.tensor([[1.0, -1.0, 0.0]]), torch.tensor([1.0, 1.0, 0.0])
    >>> _ = unit.load_state_dict({"W_re": W_re, "W_im": torch.zeros(1, 3), "g": g})
    >>> round(unit(torch.tensor([-6.0, 3.0, 0.0])).item(), 4)
    -2.0
    """

    neutral = 1.0

    def __init__(
        self, in_features: int, out_features: int, imaginary: bool = True, gate: bool = True,
        init: str = "xavier_uniform", clamped: Sequence[str] = (), epsilon: float = EPSILON,
    ) -> None:  # fmt: skip
        super().__init__(in_features, out_features)
        if init not in INITS:
            raise unknown("initialisation", init, INITS)
        self.init = init
        self.epsilon = checked(epsilon)
        self.W_re = self.matrix()
        self.W_im = self.matrix() if imaginary else None
        self.g = nn.Parameter(torch.empty(in_features)) if gate else None
        self.clamped = self._clamped(clamped)

    def _clamped(self, names: Any) -> tuple[str, ...]:
        if not isinstance(names, Sequence):
            raise UsageError(f"clamped must list parameters, {' or '.join(self._own())}, got {names!r:.60}.")
        given = (names,) if isinstance(names, str) else tuple(names)
        for name in given:
            if name not in self._own():
                raise unknown("parameter to clamp", name, self._own())
        return given

    def _own(self) -> list[str]:
        """The names of the unit's own parameters."""
        return [name for name in BOUNDS if getattr(self, name) is not None]

    def initialisers(self) -> dict[str, Initialiser]:
        r = nau_range(self.in_features, self.out_features)
        found: dict[str, Initialiser] = {"W_re": uniform(-r, r) if self.init == "nau" else xavier_uniform}
        if self.W_im is not None:
            found["W_im"] = zeros
        if self.g is not None:
            found["g"] = half
        return found

    def weights(self) -> dict[str, Tensor]:
        return {"W_re": self.W_re} if self.W_im is None else {"W_re": self.W_re, "W_im": self.W_im}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        found = {"l1": torch.stack([getattr(self, name).abs().sum() for name in self._own()]).sum()}
        found["discrete"] = (1 - self.W_re.abs()).abs().mean()
        if self.W_im is not None and "W_im" in self.clamped:
            found["discrete"] = found["discrete"] + self.W_im.abs().sum()
        if self.g is not None:
            found["gate"] = functional.sparsity_penalty(self.g, 1 - self.g)
        return found

    def project_(self) -> None:
        for name in self.clamped:
            getattr(self, name).clamp_(*BOUNDS[name])

    def columns(self, x: Tensor) -> Tensor:
        r, k = x.abs() + self.epsilon, half_turns(x)
        if self.g is not None:
            g = self.g.clamp(0.0, 1.0).unsqueeze(-1)
            r, k = g * r + (1 - g), g * k
        log_r = r.log()
        if self.W_im is None:
            return torch.exp(self.W_re @ log_r) * torch.cos(self.W_re @ k)
        return torch.exp(self.W_re @ log_r - self.W_im @ k) * torch.cos(self.W_im @ log_r + self.W_re @ k)
