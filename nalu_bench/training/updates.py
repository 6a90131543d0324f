"""Rules by which the parameters of a step are updated: all together, or in turns, in several updates of the optimiser.

A rule is a pure function of a step and a point. It is traced into the compiled step. Letter: S seeds of a block.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from nalu_bench.registry import register
from nalu_bench.training.data import Tensors

TOTAL, LOSS, PENALTIES = "total", "loss", "penalties"
"""What a rule may differentiate: the loss with its penalties, the loss alone, the penalties alone."""

PERIOD, WEIGHTS = 10, 8
"""Of so many steps in a row, the first so many train the weights and the others the gates."""


@dataclass(frozen=True)
class Point:
    """The parameters, and the optimiser's means of their gradients and squares; stacked, by name."""

    parameters: Tensors
    means: Tensors
    squares: Tensors


@dataclass(frozen=True)
class Step:
    """One step of a block, as a rule sees it.

    Attributes:
        number: of the step, from 1.
        gates: the names of the parameters that are gates, see `Unit.gating`.
        factors: λ of every penalty, by name. limits: `Penalty.below` of every penalty.
        slope: (what to differentiate, parameters, λ (S,) by name, or None for `factors`) -> gradients, values (S,);
            conditions of penalties count in the total alone.
        descend: (point, gradients, masks (S,) by name, or None for all) -> the point after one update of the optimiser;
            what a mask leaves out keeps its value and its means. Gradients are clipped here.
    """

    number: Tensor
    gates: frozenset[str]
    factors: Mapping[str, Tensor]
    limits: Mapping[str, float | None]
    slope: Callable[[str, Tensors, Tensors | None], tuple[Tensors, Tensor]]
    descend: Callable[[Point, Tensors, Mapping[str, Tensor] | None], Point]


Updates = Callable[[Step, Point], tuple[Point, Tensor]]
"""(step, point) -> (the point after the step, the loss (S,) before it, whose finiteness decides over a seed)."""


@register("together", version=1)
def together(step: Step, point: Point) -> tuple[Point, Tensor]:
    """One update of all parameters, by the gradient of the loss with its penalties."""
    gradients, loss = step.slope(TOTAL, point.parameters, None)
    return step.descend(point, gradients, None), loss


@register("alternating", version=1, several=True)
def alternating(step: Step, point: Point) -> tuple[Point, Tensor]:
    """Weights and gates in turns, and then the penalties in an update of their own.

    In 8 of 10 steps the loss alone updates the weights, in the other 2 the gates. What is not updated keeps its means.
    Then, for the seeds whose loss before this update was below the limit of a penalty, and once its factor is above 0,
    the penalties alone update all parameters. All updates share the optimiser's means. The loss is that before.

    Source: Schlör, Ring & Hotho 2020, iNALU, https://doi.org/10.3389/frai.2020.00071: separate updates of weights and
    gates; numbers and order are those of their code, https://github.com/daschloer/inalu. Deviations: there the
    penalties update weights and gates one after the other, which is the same, because no penalty reads two parameters.
    """
    gradients, loss = step.slope(LOSS, point.parameters, None)
    turn = ((step.number - 1) % PERIOD < WEIGHTS).expand_as(loss)
    turns = {name: ~turn if name in step.gates else turn for name in point.parameters}
    point = step.descend(point, gradients, turns)
    if not step.factors:
        return point, loss
    acting = {name: _acting(factor, step.limits[name], loss) for name, factor in step.factors.items()}
    gradients, _ = step.slope(PENALTIES, point.parameters, acting)
    some = torch.stack([factor > 0 for factor in acting.values()]).any(0)
    return step.descend(point, gradients, dict.fromkeys(point.parameters, some)), loss


def _acting(factor: Tensor, limit: float | None, loss: Tensor) -> Tensor:
    """λ (S,) of a penalty, 0 for the seeds whose loss is not below its limit."""
    each = factor.expand_as(loss)
    return each if limit is None else torch.where(loss < limit, each, 0.0)
