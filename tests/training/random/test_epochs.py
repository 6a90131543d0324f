"""Rows of fixed data: drawn without replacement in every epoch, and a pure function of seed and step."""

import pytest
import torch
from torch import Tensor

from nalu_bench.tasks.task import DROP, KEEP, Rows
from nalu_bench.training.random.epochs import EpochDraw, in_order

SEEDS = [0, 1, 7]


def epoch(draw: EpochDraw, number: int) -> Tensor:
    """All examples (S, L, E) of an epoch, in their order."""
    steps = range(number * draw.batches + 1, (number + 1) * draw.batches + 1)
    return torch.cat([draw(step) for step in steps], dim=-1)


@pytest.mark.parametrize("rows", [Rows(60), Rows(60, fixed=True)])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_epoch_is_a_permutation_of_the_rows_of_its_own(rows: Rows, length: int) -> None:
    draw = EpochDraw(rows, length, 2, SEEDS)
    orders = []
    for number in range(3):
        shown = epoch(draw, number)
        assert shown.dtype == torch.int64
        assert shown.shape == (3, length, 60 // length)
        assert (shown.flatten(1).sort(dim=-1).values == torch.arange(60)).all()
        orders += [one.flatten().tolist() for one in shown]
    assert len(set(map(tuple, orders))) == 9


def test_a_batch_is_a_pure_function_of_seed_and_step() -> None:
    forward = EpochDraw(Rows(10, remainder=KEEP), 1, 4, SEEDS)
    expected = {step: forward(step).clone() for step in range(1, 13)}
    backward = EpochDraw(Rows(10, remainder=KEEP), 1, 4, SEEDS[::-1])
    for step in reversed(range(1, 13)):
        assert torch.equal(backward(step).flip(0), expected[step])


def test_a_batch_is_not_overwritten_by_the_next() -> None:
    draw = EpochDraw(Rows(8), 1, 4, SEEDS)
    first = draw(1)
    before = first.clone()
    draw(3)
    assert torch.equal(first, before)
    assert first.is_contiguous()


@pytest.mark.parametrize(
    ("remainder", "sizes"), [(DROP, [4, 4, 4, 4]), (KEEP, [4, 4, 2, 4, 4, 2])], ids=["dropped", "kept"]
)
def test_the_last_batch_of_an_epoch_that_is_not_full_is_dropped_or_kept(remainder: str, sizes: list[int]) -> None:
    draw = EpochDraw(Rows(10, remainder=remainder), 1, 4, SEEDS)
    assert draw.batches == len(sizes) // 2
    assert [draw(step).shape[-1] for step in range(1, len(sizes) + 1)] == sizes
    shown = epoch(draw, 0)
    assert all(len(set(one.flatten().tolist())) == shown.shape[-1] for one in shown)


def test_rows_that_fill_no_example_are_others_in_every_epoch() -> None:
    draw = EpochDraw(Rows(11), 3, 3, [0])
    left = [frozenset(range(11)) - frozenset(epoch(draw, number).flatten().tolist()) for number in range(20)]
    assert {len(rows) for rows in left} == {2}
    assert len(set(left)) > 5


def groups(examples: Tensor) -> set[frozenset[int]]:
    """The rows of every example (L, E), whatever their order."""
    return {frozenset(example) for example in examples.mT.tolist()}


def test_one_batch_of_all_rows_has_them_as_they_stand() -> None:
    draw = EpochDraw(Rows(8), 1, 8, SEEDS)
    assert draw(1).shape == (3, 1, 8)
    assert (draw(5) == torch.arange(8)).all()
    several = EpochDraw(Rows(8, remainder=KEEP), 2, 8, SEEDS)
    assert several(1).shape == (3, 2, 4)
    assert (several(1).flatten(1).sort(dim=-1).values == torch.arange(8)).all()


def test_fixed_chunks_stay_together_in_every_epoch_and_for_every_seed() -> None:
    fixed, free = (EpochDraw(Rows(60, fixed=kept), 3, 5, SEEDS) for kept in (True, False))
    expected = groups(epoch(fixed, 0)[0])
    assert len(expected) == 20
    for number in range(3):
        shown = epoch(fixed, number)
        assert all(groups(one) == expected for one in shown)
        assert len({tuple(one.flatten().tolist()) for one in shown}) == 3
        assert all(groups(one) != expected for one in epoch(free, number))


def test_an_evaluated_split_is_taken_as_it_stands_or_in_chunks_of_its_own() -> None:
    assert in_order(Rows(5), 1, "validation").tolist() == [[0, 1, 2, 3, 4]]
    validation, test = (in_order(Rows(11), 2, split) for split in ("validation", "test"))
    assert validation.shape == (2, 5)
    assert len(set(validation.flatten().tolist())) == 10
    assert not torch.equal(validation, test)
    assert torch.equal(validation, in_order(Rows(11), 2, "validation"))
