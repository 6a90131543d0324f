"""Groups of seeds that are trained together.

Seed s always sits in lane s mod width of block s // width, and a block always trains all its lanes. So a run's
bits cannot depend on which other seeds were asked for. Only the seeds asked for are kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nalu_bench.models.model import WIDTH


@dataclass(frozen=True)
class Block:
    """One block, and its seeds that were asked for.

    Attributes:
        number: index among the blocks of its width, from 0.
        wanted: the seeds asked for.
        width: number of lanes.
    """

    number: int
    wanted: tuple[int, ...]
    width: int = WIDTH

    @property
    def seeds(self) -> list[int]:
        """The seeds of all lanes."""
        return list(range(self.number * self.width, (self.number + 1) * self.width))

    @property
    def lanes(self) -> list[int]:
        """The lanes of the seeds asked for."""
        return [seed % self.width for seed in self.wanted]

    @property
    def name(self) -> str:
        """The seeds asked for as text: `0-9`, or `0-3+7` if some in between are missing."""
        return ranges_text(self.wanted)

    @property
    def span(self) -> str:
        """The seeds of all lanes as text: `0-24`."""
        return ranges_text(self.seeds)


def blocks(seeds: Iterable[int], width: int = WIDTH) -> list[Block]:
    """The blocks that hold the given seeds."""
    groups: dict[int, list[int]] = {}
    for seed in sorted(set(seeds)):
        groups.setdefault(seed // width, []).append(seed)
    return [Block(number, tuple(wanted), width) for number, wanted in groups.items()]


def ranges_text(seeds: Iterable[int]) -> str:
    """Seeds as text, consecutive ones as a range.

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
    """The inverse of `ranges_text`.

    >>> parse_ranges("0-2+5+7-8")
    [0, 1, 2, 5, 7, 8]
    """
    seeds: list[int] = []
    for span in text.split("+"):
        first, _, last = span.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    return seeds
