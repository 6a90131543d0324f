"""The unit keeps the contract of all units, and computes products of powers."""

import torch
from my_unit import MyUnit

from nalu_bench.units import contract


def test_it_does_what_every_unit_must_do() -> None:
    contract.check(MyUnit)


def test_with_exact_weights_it_multiplies_and_divides_numbers_of_any_sign() -> None:
    unit = MyUnit(3, 1).double()
    with torch.no_grad():
        unit.W.copy_(torch.tensor([[1.0, -1.0, 5.0]]))
        unit.G_hat.copy_(torch.tensor([1.0, 1.0, 0.0]))  # the third input is shut out, whatever its weight
    x = torch.tensor([[6.0, 3.0, 9.0], [-6.0, 3.0, 0.0], [-6.0, -3.0, 1.0]], dtype=torch.float64)
    torch.testing.assert_close(unit(x), torch.tensor([[2.0], [-2.0], [2.0]], dtype=torch.float64))
