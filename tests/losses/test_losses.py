"""Losses and measures against numbers done by hand and against torch."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from nalu_bench import registry
from nalu_bench.tasks.measure import Measure

Y = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.4]])
T = torch.tensor([[1.0, 2.3], [3.0, 1.0], [1.0, 0.0]])


def test_losses_of_numbers_are_torchs() -> None:
    assert torch.equal(registry.losses.load("mse")(Y, T), functional.mse_loss(Y, T))
    assert torch.equal(registry.losses.load("smooth_l1")(Y, T), functional.smooth_l1_loss(Y, T))


def test_the_correlation_is_pearsons_and_does_not_see_scale_and_offset() -> None:
    loss = registry.losses.load("correlation")
    y, t = (torch.randn(50, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(n)) for n in (0, 1))
    r = torch.corrcoef(torch.stack([y.flatten(), t.flatten()]))[0, 1]
    assert float(loss(y, t)) == pytest.approx(1 - float(r), abs=1e-6)
    assert float(loss(3 * y - 7, t)) == pytest.approx(float(loss(y, t)), abs=1e-6)
    assert float(loss(t, t)) == pytest.approx(0, abs=1e-6)


def test_a_constant_has_no_correlation_and_finite_gradients() -> None:
    y = torch.ones(4, 1, requires_grad=True)
    loss = registry.losses.load("correlation")(y, torch.arange(4.0).unsqueeze(1))
    loss.backward()
    assert float(loss.detach()) == 1.0
    assert y.grad is not None
    assert y.grad.isfinite().all()


@pytest.mark.parametrize("labels", [torch.tensor([0, 1, 1]), torch.tensor([[0], [1], [1]])])
def test_labels_may_be_targets(labels: Tensor) -> None:
    expected = functional.cross_entropy(Y, torch.tensor([0, 1, 1]))
    assert torch.equal(registry.losses.load("cross_entropy")(Y, labels), expected)
    assert float(Measure("correct")(Y, labels)) == 0.0
    assert float(Measure("correct")(-Y, labels)) == 1.0


def test_measures_are_means_over_the_examples() -> None:
    measures = {"mse": (0.09 + 4 + 0.25 + 0.16) / 6, "mae": (0.3 + 2 + 0.5 + 0.4) / 6, "rounds": 1 / 3}
    for name, value in measures.items():
        assert float(Measure(name)(Y, T)) == pytest.approx(value)
    assert float(Measure("accuracy", {"tolerance": 0.5})(Y, T)) == pytest.approx(4 / 6)
