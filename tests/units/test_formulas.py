"""The units of the iNALU, NPU and NALM papers against their formulas in NumPy, written apart from the units.

Letters as in the papers: σ is `sigmoid`, ε `epsilon`; inputs are rows of x (B, I), weights W (O, I).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nalu_bench.units import GNALU, INALU, MCFC, NMRU, NPU, NRU, SNMU, MulMCFC, Unit

Array = NDArray[np.float64]
Parameters = dict[str, Array]

GOLDEN = (1 + 5**0.5) / 2


def inputs() -> Array:
    return np.random.default_rng(7).uniform(-3, 3, (5, 3))


def noise() -> Array:
    return np.random.default_rng(8).uniform(0, 1, (3, 5))


def drawn(unit: Unit, **ranges: tuple[float, float]) -> Parameters:
    """Give a unit parameters from N(0, 0.6²), or from U of a range, and return them."""
    rng = np.random.default_rng(9)
    with torch.no_grad():
        for name, parameter in unit.double().named_parameters():
            ends, shape = ranges.get(name), tuple(parameter.shape)
            values = rng.normal(0, 0.6, shape) if ends is None else rng.uniform(*ends, shape)
            parameter.copy_(torch.tensor(values))
    return {name: parameter.detach().numpy() for name, parameter in unit.named_parameters()}


def agrees(found: torch.Tensor, expected: Array) -> None:
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-12, atol=1e-13)


def sigmoid(z: Array) -> Array:
    return 1 / (1 + np.exp(-z))


def nmu(z: Array, W: Array) -> Array:
    factors: Array = W * z[:, None] + 1 - W
    found: Array = factors.prod(axis=-1)
    return found


@pytest.mark.parametrize("shared", [True, False])
def test_inalu(shared: bool) -> None:
    unit, x = INALU(3, 2, shared=shared), inputs()
    p = drawn(unit)
    of_sum = np.tanh(p["W_hat"]) * sigmoid(p["M_hat"])
    of_product = of_sum if shared else np.tanh(p["W_hat_mul"]) * sigmoid(p["M_hat_mul"])
    size = np.exp(np.minimum(np.log(np.maximum(abs(x), 1e-7)) @ of_product.T, 20))
    sign = np.prod(np.sign(x)[:, None] * abs(of_product) + 1 - abs(of_product), axis=-1).clip(-1, 1)
    g = sigmoid(p["G"]).reshape(-1)
    agrees(unit(torch.tensor(x)), g * (x @ of_sum.T) + (1 - g) * size * sign)


@pytest.mark.parametrize("options", [{}, {"imaginary": False}, {"gate": False}])
def test_npu(options: dict[str, Any]) -> None:
    unit, x = NPU(3, 2, **options), inputs()
    p = drawn(unit, g=(-0.3, 1.3))
    g = p.get("g", np.ones(3)).clip(0, 1)
    log = np.log(g * (abs(x) + 2.0**-23) + 1 - g) + 1j * np.pi * g * (x < 0)
    agrees(unit(torch.tensor(x)), np.exp(log @ (p["W_re"] + 1j * p.get("W_im", np.zeros((2, 3)))).T).real)


@pytest.mark.parametrize(
    ("options", "width"), [({}, lambda x: 4.0), ({"noise_range": "batch"}, lambda x: 1 / np.std(x, ddof=1))]
)
def test_snmu(options: dict[str, Any], width: Callable[[Array], float]) -> None:
    unit, x = SNMU(3, 2, **options), inputs()
    W, factor = drawn(unit, W=(0, 1))["W"], 1 + width(x) * noise().T
    agrees(unit(torch.tensor(x)), nmu(x, W))
    agrees(unit.disturbed(torch.tensor(x), torch.tensor(noise())), nmu(x * factor, W) / nmu(factor, W))


def test_nru() -> None:
    unit, x = NRU(3, 2), inputs()
    W = drawn(unit, W=(-1, 1))["W"]
    power, near = np.sign(x)[:, None] * abs(x)[:, None] ** W, np.tanh(1000 * W) ** 2
    agrees(unit(torch.tensor(x)), np.prod(power * abs(W) + 1 - abs(W), axis=-1))
    agrees(unit.disturbed(torch.tensor(x), torch.zeros(1, 5).double()), np.prod(power * near + 1 - near, axis=-1))


def test_nmru() -> None:
    unit, x = NMRU(3, 2), inputs()
    W, both = drawn(unit, W=(0, 1))["W"], np.concatenate([x, 1 / x], axis=1)
    agrees(unit(torch.tensor(x)), nmu(abs(both), W) * np.cos((np.pi * (both < 0)) @ W.T))


def test_mcfc() -> None:
    unit, x = MCFC(3, 2), inputs()
    p = drawn(unit)
    junction = np.exp(p["r"]) / np.exp(p["r"]).sum(axis=0)
    agrees(unit(torch.tensor(x)), sigmoid(p["w"] + p["b"]) * (x @ junction.T))


@pytest.mark.parametrize("sign", ["inalu", "real_npu"])
def test_mul_mcfc(sign: str) -> None:
    unit, x = MulMCFC(3, 2, sign=sign), inputs()
    p = drawn(unit, g=(0, 1))
    junction = np.exp(p["r"]) / np.exp(p["r"]).sum(axis=0)
    size = np.exp(sigmoid(p["w"] + p["b"]) * (np.log(abs(x)) @ junction.T) + p["c"])
    signs = {
        "inalu": lambda: np.prod(np.sign(x)[:, None] * junction + 1 - junction, axis=-1),
        "real_npu": lambda: np.cos((np.pi * (x < 0) * p["g"]) @ junction.T),
    }
    agrees(unit(torch.tensor(x)), size * signs[sign]())


def test_g_nalu() -> None:
    unit, x = GNALU(3, 2), inputs()
    p = drawn(unit)
    tanh = (GOLDEN ** (2 * p["W_hat"]) - 1) / (GOLDEN ** (2 * p["W_hat"]) + 1)
    W, g = tanh / (1 + GOLDEN ** -p["M_hat"]), 1 / (1 + GOLDEN ** -(x @ p["G"].T))
    product = GOLDEN ** (np.log(abs(x) + 1e-7) / np.log(GOLDEN) @ W.T)
    agrees(unit(torch.tensor(x)), g * (x @ W.T) + (1 - g) * product)
