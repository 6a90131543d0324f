"""The neural multiplication unit (NMU) of Madsen & Johansen 2020."""

from torch import Tensor

from nalu_bench.registry import register
from nalu_bench.units import functional
from nalu_bench.units.unit import Initialiser, Unit, uniform


@register("nmu", version=1)
class NMU(Unit):
    """A product of gated inputs, with weights clamped to [0, 1] and pulled towards 0 and 1 by a penalty.

    y_o = Π_i (W_oi x_i + 1 - W_oi)
    R_sparse = mean min(|W|, |1 - W|)

    Source: Madsen & Johansen 2020, eq. 10 to 12, https://arxiv.org/abs/2001.05016. Initialisation: W ~ U[0.25, 0.75].
    Deviations: none. `project_` clamps W after every step. The authors' penalty on weights out of bounds would
    therefore always be 0: it is left out. With `clamped=False`, their ablation "no W-clamp", W may leave [0, 1]. The
    formula then has min(max(W, 0), 1) in its place, and R_sparse is still that of W, as in their code
    (`--oob-mode regualized --regualizer-oob 0`).

    Args:
        clamped: whether W is clamped after every step; if not, it is clamped in `forward` alone.

    Shape: (..., in_features) -> (..., out_features); keeps the signs of x.

    >>> import torch
    >>> unit = NMU(3, 1)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0, 1.0, 0.0]])})
    >>> unit(torch.tensor([-2.0, 3.0, 5.0])).tolist()
    [-6.0]
    """

    neutral = 1.0

    def __init__(self, in_features: int, out_features: int, clamped: bool = True) -> None:
        super().__init__(in_features, out_features)
        self.clamped = clamped
        self.W = self.matrix()

    def initialisers(self) -> dict[str, Initialiser]:
        return {"W": uniform(0.25, 0.75)}

    def weights(self) -> dict[str, Tensor]:
        return {"W": self.W if self.clamped else self.W.clamp(0.0, 1.0)}

    def penalties(self, inputs: Tensor) -> dict[str, Tensor]:
        return {"sparsity": functional.sparsity_penalty(self.W, 1 - self.W)}

    def project_(self) -> None:
        if self.clamped:
            self.W.clamp_(0.0, 1.0)

    def columns(self, x: Tensor) -> Tensor:
        return functional.gated_product(x, self.weights()["W"])
