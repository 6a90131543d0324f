"""The stochastic neural multiplication unit (sNMU) of Mistry, Farrahi & Hare 2022."""

import math
from collections.abc import Sequence
from typing import Any

from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.registry import register
from nalu_bench.units import functional
from nalu_bench.units.nmu import NMU

BATCH = "batch"
"""The range [1, 1 + 1 / std(x)], which follows the batch."""


@register("snmu", version=1)
class SNMU(NMU):
    """An NMU whose inputs are multiplied by noise in training; the noise's own product is divided out again.

    In training y_o = Π_i (W_oi n_i x_i + 1 - W_oi) / Π_i (W_oi n_i + 1 - W_oi),  n_i ~ U[low, high]; otherwise as
    `NMU`, to which it is equal for W in {0, 1}.

    Source: Mistry, Farrahi & Hare 2022, Improving the Robustness of Neural Multiplication Units with Reversible
    Stochasticity, https://arxiv.org/abs/2211.05624, and their code, https://github.com/bmistry4/nalm-robust-nmu.
    Initialisation, penalty and clamp as in `NMU`. Deviations: none. The standard deviation of the batch is that over
    all its entries, with n - 1, and has no gradient, as in the code.

    Args:
        noise_range: [low, high] of the noise, [1, 5] in the paper; or "batch" for [1, 1 + 1 / std(x)].

    Shape: (..., in_features) -> (..., out_features); keeps the signs of x.

    Raises:
        UsageError for a range that holds 0 or negative numbers, at which the divisor may vanish, and for an empty one.

    >>> import torch
    >>> unit = SNMU(3, 1)
    >>> _ = unit.load_state_dict({"W": torch.tensor([[1.0, 1.0, 0.0]])})
    >>> x = torch.tensor([[-2.0, 3.0, 5.0]])
    >>> unit.disturbed(x, torch.tensor([[0.0], [0.25], [0.5]])).tolist()  # noise 1, 2 and 3, at exact weights
    [[-6.0]]
    """

    def __init__(self, in_features: int, out_features: int, noise_range: Sequence[float] | str = (1.0, 5.0)) -> None:
        super().__init__(in_features, out_features)
        self.noise_range = _range(noise_range)
        self.noise = in_features

    def disturbed(self, x: Tensor, noise: Tensor) -> Tensor:
        if self.noise_range is None:
            n = 1 + noise / x.detach().std()
        else:
            low, high = self.noise_range
            n = low + (high - low) * noise
        return (functional.gated_product(x.mT * n, self.W) / functional.gated_product(n, self.W)).mT


def _range(given: Any) -> tuple[float, float] | None:
    """(low, high), or None for that of the batch. Raises UsageError unless 0 < low < high, both finite."""
    if given == BATCH:
        return None
    numbers = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else ()
    if len(numbers) == 2 and all(isinstance(number, int | float) for number in numbers):
        low, high = map(float, numbers)
        if 0 < low < high < math.inf:
            return low, high
    raise UsageError(
        f'noise_range must be [low, high] with 0 < low < high, or "{BATCH}", got {given}; the paper has [1, 5]. '
        "At noise of 0 or below, the product that is divided by may be 0."
    )
