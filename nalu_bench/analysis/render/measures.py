"""Printed numbers by what they measure, and the words that tell them apart."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.samples import NOT_MEANS
from nalu_bench.analysis.table.line import Line, grouped
from nalu_bench.analysis.table.place import FROM_RUNS, RECOMPUTED
from nalu_bench.plan.setting import Setting


def by_measure(lines: Sequence[Line], named: Mapping[str, str]) -> dict[str, list[Line]]:
    """Metric and split in words -> its lines with a printed number; `named` has the words, see `Kind`.

    Where lines are about several operations, a measure of one alone says of which.
    """

    def words(line: Line) -> str:
        split = line.place.split
        seeds = NOT_MEANS if any(note.startswith(NOT_MEANS) for note in line.notes) else ""
        return ", ".join(filter(None, [in_words(line.place.metric, named), named.get(split, split), seeds]))

    shown = [line for line in lines if line.verdict and line.printed and not line.in_words]
    several = len(set(map(_operation, shown))) > 1
    return {_of_one(told, part) if several else told: part for told, part in grouped(shown, words).items()}


def _of_one(measure: str, lines: Sequence[Line]) -> str:
    """The measure, with the operation if it is that of all these lines."""
    operations = set(map(_operation, lines))
    return f"{measure}: {operations.pop()}" if len(operations) == 1 and operations != {""} else measure


def _operation(line: Line) -> str:
    return style.operation_label(line.place.task, line.place.operation) if line.place.operation else ""


def in_words(metric: str, named: Mapping[str, str]) -> str:
    """What a metric measures: the words of the first pattern that it meets, else its name without underscores.

    >>> in_words("success_rate_recomputed", {"success_rate": "Share of solved seeds"}), in_words("W_1", {})
    ("Share of solved seeds, recomputed from the authors' runs", 'W 1')
    """
    name = metric.removesuffix(RECOMPUTED)
    told = next((words for pattern, words in named.items() if fnmatchcase(name, pattern)), name.replace("_", " "))
    return told if name == metric else f"{told}, {FROM_RUNS}"


def _settings(settings: Sequence[Setting]) -> list[str]:
    """The words of settings that are not the same in all of them."""
    common = set(settings[0].items()).intersection(*(each.items() for each in settings)) if settings else set()
    return [Setting({word: value for word, value in each.items() if (word, value) not in common}).told()
            for each in settings]  # fmt: skip


def labels(lines: Sequence[Line]) -> list[str]:
    """The words by which the rows differ: operation, model, setting."""
    places = [line.place for line in lines]
    columns = [
        list(map(_operation, lines)),
        [style.label(place.model) if place.model else "" for place in places],
        _settings([place.setting for place in places]),
    ]
    telling = [column for column in columns if len(set(column)) > 1] or columns[1:2]
    return [", ".join(filter(None, row)) for row in zip(*telling, strict=True)]
