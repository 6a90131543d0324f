"""Blocks of seeds and their names."""

import pytest

from nalu_bench.plan.blocks import WIDTH, Block, blocks, parse_ranges, ranges_text

CASES = [
    ([0], "0"),
    ([7], "7"),
    ([0, 1], "0-1"),
    ([0, 2], "0+2"),
    ([0, 1, 2, 5, 7, 8], "0-2+5+7-8"),
    (list(range(25)), "0-24"),
    ([10_000, 10_001, 10_010], "10000-10001+10010"),
]


@pytest.mark.parametrize(("seeds", "text"), CASES)
def test_ranges_are_written_and_read_back(seeds: list[int], text: str) -> None:
    assert ranges_text(seeds) == ranges_text(reversed(seeds)) == text
    assert parse_ranges(text) == seeds


def test_every_set_of_small_seeds_survives_the_round_trip() -> None:
    for bits in range(1, 1 << 9):
        seeds = [seed for seed in range(9) if bits >> seed & 1]
        assert parse_ranges(ranges_text(seeds)) == seeds


def test_a_seed_always_sits_in_the_same_lane_of_the_same_block() -> None:
    for asked in ([30], [26, 30], range(100)):
        (block,) = (block for block in blocks(asked) if 30 in block.seeds)
        assert block.number == 30 // WIDTH
        assert block.seeds.index(30) == 30 % WIDTH


def test_blocks_come_once_in_order_and_have_the_name_of_all_their_seeds() -> None:
    assert blocks([2 * WIDTH, 3, 1, 3]) == [Block(0), Block(2)]
    assert blocks([]) == []
    assert [block.span for block in blocks(range(WIDTH + 2))] == ["0-24", "25-49"]
    assert [block.span for block in blocks([3, 4], width=1)] == ["3", "4"]


def test_more_seeds_than_a_block_can_have_are_never_counted_out() -> None:
    with pytest.raises(ValueError, match="at most 10,000 seeds, got 0-99999999999"):
        parse_ranges("0-99999999999")
