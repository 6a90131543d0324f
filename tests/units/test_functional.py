"""The formulas that units share."""

import math

import pytest
import torch
from torch import Tensor

from nalu_bench.units import functional


def draw(*shape: int, low: float = 0.0, high: float = 1.0, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return low + (high - low) * torch.rand(*shape, dtype=torch.float64, generator=generator)


@pytest.mark.parametrize("shape", [(4, 1), (4, 5), (3, 4, 5)])
def test_the_log_space_product_equals_the_direct_product_on_positive_inputs(shape: tuple[int, ...]) -> None:
    x, W = draw(*shape, low=0.5, high=3), draw(3, 4, low=-1, seed=1)
    direct = (x.unsqueeze(-3) ** W.unsqueeze(-1)).prod(dim=-2)
    torch.testing.assert_close(functional.log_space_product(x, W), direct, rtol=1e-6, atol=0)
    torch.testing.assert_close(functional.log_space_product(x, W, epsilon=0.0), direct, rtol=1e-14, atol=0)


def test_the_log_space_product_loses_the_signs_of_its_inputs() -> None:
    x, W = draw(4, 5, low=0.5, high=3), draw(3, 4, seed=1)
    assert torch.equal(functional.log_space_product(-x, W), functional.log_space_product(x, W))


def test_epsilon_is_that_of_the_authors_code() -> None:
    assert functional.EPSILON == 1e-7
    x, W = torch.zeros(1, 1, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    at_zero = functional.log_space_product(x, W)
    assert at_zero.item() == pytest.approx(1e-7, rel=1e-12)


def test_the_gated_product_equals_a_loop_over_its_formula() -> None:
    x, W = draw(4, 5, low=-3, high=3), draw(3, 4, low=-0.5, high=1.5, seed=1)
    loop = [[math.prod(w * z + 1 - w for w, z in zip(W_o, x_b, strict=True)) for x_b in x.T] for W_o in W]
    naive = torch.tensor(loop, dtype=torch.float64)
    torch.testing.assert_close(functional.gated_product(x, W), naive, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("factors", range(1, 8))
@pytest.mark.parametrize("zeros", [0, 1, 2])
def test_product_equals_torch_prod_with_its_gradient_also_at_zeros(factors: int, zeros: int) -> None:
    z = draw(factors, 5, low=-2, high=2, seed=factors)
    z[: min(zeros, factors)] = 0
    results = []
    for function in (functional.product, lambda z: z.prod(dim=-2)):
        leaf = z.clone().requires_grad_()
        value = function(leaf)
        (gradient,) = torch.autograd.grad(value.sum(), leaf)
        results.append((value.detach(), gradient))
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-14, atol=1e-15)


def test_the_formulas_have_the_right_gradients() -> None:
    x = draw(4, 3, low=0.5, high=2).requires_grad_()
    W = draw(2, 4, low=0.1, high=0.45, seed=1).requires_grad_()
    for formula in (functional.log_space_product, functional.gated_product):
        assert torch.autograd.gradcheck(formula, (x, W))
    assert torch.autograd.gradcheck(functional.nac_weight, (W, W.detach().clone().requires_grad_()))
    assert torch.autograd.gradcheck(lambda W: functional.sparsity_penalty(W, 1 - W), (W,))


def test_the_nac_weight_reaches_minus_one_zero_and_one() -> None:
    W_hat = torch.tensor([-20.0, 0.0, 20.0, 20.0], dtype=torch.float64)
    M_hat = torch.tensor([40.0, 40.0, 40.0, -800.0], dtype=torch.float64)
    assert functional.nac_weight(W_hat, M_hat).tolist() == [-1.0, 0.0, 1.0, 0.0]


def test_the_sparsity_error_is_the_distance_of_the_worst_weight_from_minus_one_zero_and_one() -> None:
    cases = (([-1, 0, 1], 0), ([0.1, 1, 0], 0.1), ([-0.7, 1], 0.3), ([0.5, 0.2], 0.5), ([1.2], 0.2))
    for weights, error in cases:
        W = torch.tensor([weights], dtype=torch.float64)
        assert functional.sparsity_error(W).item() == pytest.approx(error, abs=1e-15)


def test_the_input_penalty_pulls_the_mean_of_what_is_shut_out_to_the_neutral_element() -> None:
    W = torch.tensor([[1.0, 0.25]], dtype=torch.float64)
    inputs = torch.tensor([[[3.0, 2.0]], [[5.0, 4.0]]], dtype=torch.float64)  # two steps of one example
    product = functional.input_penalty(W, inputs, 1.0)
    assert product.item() == pytest.approx((0 * (1 - 4) ** 2 + 0.75 * (1 - 3) ** 2) / 2)
    assert functional.input_penalty(-W, inputs, 0.0).item() == pytest.approx(0.75 * 3**2 / 2)
