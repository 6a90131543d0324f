"""The factors of penalties, and which of two losses is minimised, as functions of the step."""

import torch
from torch import Tensor

from nalu_bench.models.model import Penalty
from nalu_bench.plan.recipe import Recipe


def factors(penalty: Penalty, steps: Tensor, scale: float) -> Tensor:
    """λ(t) of a penalty at the given steps, float64, see `Penalty`; the first step has t = 0.

    So have the authors' loops, but for that of sequential MNIST, which begins with t = 1.

    Args:
        scale: the recipe's factor on all lengths in steps.
    """
    start, end, done = penalty.start * scale, penalty.end * scale, steps.double() - 1
    rise = (done - start) / (end - start) if end > start else (done >= start).double()
    ramp = rise.clamp(0, 1)
    return _weights(penalty, done, scale) * (1 - ramp if penalty.falling else ramp)


def acting_first(recipe: Recipe, steps: Tensor) -> Tensor:
    """1 at the given steps in which the recipe's first loss is minimised, 0 at the others; the first has t = 0."""
    return (steps.double() - 1 < recipe.first_steps * recipe.ramp_scale).double()


def _weights(penalty: Penalty, done: Tensor, scale: float) -> Tensor | float:
    if not penalty.tenfold_every:
        return penalty.weight
    if not penalty.weight:
        return 0.0  # 0 times the infinity that many stairs make is no number
    stairs = torch.floor(done / (penalty.tenfold_every * scale))
    return (penalty.weight * 10.0**stairs).clamp(max=penalty.most)
