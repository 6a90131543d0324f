"""The factor of a penalty at every step, and which of two losses is minimised there."""

from collections.abc import Callable

import pytest
import torch

from nalu_bench.errors import UsageError
from nalu_bench.models.model import Penalty
from nalu_bench.plan.cell import Cell
from nalu_bench.training.ramps import acting_first, factors


def at(penalty: Penalty, *steps: int, scale: float = 1.0) -> list[float]:
    found = factors(penalty, torch.tensor(steps), scale)
    assert found.dtype == torch.float64
    return found.tolist()


def test_a_factor_rises_linearly_between_start_and_end() -> None:
    assert at(Penalty(2.0, 10, 30), 1, 11, 12, 21, 31, 32, 1000) == pytest.approx([0, 0, 0.1, 1, 2, 2, 2], abs=1e-15)


def test_the_ramp_scale_multiplies_all_lengths() -> None:
    assert at(Penalty(2.0, 10, 30), 6, 11, 16, 17, scale=0.5) == pytest.approx([0, 1, 2, 2], abs=1e-15)
    stairs = Penalty(1.0, 0, 0, tenfold_every=10, most=100.0)
    assert at(stairs, 5, 6, 10, 11, scale=0.5) == [1, 10, 10, 100]


def test_factors_are_computed_in_float64_at_any_step() -> None:
    start = 2**24
    assert at(Penalty(1.0, start, start + 10), start + 2, start + 6) == pytest.approx([0.1, 0.5], abs=1e-15)


def test_a_falling_factor_is_the_mirror_of_a_rising_one() -> None:
    rising, falling = (at(Penalty(2.0, 5, 10, falling=falls), *range(1, 16)) for falls in (False, True))
    assert [one + other for one, other in zip(rising, falling, strict=True)] == pytest.approx([2.0] * 15)
    assert falling[:6] == [2.0] * 6
    assert falling[-5:] == [0.0] * 5


def test_a_factor_that_grows_by_stairs_is_that_of_a_loop_as_the_authors() -> None:
    penalty = Penalty(1e-9, 0, 0, tenfold_every=10, most=1e-7)
    beta, expected = 1e-9, []
    for step in range(60):
        if step % 10 == 0 and step and beta < 1e-7:
            beta *= 10
        expected.append(beta)
    assert at(penalty, *range(1, 61)) == pytest.approx(expected, rel=1e-12)


def test_a_weight_of_0_stays_0_however_many_stairs_there_are() -> None:
    assert at(Penalty(0.0, 0, 0, tenfold_every=1, most=1.0), 1, 400, 5000) == [0, 0, 0]


def test_stairs_that_lead_nowhere_are_refused() -> None:
    with pytest.raises(UsageError, match="tenfold_every must be at least 0, got -1"):
        Penalty(1.0, 0, 0, tenfold_every=-1).check("l1")
    with pytest.raises(UsageError, match=r"model.penalties.l1.most must be at least the weight \(1.0\)"):
        Penalty(1.0, 0, 0, tenfold_every=10).check("l1")


def test_a_largest_weight_without_stairs_is_refused() -> None:
    with pytest.raises(UsageError, match=r"most needs tenfold_every, got most=0\.5 alone"):
        Penalty(1.0, 0, 0, most=0.5).check("l1")


def test_the_first_loss_acts_for_its_steps_times_the_ramp_scale(make_cell: Callable[..., Cell]) -> None:
    recipe = make_cell(first_loss="correlation", first_steps=10, ramp_scale=0.5).recipe
    assert acting_first(recipe, torch.tensor([1, 5, 6, 1000])).tolist() == [1, 1, 0, 0]
