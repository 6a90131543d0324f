"""Notes of verdicts: marks in the tables, and one short line for each below them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from nalu_bench.analysis.stats.verdicts import Verdict

MARKS = "†‡§¶‖"
NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Footnotes:
    """The notes of a table.

    Attributes:
        general: notes that hold for every verdict.
        marked: note -> its mark in the table, in the order of the lines.
        lines: mark -> its line. Notes that differ only in one number share a line; the number stands beside the mark.
    """

    general: list[str]
    marked: dict[str, str]
    lines: dict[str, str]

    @classmethod
    def of(cls, judged: pd.DataFrame) -> "Footnotes":
        """Collect the notes of rows that have a verdict."""
        notes = sorted({part for text in judged["note"] for part in parts(text)}, key=natural)
        general = [note for note in notes if all(note in parts(text) for text in judged["note"])]
        families: dict[str, dict[str, str]] = {}
        for note in notes:
            if note not in general:
                line, number = _family(note, notes)
                families.setdefault(line, {})[note] = number
        marked, lines = dict[str, str](), dict[str, str]()
        for place, (line, members) in enumerate(families.items()):
            mark = MARKS[place % len(MARKS)] * (1 + place // len(MARKS))
            marked |= {note: f"{mark}{number}" for note, number in members.items()}
            lines[mark if line in members else f"{mark}n"] = line
        return cls(general, marked, lines)

    def mark(self, table: pd.DataFrame, judged: "pd.Series[bool]") -> pd.DataFrame:
        """The table with verdicts as they are shown: by how much a number differs, and marks where it is judged."""
        marks = [" ".join(self.marked[note] for note in parts(text) if note in self.marked) for text in table["note"]]
        verdicts = [
            " ".join(filter(None, [_shown(verdict, by), mark if chosen else ""]))
            for verdict, by, mark, chosen in zip(table["verdict"], table["by"], marks, judged, strict=True)
        ]
        return table.assign(verdict=verdicts)

    def texts(self) -> list[str]:
        """The lines below the table."""
        return [
            *(f"all verdicts: {note}" for note in self.general),
            *(f"{mark}: {line}" for mark, line in self.lines.items()),
        ]


def _shown(verdict: str, by: str) -> str:
    return f"{verdict}, {by}" if by and verdict == Verdict.DIFFERS else verdict


def parts(note: str) -> list[str]:
    """Split a text into its notes."""
    return [part for part in note.split("; ") if part]


def natural(text: str) -> list[tuple[int, str]]:
    """Sorting key that puts 3 before 21.

    >>> sorted(["seeds: 21", "seeds: 3"], key=natural)
    ['seeds: 3', 'seeds: 21']
    """
    return [(int(word), "") if word.isdecimal() else (-1, word) for word in re.split(r"(\d+)", text)]


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
