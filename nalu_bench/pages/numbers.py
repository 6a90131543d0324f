"""How many printed numbers got which verdict: by experiment, and by source and unit."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.line import Line
from nalu_bench.analysis.table.place import FROM_RUNS, RECOMPUTED

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded

UNITS = ("NAC₊", "NAC•", "NALU", "NAU", "NMU")
"""The units whose numbers have rows of their own, in this order."""

OTHERS = "other layers"

UNIT = re.compile("|".join(UNITS))

COUNTED = [verdict for verdict in Verdict if verdict is not Verdict.SAME_SEEDS]

KINDS = {False: "printed", True: FROM_RUNS}
"""Whether a number is recomputed -> the words for it."""


Key = TypeVar("Key")


def by_experiment(experiments: Sequence["Loaded"]) -> list[list[object]]:
    """Rows of experiment, kind of number, how many, and how many of each verdict in `COUNTED`."""
    return [
        [name, kind, len(lines), *_counts(lines)]
        for (name, kind), lines in _grouped(experiments, lambda one, _: one.experiment.name).items()
    ]


def by_unit(experiments: Sequence["Loaded"], titles: Mapping[str, str]) -> tuple[list[str], list[list[object]]]:
    """Header and rows of source, unit, how many numbers, how many compared, and how many of each verdict that occurs.

    Only what counts is in it: neither our own claims nor numbers on the very seeds behind them. Sentences are not.

    Args:
        titles: name of a paper -> its title.
    """

    def key(one: "Loaded", line: Line) -> tuple[str, str]:
        return titles[one.experiment.folder.name], unit_of(line.place.model)

    found = _grouped(experiments, key)
    order = [*UNITS, OTHERS]
    ranked = sorted(
        found, key=lambda each: ([*titles.values()].index(each[0][0]), each[1] != KINDS[False], order.index(each[0][1]))
    )
    told = [
        verdict for verdict in COUNTED if any(line.verdict is verdict for lines in found.values() for line in lines)
    ]
    rows: list[list[object]] = [
        [
            source if kind == KINDS[False] else f"{source}, {kind}",
            unit,
            len(lines),
            sum(line.judged for line in lines),
            *_counts(lines, told),
        ]
        for (source, unit), kind in ranked
        for lines in [found[(source, unit), kind]]
    ]
    return ["source", "numbers on", "how many", "compared", *map(str, told)], rows


def unit_of(model: str) -> str:
    """The first of `UNITS` in the label of a model; the variants of the NAC• count as one.

    >>> unit_of("nac_mul_sigma"), unit_of("text_lstm_nalu"), unit_of("lstm")
    ('NAC•', 'NALU', 'other layers')
    """
    found = UNIT.search(style.label(model))
    return found[0] if found else OTHERS


def on_same_seeds(experiments: Sequence["Loaded"]) -> int:
    """How many numbers have runs of ours on the very seeds behind them."""
    return sum(line.verdict is Verdict.SAME_SEEDS for one in experiments for line in one.lines)


def _grouped(
    experiments: Sequence["Loaded"], key: Callable[["Loaded", Line], Key]
) -> dict[tuple[Key, str], list[Line]]:
    found: dict[tuple[Key, str], list[Line]] = {}
    for one in experiments:
        for line in sorted(_numbers(one), key=_recomputed):
            found.setdefault((key(one, line), KINDS[_recomputed(line)]), []).append(line)
    return found


def _numbers(one: "Loaded") -> Iterator[Line]:
    """The lines with a number of the source that count."""
    return (line for line in one.lines if line.counted and line.printed_text and not line.in_words)


def _recomputed(line: Line) -> bool:
    return line.place.metric.endswith(RECOMPUTED)


def _counts(lines: Sequence[Line], verdicts: Sequence[Verdict] = COUNTED) -> list[object]:
    """How many lines have each verdict; empty for none."""
    found = [line.verdict for line in lines]
    return [found.count(verdict) or "" for verdict in verdicts]
