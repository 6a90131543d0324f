"""Affine layers with an activation, against torch's own modules."""

import math
from functools import partial
from typing import Any

import pytest
import torch
from torch import Generator, nn

from nalu_bench.errors import UsageError
from nalu_bench.units.dense import ACTIVATIONS, SLOPE, Dense

MODULES = {
    "linear": nn.Identity, "relu": nn.ReLU, "relu6": nn.ReLU6, "leaky_relu": nn.LeakyReLU, "prelu": nn.PReLU,
    "elu": nn.ELU, "selu": nn.SELU, "softplus": nn.Softplus, "swish": nn.SiLU, "sigmoid": nn.Sigmoid,
    "tanh": nn.Tanh, "hardtanh": nn.Hardtanh, "softsign": nn.Softsign, "tanhshrink": nn.Tanhshrink,
    "softshrink": nn.Softshrink, "hardshrink": nn.Hardshrink, "threshold": partial(nn.Threshold, 0.1, 20),
    "leaky_relu_quarter": partial(nn.LeakyReLU, 0.25),
}  # fmt: skip
OWN = {"crelu"}
"""Activations without a module of torch."""


def test_every_activation_has_a_module_to_be_held_against() -> None:
    assert set(MODULES) == set(ACTIVATIONS) - OWN


def test_a_crelu_gives_both_halves_of_every_row() -> None:
    unit = Dense(2, 4, activation="crelu", bias=False)
    assert [name for name, _ in unit.named_parameters()] == ["W"]
    unit.load_state_dict({"W": torch.eye(2)})
    assert unit(torch.tensor([3.0, -5.0])).tolist() == [3, 0, 0, 5]
    with pytest.raises(UsageError, match="outputs of a layer with crelu must be even, got 3"):
        Dense(2, 3, activation="crelu")


def test_a_layer_without_a_bias_is_torchs() -> None:
    unit = Dense(3, 5, activation="tanh", bias=False).double()
    x = torch.randn(50, 3, dtype=torch.float64, generator=Generator().manual_seed(0))
    torch.testing.assert_close(unit(x), torch.tanh(x @ unit.W.T))


@pytest.mark.parametrize("activation", [None, torch.relu, ["relu"], "reluu"])
def test_what_names_no_activation_is_refused_with_those_there_are(activation: Any) -> None:
    with pytest.raises(UsageError, match=r"unknown activation .* Known: crelu, elu, "):
        Dense(2, 3, activation=activation)


@pytest.mark.parametrize("activation", MODULES)
def test_a_dense_layer_is_torchs_linear_layer_and_activation(activation: str) -> None:
    unit = Dense(3, 5, activation=activation).double()
    linear = nn.Linear(3, 5).double()
    with torch.no_grad():
        linear.weight.copy_(unit.W)
        linear.bias.copy_(unit.b)
    x = 4 * torch.randn(50, 3, dtype=torch.float64, generator=Generator().manual_seed(0))
    torch.testing.assert_close(unit(x), MODULES[activation]().double()(linear(x)), rtol=1e-12, atol=1e-14)


def test_xaviers_weights_are_uniform_by_inputs_and_outputs_and_biases_are_zero() -> None:
    unit = Dense(100, 200, initialisation="xavier")
    assert not unit.b.any()
    r = math.sqrt(6 / 300)
    assert 0.99 * r < unit.W.abs().max() <= r
    assert unit.W.var().item() == pytest.approx(r**2 / 3, rel=0.03)
    with pytest.raises(UsageError, match="unknown initialisation 'xavie'; did you mean 'xavier'"):
        Dense(1, 1, initialisation="xavie")


def test_weights_and_biases_are_uniform_as_torchs() -> None:
    unit = Dense(100, 1000, activation="tanh")
    unit.reset_parameters(Generator().manual_seed(0))
    theirs = nn.Linear(100, 1000)
    for ours, other in ((unit.W, theirs.weight), (unit.b, theirs.bias)):
        assert ours.abs().max() <= 1 / math.sqrt(100)
        assert ours.std().item() == pytest.approx(other.std().item(), rel=0.1)


def test_the_slope_of_a_prelu_is_learned_and_starts_anew_in_every_network() -> None:
    for _ in range(2):
        unit = Dense(2, 2, activation="prelu")
        assert unit.slope.item() == SLOPE
        unit(-torch.rand(4, 2)).sum().backward()
        assert unit.slope.grad is not None
        with torch.no_grad():
            unit.slope.fill_(0.9)


def test_an_activation_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown activation 'leakyrelu'; did you mean 'leaky_relu'"):
        Dense(2, 2, activation="leakyrelu")
