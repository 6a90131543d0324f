"""A number of ours, before and after it stands beside a printed one."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from nalu_bench.analysis.stats.verdicts import Comparison, Verdict, fitted
from nalu_bench.analysis.table.place import Place


class Value(NamedTuple):
    """A number with the limits of its 95 % interval; nan if there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan


NOTHING = Value(math.nan)


NUMBER = re.compile(r"([<>]?-?[0-9.]+(e[+-]?[0-9]+)?)?")
"""A printed number, or none."""


OURS = "this project"
"""The source of a claim that no paper makes."""


@dataclass(frozen=True)
class Printed:
    """A printed number as it stands in a file beside the experiment.

    Attributes:
        text: as printed; empty if the place is there and no number is. low, high: its printed interval, or empty.
        n_seeds: the number of seeds behind it; None if it is not printed.
        source: where it is printed.
    """

    text: str
    low: str = ""
    high: str = ""
    n_seeds: int | None = None
    source: str = ""

    @property
    def own(self) -> bool:
        """Whether it is a claim of this project, which no paper makes."""
        return self.source == OURS

    @property
    def in_words(self) -> bool:
        """Whether a sentence is printed, and no number."""
        return not NUMBER.fullmatch(self.text)

    def number(self) -> float:
        """The printed text as a number; nan if there is none."""
        return float(self.text or "nan")


Compare = Callable[[Printed], Comparison]
"""The comparison of our number with the printed one of the same place."""


def chosen_by(compare: Compare) -> Compare:
    """The comparison of what was chosen by the printed numbers, see `verdicts.fitted`; as it is where there is none."""

    def told(printed: Printed) -> Comparison:
        found = compare(printed)
        return found if found.verdict is Verdict.NOT_COMPARABLE else fitted(found)

    return told


@dataclass(frozen=True)
class Row:
    """One of our numbers, before it has a verdict.

    Attributes:
        place: its key. ours: the number with its interval.
        n_seeds, steps: number of runs behind it, and the steps that each was trained for.
        compare: compares our number with the printed one of its place, if there is one; None if nothing can be.
        notes: remarks for the reader.
    """

    place: Place
    ours: Value
    n_seeds: int
    steps: int
    compare: Compare | None = None
    notes: tuple[str, ...] = ()


EVERYWHERE = "everywhere: "
"""The start of the note that tells the number of each place of a claim on several."""

AT_A_PLACE = re.compile(r"(.+?) (–|[-+.\de]+|-?inf)(?: \[[^]]*\])?(?:, |$)")
"""A place of that note, its number and its interval: `a × b in extrapolation 100 [98.4, 101], `."""

IN_WORDS = "a claim in words, our threshold: "
"""The start of the note that tells by which threshold a claim was tested."""

OWN = "our own claim in words"
"""The note of a claim that no paper makes; behind it stands the threshold, if it was tested."""

OWN_IN_WORDS = f"{OWN}, our threshold: "


@dataclass(frozen=True)
class Line:
    """One of our numbers beside the printed one of its place.

    Attributes:
        place, ours, n_seeds, steps: as in `Row`.
        printed: the printed number, if there is one.
        verdict: None if nothing is compared. by: how far a number differs. reason: what was compared.
        notes: remarks on our number, then those of the comparison.
        threshold: of ours, by which a claim in words was tested, such as `at least 0.5`; empty for numbers.
        held: as in `Comparison`; a file does not keep it.
    """

    place: Place
    ours: Value
    n_seeds: int
    steps: int
    printed: Printed | None = None
    verdict: Verdict | None = None
    by: str = ""
    reason: str = ""
    notes: tuple[str, ...] = ()
    threshold: str = ""
    held: tuple[float, float] | None = None

    @property
    def everywhere(self) -> dict[str, float]:
        """Of a claim on several places, the number of each; nan where there is none."""
        told = next((note for note in self.notes if note.startswith(EVERYWHERE)), "").removeprefix(EVERYWHERE)
        return {place: math.nan if value == "–" else float(value) for place, value in AT_A_PLACE.findall(told)}

    @property
    def own(self) -> bool:
        """Whether it is about a claim of this project, which no paper makes."""
        return self.printed is not None and self.printed.own

    @property
    def in_words(self) -> bool:
        """Whether it is about a sentence, and not about a number."""
        return self.printed is not None and self.printed.in_words

    @property
    def same(self) -> bool:
        """Whether ours is the very number that is printed."""
        number = self.printed.text if self.printed and not self.printed.in_words else ""
        return not number.startswith(("<", ">")) and math.isclose(float(number or "nan"), self.ours.value)

    @property
    def judged(self) -> bool:
        """Whether the comparison was made, whatever came out."""
        return self.verdict not in (None, Verdict.NOT_COMPARABLE)

    @property
    def counted(self) -> bool:
        """Whether the verdict stands in counts of verdicts: not of our own claims, or on the very seeds behind it."""
        return self.verdict not in (None, Verdict.SAME_SEEDS) and not self.own

    @property
    def printed_text(self) -> str:
        """The printed number as text; empty if none is printed."""
        return self.printed.text if self.printed else ""

    def told(self) -> tuple[str, ...]:
        """All notes, with whose claim it is and its threshold as a sentence."""
        if not self.threshold:
            return (*self.notes, OWN) if self.own else self.notes
        return (*self.notes, f"{OWN_IN_WORDS if self.own else IN_WORDS}{self.threshold}")

    def shown(self) -> str:
        """The verdict, with how far a number differs."""
        by = f", {self.by}" if self.by and self.verdict is Verdict.DIFFERS else ""
        return f"{self.verdict}{by}" if self.verdict else ""


Item = TypeVar("Item")
Key = TypeVar("Key")


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Key -> its items, such as lines; keys and items in order of appearance."""
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def by_metric(lines: Iterable[Line]) -> dict[str, Line]:
    """Metric -> its line, for the lines of one cell and split."""
    return {line.place.metric: line for line in lines}
