"""Affine layers, plain and with an activation: the baselines of the papers."""

import torch
from torch import Tensor, nn

from nalu_bench.registry import register
from nalu_bench.units.unit import Initialiser, Unit, kaiming_uniform, uniform, xavier_uniform, zeros


@register("linear", version=1)
class Linear(Unit):
    """y = W x + b.

    Source: the baseline of Trask et al. 2018, https://arxiv.org/abs/1808.00508, and Madsen & Johansen 2020,
    https://arxiv.org/abs/2001.05016. Initialisation: W Xavier-uniform, b = 0 (Madsen & Johansen's code). Deviations:
    none. `weights()` is W alone: the papers' sparsity error leaves the bias out.

    Args:
        bias: whether there is a b; the papers do not say.

    Shape: (..., in_features) -> (..., out_features).

    >>> unit = Linear(2, 1)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[2.0, -1.0]]), "b": torch.tensor([0.5])})
    >>> unit(torch.tensor([5.0, 3.0])).tolist()
    [7.5]
    """

    def __init__(self, in_features: int, out_features: int, bias: bool = True) -> None:
        super().__init__(in_features, out_features)
        self.W = self.matrix()
        self.b = nn.Parameter(torch.empty(out_features)) if bias else None

    def initialisers(self) -> dict[str, Initialiser]:
        bias: dict[str, Initialiser] = {} if self.b is None else {"b": zeros}
        return {"W": xavier_uniform} | bias

    def columns(self, x: Tensor) -> Tensor:
        return self.W @ x if self.b is None else self.W @ x + self.b.unsqueeze(-1)

    def weights(self) -> dict[str, Tensor]:
        return {"W": self.W}


@register("relu", version=1)
class ReLU(Linear):
    """y = max(0, W x + b), W Kaiming-uniform, b = 0; else as `Linear`.

    >>> unit = ReLU(1, 2)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0], [-1.0]]), "b": torch.zeros(2)})
    >>> unit(torch.tensor([7.0])).tolist()
    [7.0, 0.0]
    """

    def initialisers(self) -> dict[str, Initialiser]:
        return super().initialisers() | {"W": kaiming_uniform}

    def columns(self, x: Tensor) -> Tensor:
        return torch.relu(super().columns(x))


@register("relu6", version=1)
class ReLU6(ReLU):
    """y = min(6, max(0, W x + b)), W Kaiming-uniform, b = 0; else as `Linear`.

    >>> unit = ReLU6(1, 2)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0], [-1.0]]), "b": torch.zeros(2)})
    >>> unit(torch.tensor([7.0])).tolist()
    [6.0, 0.0]
    """

    def columns(self, x: Tensor) -> Tensor:
        return super().columns(x).clamp(max=6.0)


@register("constant", version=1)
class Constant(Unit):
    """y = b, whatever x is: the control that a model must beat before it has learned anything of its inputs.

    Source: none. Initialisation: b ~ U[0, 1] (our choice). Deviations: none. `weights` names none.

    Shape: (..., in_features) -> (..., out_features).

    >>> unit = Constant(2, 1)
    >>> _ = unit.load_state_dict({"b": torch.tensor([0.5])})
    >>> unit(torch.tensor([[5.0, 3.0], [1.0, 2.0]])).tolist()
    [[0.5], [0.5]]
    """

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.b = nn.Parameter(torch.empty(out_features))

    def initialisers(self) -> dict[str, Initialiser]:
        return {"b": uniform(0.0, 1.0)}

    def columns(self, x: Tensor) -> Tensor:
        return self.b.unsqueeze(-1) + torch.zeros_like(x[..., :1, :])

    def weights(self) -> dict[str, Tensor]:
        return {}
