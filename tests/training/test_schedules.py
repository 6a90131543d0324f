"""Learning-rate schedules compared with torch's."""

from dataclasses import replace

import pytest
import torch
from torch.optim import lr_scheduler

from nalu_bench.errors import UsageError
from nalu_bench.plan.recipe import Recipe
from nalu_bench.training.optimizers import corrections

STEPS, RATE, END = 40, 0.05, 0.1

RECIPE = Recipe(
    name="test", optimizer="sgd", learning_rate=RATE, beta1=0.9, beta2=0.99, epsilon=1e-8, batch_size=1,
    evaluation_size=1, steps=STEPS, log_every=10, ramp_scale=1.0, selection="last", schedule_end=END,
)  # fmt: skip


def torchs(schedule: str) -> list[float]:
    """The learning rates of torch's schedule at every step."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=RATE)
    scheduler = {
        "constant": lambda: lr_scheduler.ConstantLR(optimizer, factor=1.0),
        "linear": lambda: lr_scheduler.LinearLR(optimizer, 1.0, END, STEPS),
        "cosine": lambda: lr_scheduler.CosineAnnealingLR(optimizer, STEPS, RATE * END),
    }[schedule]()
    rates = []
    for _ in range(STEPS):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


@pytest.mark.parametrize("schedule", ["constant", "linear", "cosine"])
def test_a_schedule_has_the_learning_rates_of_torch(schedule: str) -> None:
    rates, _ = corrections(replace(RECIPE, schedule=schedule), torch.arange(1, STEPS + 1))
    assert rates.tolist() == pytest.approx(torchs(schedule), rel=1e-9)


def test_a_schedule_multiplies_the_step_size_of_adam() -> None:
    steps = torch.arange(1, STEPS + 1)
    adam = replace(RECIPE, optimizer="adam")
    plain, falling = (corrections(replace(adam, schedule=one), steps) for one in ("constant", "linear"))
    share = (steps - 1).double() / STEPS
    torch.testing.assert_close(falling[0], plain[0] * (1 - 0.9 * share))
    assert torch.equal(falling[1], plain[1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schedule": "cosin"}, "did you mean 'cosine'"),
        ({"schedule_end": -1.0}, r"recipe\.schedule_end must be at least 0"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        replace(RECIPE, **change).validate()  # type: ignore[arg-type]
