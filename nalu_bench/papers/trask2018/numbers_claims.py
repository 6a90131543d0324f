"""Claims on numbers that the settings of a report name, each by its model and split and by what tells it apart."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from nalu_bench.analysis.render import style
from nalu_bench.analysis.table.claim import Limit
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.plan.setting import Setting

NUMBER = re.compile(r"(?P<model>[^ =]+) (?P<split>[^ =]+)( (?P<task>[^ =]+))?(?P<words>( [^ =]+=[^ ]+)*)")
"""`text_lstm test`, `text_lstm test states=last` or `program_lstm test program_sums`."""


@dataclass
class Sentence(Limit):
    """What a claim says of every one of some numbers.

    Attributes:
        numbers: each one or two texts, `model split`, perhaps with a task and words of a setting behind it, see
            `NUMBER`. Two are held against each other.
    """

    numbers: list[list[str]]

    def check(self, name: str) -> None:
        """Raise UsageError for a claim without one limit, and for numbers that are none."""
        super().check(name)
        if not self.numbers:
            raise UsageError(f"the claim {name} must be about one number or more.")
        for number in self.numbers:
            if len(number) not in (1, 2) or not all(map(NUMBER.fullmatch, number)):
                raise UsageError(
                    f"a number of the claim {name} must be one or two of `model split` or "
                    f"`model split task word=value ...`, got {number}."
                )

    def names(self) -> Iterator[tuple[str, str | None]]:
        for place in chain(*self.places(Place())):
            words = {"model": place.model, "split": place.split, "task": place.task, **place.setting}
            yield from ((word, value) for word, value in words.items() if value)

    def places(self, where: Place) -> list[list[Place]]:
        """The places of every number; `where` has the task and the words of a setting that its texts leave out."""
        return [[_place(text, where) for text in number] for number in self.numbers]


def told(place: Place, where: Place) -> str:
    """The place of a number, or of a cell, without the words that `where` has: `LSTM states=last, test`."""
    own = [f"{word}={value}" for word, value in place.setting.items() if word not in where.setting]
    task = place.task if place.task != where.task else ""
    return ", ".join(filter(None, [" ".join([style.label(place.model), *own]), place.split, task]))


def _place(text: str, where: Place) -> Place:
    found = NUMBER.fullmatch(text)
    assert found is not None
    setting = where.setting | Setting.parse(";".join(found["words"].split()))
    return where.at(model=found["model"], split=found["split"], task=found["task"] or where.task, setting=setting)
