"""Groups of seeds that are trained together.

Seed s always sits in lane s mod width of block s // width, and a block always trains and stores all its lanes. So a
run's bits cannot depend on which other seeds were asked for.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nalu_bench.models.model import MOST_WIDTH, WIDTH


@dataclass(frozen=True)
class Block:
    """One block.

    Attributes:
        number: index among the blocks of its width, from 0.
        width: number of lanes.
    """

    number: int
    width: int = WIDTH

    @property
    def seeds(self) -> list[int]:
        """The seeds of its lanes."""
        return list(range(self.number * self.width, (self.number + 1) * self.width))

    @property
    def span(self) -> str:
        """Its seeds as text, `0-24`: the name of its part."""
        return ranges_text(self.seeds)


def blocks(seeds: Iterable[int], width: int = WIDTH) -> list[Block]:
    """The blocks that hold the given seeds."""
    return [Block(number, width) for number in sorted({seed // width for seed in seeds})]


def ranges_text(seeds: Iterable[int]) -> str:
    """Seeds as text, consecutive ones as a range. Older parts hold the seeds asked for alone, and have such names.

    >>> ranges_text([0, 1, 2, 5, 7, 8])
    '0-2+5+7-8'
    """
    spans: list[list[int]] = []
    for seed in sorted(seeds):
        if spans and seed == spans[-1][-1] + 1:
            spans[-1] = [spans[-1][0], seed]
        else:
            spans.append([seed])
    return "+".join("-".join(str(end) for end in span) for span in spans)


def parse_ranges(text: str) -> list[int]:
    """The inverse of `ranges_text`, for the seeds of one block; raises ValueError for more than a block can have.

    >>> parse_ranges("0-2+5+7-8")
    [0, 1, 2, 5, 7, 8]
    """
    ends = [span.partition("-") for span in text.split("+")]
    spans = [(int(first), int(last or first) + 1) for first, _, last in ends]
    if sum(end - first for first, end in spans) > MOST_WIDTH:
        raise ValueError(f"a block must have at most {MOST_WIDTH:,} seeds, got {text:.60}")
    return [seed for first, end in spans for seed in range(first, end)]
