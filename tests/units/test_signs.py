"""The two ways of finding the sign of a product."""

import itertools
import math

import torch
from torch import Tensor

from nalu_bench.units.signs import cosine_sign, half_turns, mixed_sign

SIGNS = torch.tensor(list(itertools.product([-2.0, 3.0], repeat=3)), dtype=torch.float64).T
"""All signs of three inputs, as columns."""


def exact(W: Tensor) -> Tensor:
    """The sign of Π x_i^W_oi for integer W."""
    return torch.sign((SIGNS.unsqueeze(0) ** W.unsqueeze(-1)).prod(dim=1))


def test_both_give_the_sign_of_the_product_at_weights_of_0_and_1() -> None:
    W = torch.tensor(list(itertools.product([0.0, 1.0], repeat=3)), dtype=torch.float64)
    assert torch.equal(mixed_sign(SIGNS, W), exact(W))
    torch.testing.assert_close(cosine_sign(half_turns(SIGNS), W), exact(W), rtol=0, atol=1e-14)


def test_both_give_the_sign_of_a_quotient_and_the_cosine_that_of_other_powers() -> None:
    W = torch.tensor([[1.0, -1.0, 0.0], [-1.0, -1.0, 1.0]], dtype=torch.float64)
    assert torch.equal(mixed_sign(SIGNS, W), exact(W))
    powers = torch.tensor([[2.0, -3.0, 5.0]], dtype=torch.float64)
    torch.testing.assert_close(cosine_sign(half_turns(SIGNS), powers), exact(powers), rtol=0, atol=1e-14)


def test_the_mixed_sign_stays_within_1_for_weights_within_1() -> None:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(5, 200, dtype=torch.float64, generator=generator)
    W = torch.rand(7, 5, dtype=torch.float64, generator=generator) * 2 - 1
    signs = mixed_sign(x, W)
    assert signs.abs().max() <= 1
    loop = [
        [math.prod(math.copysign(abs(w), z) + 1 - abs(w) for w, z in zip(r, c, strict=True)) for c in x.T] for r in W
    ]
    torch.testing.assert_close(signs, torch.tensor(loop, dtype=torch.float64), rtol=1e-13, atol=1e-15)


def test_half_a_turn_belongs_to_negative_numbers_alone() -> None:
    assert half_turns(torch.tensor([-1.0, -0.0, 0.0, 2.0])).tolist() == [torch.tensor(math.pi).item(), 0, 0, 0]
