"""How seeds are grouped for training.

Seed s always sits in lane s mod WIDTH of block s // WIDTH, and a block always trains all its lanes. A run's bits thus
cannot depend on which other seeds were asked for; only the seeds asked for are kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass

WIDTH = 25
"""Seeds of a block.

Microseconds per seed-step on one core, compiled, for widths 12, 16, 20, 25, 32, 50, 100: NMU with 100 inputs 13.2,
12.4, 12.0, 12.1, 12.6, 14.0, 13.4; NALU 30.9, 30.2, 30.5, 30.7, 31.5, 33.3, 31.6; NMU with 4 inputs 6.1, 4.8, 4.1,
3.4, 2.9, 2.0, 1.4 (measured under torch.compile, whose wrappers then took a third of a step at most). Narrow blocks
wait for Python, wide ones leave the cache; 25 wastes no lane of 100 seeds and gives four blocks to share among cores.
"""


@dataclass(frozen=True)
class Block:
    """The seeds of one block that were asked for."""

    number: int
    wanted: tuple[int, ...]

    @property
    def seeds(self) -> list[int]:
        """All lanes."""
        return list(range(self.number * WIDTH, (self.number + 1) * WIDTH))

    @property
    def lanes(self) -> list[int]:
        """The lanes of the seeds asked for."""
        return [seed % WIDTH for seed in self.wanted]

    @property
    def name(self) -> str:
        """`0-9`, or `0-3+7` where seeds are missing in between."""
        return ranges_text(self.wanted)


def blocks(seeds: Iterable[int]) -> list[Block]:
    """The blocks that hold the given seeds."""
    groups: dict[int, list[int]] = {}
    for seed in sorted(set(seeds)):
        groups.setdefault(seed // WIDTH, []).append(seed)
    return [Block(number, tuple(wanted)) for number, wanted in groups.items()]


def ranges_text(seeds: Iterable[int]) -> str:
    """Runs of consecutive seeds.

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
