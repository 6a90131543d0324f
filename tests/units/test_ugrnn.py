"""The UGRNN against its formula, step by step."""

from collections.abc import Callable

import pytest
import torch
from torch import Generator, Tensor

from nalu_bench.units.ugrnn import UGRNN


@pytest.mark.parametrize(("activation", "s"), [("tanh", torch.tanh), ("relu", lambda c: c.clamp(min=0))])
@torch.no_grad()
def test_a_step_is_the_formula(activation: str, s: Callable[[Tensor], Tensor]) -> None:
    unit = UGRNN(5, 3, activation).double()
    x, h = torch.randn(2, 7, 4, dtype=torch.float64, generator=Generator().manual_seed(0)).split([2, 2], dim=-1)
    x, h = x[0], torch.randn(7, 3, dtype=torch.float64, generator=Generator().manual_seed(1))
    gate, candidate = (torch.cat([x, h], -1) @ unit.W.T + unit.b).split(3, dim=-1)
    keep = 1 / (1 + torch.exp(-gate - 1))
    torch.testing.assert_close(unit(torch.cat([x, h], -1)), keep * h + (1 - keep) * s(candidate))


def test_a_new_cell_keeps_its_state() -> None:
    unit = UGRNN(3, 2)
    torch.nn.init.zeros_(unit.W)
    torch.nn.init.zeros_(unit.b)
    state = unit(torch.tensor([0.0, 1.0, -2.0]))
    assert state.tolist() == pytest.approx([0.731059, -1.462117], rel=1e-5)


@pytest.mark.parametrize(("size_in", "size_out"), [(3, 3), (2, 4)])
def test_sizes_without_an_input_are_refused(size_in: int, size_out: int) -> None:
    with pytest.raises(ValueError, match="in_features must be above out_features, got"):
        UGRNN(size_in, size_out)
