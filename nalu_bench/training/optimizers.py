"""Optimisers as pure functions of one parameter, so that they work on a stacked seed axis: see `Update`.

The formulas are those of `torch.optim`; a test compares the two.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from nalu_bench import registry
from nalu_bench.plan.recipe import Recipe
from nalu_bench.registry import register

Moments = tuple[Tensor, Tensor]
Update = Callable[[Recipe, Tensor, Moments, Tensor, Tensor], tuple[Tensor, Moments]]
"""(recipe, gradient, moments, step size, correction) -> (what to subtract, new moments)."""


@register("adam", version=1, corrected=True)
def adam(
    recipe: Recipe, gradient: Tensor, moments: Moments, step_size: Tensor, correction: Tensor
) -> tuple[Tensor, Moments]:
    """m ← β1 m + (1-β1) g, v ← β2 v + (1-β2) g², Δ = α_t m / (√v / c_t + ε); Kingma & Ba 2015, Algorithm 1.

    α_t = α / (1 - β1^t) and c_t = √(1 - β2^t) come from `corrections`.
    """
    mean, square = _moments(recipe, gradient, moments)
    return step_size * mean / (square.sqrt() / correction + recipe.epsilon), (mean, square)


@register("adam_tf", version=1, corrected=True, several=True)
def adam_tf(
    recipe: Recipe, gradient: Tensor, moments: Moments, step_size: Tensor, correction: Tensor
) -> tuple[Tensor, Moments]:
    """m and v as in `adam`, Δ = α_t c_t m / (√v + ε): Kingma & Ba 2015, end of section 2; Adam as TensorFlow 1 has it.

    Source: `tf.train.AdamOptimizer`, where α = 0.001, β1 = 0.9, β2 = 0.999 and ε = 1e-8 by default. Deviations: t
    counts steps; theirs counts updates, of which a step may have several. Before the first such step both are the same,
    and where it lies after 10,000 steps, c_t is 1 to 5e-5 by then.
    """
    mean, square = _moments(recipe, gradient, moments)
    return step_size * correction * mean / (square.sqrt() + recipe.epsilon), (mean, square)


def _moments(recipe: Recipe, gradient: Tensor, moments: Moments) -> Moments:
    """m and v of Adam after a gradient."""
    mean = torch.lerp(moments[0], gradient, 1 - recipe.beta1)
    return mean, recipe.beta2 * moments[1] + (1 - recipe.beta2) * gradient * gradient


@register("rmsprop", version=1, unread=["beta1"])
def rmsprop(
    recipe: Recipe, gradient: Tensor, moments: Moments, step_size: Tensor, correction: Tensor
) -> tuple[Tensor, Moments]:
    """v ← β2 v + (1-β2) g², Δ = α g / (√v + ε); Tieleman & Hinton 2012."""
    square = recipe.beta2 * moments[1] + (1 - recipe.beta2) * gradient * gradient
    return step_size * gradient / (square.sqrt() + recipe.epsilon), (moments[0], square)


@register("rmsprop_tf", version=1, first_square=1.0, unread=["beta1"])
def rmsprop_tf(
    recipe: Recipe, gradient: Tensor, moments: Moments, step_size: Tensor, correction: Tensor
) -> tuple[Tensor, Moments]:
    """v ← β2 v + (1-β2) g², Δ = α g / √(v + ε), v_0 = 1; RMSprop as TensorFlow 1 has it.

    Source: `tf.train.RMSPropOptimizer`, where β2 = 0.9 and ε = 1e-10 by default. Deviations: no momentum.
    """
    square = recipe.beta2 * moments[1] + (1 - recipe.beta2) * gradient * gradient
    return step_size * gradient / (square + recipe.epsilon).sqrt(), (moments[0], square)


@register("sgd", version=1, unread=["beta1", "beta2", "epsilon"])
def sgd(
    recipe: Recipe, gradient: Tensor, moments: Moments, step_size: Tensor, correction: Tensor
) -> tuple[Tensor, Moments]:
    """Δ = α g (Robbins & Monro 1951)."""
    return step_size * gradient, moments


def corrections(recipe: Recipe, steps: Tensor) -> tuple[Tensor, Tensor]:
    """Step size and correction after `steps` updates (counted from 1), float64.

    The learning rate follows the recipe's schedule, at the share of steps that are done before this one.
    """
    steps = steps.to(torch.float64)
    schedule = registry.schedules.load(recipe.schedule)
    rate = recipe.learning_rate * schedule((steps - 1) / max(recipe.steps, 1), recipe.schedule_end)
    if registry.optimizers.fact(recipe.optimizer, "corrected", False):
        return rate / (1 - recipe.beta1**steps), (1 - recipe.beta2**steps).sqrt()
    return rate, torch.ones_like(steps)
