"""The optimisers compared with torch's."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from nalu_bench.plan.recipe import Recipe
from nalu_bench.registry import optimizers
from nalu_bench.training.optimizers import corrections

RECIPE = Recipe(
    name="test", optimizer="adam", learning_rate=0.05, beta1=0.8, beta2=0.97, epsilon=1e-6, batch_size=1,
    evaluation_size=1, steps=50, log_every=50, ramp_scale=1.0, selection="last",
)  # fmt: skip
STEPS = 50


def problem() -> tuple[Tensor, Tensor, Tensor]:
    """Least squares with other data at every step: A (steps, 8, 5), t (steps, 8), the first weights (5,)."""
    generator = torch.Generator().manual_seed(0)
    A = torch.randn(STEPS, 8, 5, dtype=torch.float64, generator=generator)
    t = torch.randn(STEPS, 8, dtype=torch.float64, generator=generator)
    return A, t, torch.randn(5, dtype=torch.float64, generator=generator)


def torchs(recipe: Recipe, weight: Tensor) -> torch.optim.Optimizer:
    if recipe.optimizer == "adam":
        betas = (recipe.beta1, recipe.beta2)
        return torch.optim.Adam([weight], lr=recipe.learning_rate, betas=betas, eps=recipe.epsilon)
    if recipe.optimizer == "sgd":
        return torch.optim.SGD([weight], lr=recipe.learning_rate)
    return torch.optim.RMSprop([weight], lr=recipe.learning_rate, alpha=recipe.beta2, eps=recipe.epsilon)


@pytest.mark.parametrize("optimizer", ["adam", "rmsprop", "sgd"])
def test_an_optimiser_takes_the_steps_of_torch_optim(optimizer: str) -> None:
    recipe = replace(RECIPE, optimizer=optimizer)
    A, t, start = problem()
    theirs = start.clone().requires_grad_()
    torch_optimizer = torchs(recipe, theirs)
    ours, moments = start.clone(), (torch.zeros_like(start), torch.zeros_like(start))
    step_size, correction = corrections(recipe, torch.arange(1, STEPS + 1))
    for step in range(STEPS):
        torch_optimizer.zero_grad()
        (A[step] @ theirs - t[step]).square().mean().backward()
        torch_optimizer.step()
        gradient = 2 / 8 * A[step].T @ (A[step] @ ours - t[step])
        change, moments = optimizers.load(optimizer)(recipe, gradient, moments, step_size[step], correction[step])
        ours = ours - change
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-12, atol=1e-13)
    assert (ours - start).abs().min() > 0.1


def test_corrections_are_exact_also_after_millions_of_steps() -> None:
    steps = torch.tensor([1, 2, 5_000_000])
    step_size, correction = corrections(RECIPE, steps)
    assert step_size.dtype == correction.dtype == torch.float64
    for index, step in enumerate(steps.tolist()):
        assert step_size[index].item() == pytest.approx(0.05 / (1 - 0.8**step), rel=1e-14)
        assert correction[index].item() == pytest.approx((1 - 0.97**step) ** 0.5, rel=1e-14)


def test_adam_tf_takes_the_steps_of_tensorflow_1() -> None:
    """var -= lr √(1 - β2^t) / (1 - β1^t) m / (√v + ε): the kernel `ApplyAdam`."""
    recipe = replace(RECIPE, optimizer="adam_tf", epsilon=1e-3)
    gradients = torch.randn(STEPS, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    theirs, m, v = (torch.zeros(5, dtype=torch.float64) for _ in range(3))
    ours, moments = torch.zeros_like(theirs), (torch.zeros_like(theirs), torch.zeros_like(theirs))
    step_size, correction = corrections(recipe, torch.arange(1, STEPS + 1))
    for step, gradient in enumerate(gradients):
        m += (1 - 0.8) * (gradient - m)
        v += (1 - 0.97) * (gradient.square() - v)
        theirs -= 0.05 * (1 - 0.97 ** (step + 1)) ** 0.5 / (1 - 0.8 ** (step + 1)) * m / (v.sqrt() + 1e-3)
        change, moments = optimizers.load("adam_tf")(recipe, gradient, moments, step_size[step], correction[step])
        ours = ours - change
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-13)


def test_rmsprop_tf_takes_the_steps_of_tensorflow_1() -> None:
    """ms += (1 - ρ) (g² - ms), var -= lr g / √(ms + ε), with ms = 1 at the start: the kernel `ApplyRMSProp`."""
    recipe = replace(RECIPE, optimizer="rmsprop_tf", beta2=0.9, epsilon=1e-3)
    gradients = torch.randn(STEPS, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    theirs, ms = torch.zeros(5, dtype=torch.float64), torch.full((5,), 1.0, dtype=torch.float64)
    ours, first = torch.zeros_like(theirs), optimizers.fact("rmsprop_tf", "first_square", 0.0)
    moments = torch.zeros_like(ours), torch.full_like(ours, first)
    step_size, correction = corrections(recipe, torch.arange(1, STEPS + 1))
    for step, gradient in enumerate(gradients):
        ms += (1 - 0.9) * (gradient.square() - ms)
        theirs -= 0.05 * gradient / (ms + 1e-3).sqrt()
        change, moments = optimizers.load("rmsprop_tf")(recipe, gradient, moments, step_size[step], correction[step])
        ours = ours - change
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-13)
    assert {optimizers.fact(name, "first_square", 0.0) for name in optimizers.entries if name != "rmsprop_tf"} == {0.0}
