"""Notes of verdicts: marks in the tables, and one short line for each below them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nalu_bench.analysis.table.line import Line

MARKS = "†‡§¶‖"
NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Footnotes:
    """The notes of a table.

    Attributes:
        general: notes that hold for every verdict.
        marked: note -> its mark in the table.
        lines: mark -> its line. Notes that differ only in one number share a line; the number stands beside the mark.
    """

    general: Sequence[str]
    marked: dict[str, str]
    lines: dict[str, str]

    @classmethod
    def of(cls, lines: Iterable[Line]) -> "Footnotes":
        """Collect the notes of lines that were compared; marks are given in the order of the lines."""
        told = [line.told() for line in lines if line.judged]
        notes = list(dict.fromkeys(note for each in told for note in each))
        general = [note for note in notes if all(note in each for each in told)]
        families: dict[str, dict[str, str]] = {}
        for note in notes:
            if note not in general:
                line, number = _family(note, notes)
                families.setdefault(line, {})[note] = number
        marked, below = dict[str, str](), dict[str, str]()
        for place, (line, members) in enumerate(families.items()):
            mark = MARKS[place % len(MARKS)] * (1 + place // len(MARKS))
            marked |= {note: f"{mark}{number}" for note, number in members.items()}
            below[mark if line in members else f"{mark}n"] = line
        return cls(general, marked, below)

    def marks(self, line: Line) -> str:
        """The marks of a line's notes, if it was compared."""
        return " ".join(self.marked[note] for note in line.told() if note in self.marked) if line.judged else ""

    def texts(self) -> list[str]:
        """The lines below the table."""
        return [
            *(f"all verdicts: {note}" for note in self.general),
            *(f"{mark}: {line}" for mark, line in self.lines.items()),
        ]


def _family(note: str, notes: Iterable[str]) -> tuple[str, str]:
    """The line and the number of a note.

    Notes that differ only in one number share a line with `n` in its place. Any other note is its own line, without a
    number.
    """
    words = NUMBER.split(note)
    same = [NUMBER.findall(other) for other in notes if NUMBER.split(other) == words]
    differing = [place for place, numbers in enumerate(zip(*same, strict=True)) if len(set(numbers)) > 1]
    if len(differing) != 1:
        return note, ""
    numbers = NUMBER.findall(note)
    number, numbers[differing[0]] = numbers[differing[0]], "n"
    return "".join(text for pair in zip(words, [*numbers, ""], strict=True) for text in pair), number
