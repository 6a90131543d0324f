"""What the verdicts on printed numbers say together: in a sentence, and counted by experiment, source and unit."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.line import Line
from nalu_bench.analysis.table.place import FROM_RUNS

if TYPE_CHECKING:
    from nalu_bench.analysis.loaded import Loaded

DECIDED = {
    ("agrees", "agree"): (Verdict.EXACT, Verdict.AGREES),
    ("differs", "differ"): (Verdict.DIFFERS,),
    ("is inconclusive", "are inconclusive"): (Verdict.INCONCLUSIVE,),
}
"""What one compared number does, or several do -> their verdicts."""

COLUMNS = {
    "printed": tuple(Verdict), "not compared": (Verdict.FITTED, Verdict.NOT_COMPARABLE),
    "not decided": (Verdict.INCONCLUSIVE, Verdict.UNINFORMATIVE), "agree": (Verdict.EXACT, Verdict.AGREES),
    "differ": (Verdict.DIFFERS,),
}  # fmt: skip
"""Column of a table of counts -> the verdicts that it counts."""

SPENT = {
    Verdict.UNINFORMATIVE: ("is uninformative", "are uninformative"),
    Verdict.FITTED: ("is fitted", "are fitted"),
    Verdict.NOT_COMPARABLE: ("cannot be compared", "cannot be compared"),
}
"""What the others do."""

UNITS = ("NAC₊", "NAC•", "NALU", "NAU", "NMU")
"""The units whose numbers have rows of their own, in this order."""

OTHERS = "other layers"

UNIT = re.compile("|".join(UNITS))

COUNTED = [verdict for verdict in Verdict if verdict is not Verdict.SAME_SEEDS]

KINDS = {False: "printed", True: FROM_RUNS}
"""Whether a number is recomputed -> the words for it."""

Key = TypeVar("Key")


def compared(lines: Sequence[Line]) -> str:
    """What the verdicts on printed numbers say, a sentence for each kind of number; empty if none is printed."""
    told = (
        _compared("printed numbers", _printed(lines)),
        _compared(f"numbers {FROM_RUNS}", _printed(lines, again=True)),
    )
    return " ".join(filter(None, told))


def counted(lines: Sequence[Line]) -> str:
    """How many numbers are printed, and how many of them have which verdict, as the cells of `COLUMNS` in Markdown."""
    return " | ".join(f"{count:,}" for count in _counts(lines).values())


def told(lines: Sequence[Line]) -> str:
    """The same in words, without what does not occur: `41: 20 not compared, 6 not decided, 15 agree`."""
    (_, printed), *others = _counts(lines).items()
    found = ", ".join(f"{count:,} {verdict}" for verdict, count in others if count)
    return f"{printed:,}: {found}" if found else "none"


def same(lines: Sequence[Line]) -> int:
    """How many printed numbers are not decided, and have the very value of ours."""
    return _same(_printed(lines))


def _same(lines: Sequence[Line]) -> int:
    return sum(line.verdict is Verdict.INCONCLUSIVE and line.same for line in lines)


def _counts(lines: Sequence[Line]) -> dict[str, int]:
    """Column of `COLUMNS` -> how many printed numbers have one of its verdicts."""
    verdicts = [line.verdict for line in _printed(lines)]
    return {column: sum(verdict in some for verdict in verdicts) for column, some in COLUMNS.items()}


def _printed(lines: Sequence[Line], again: bool = False) -> list[Line]:
    """The lines of printed numbers, or of those that were recomputed."""
    numbers = [line for line in lines if line.counted and line.printed_text and not line.in_words]
    return [line for line in numbers if line.place.recomputed == again]


def _compared(what: str, lines: Sequence[Line]) -> str:
    found = Counter(line.verdict for line in lines)
    if found.total() == found[Verdict.NOT_COMPARABLE]:
        return f"None of {found.total():,} {what} can be compared yet." if lines else ""
    counts = {does: sum(found[verdict] for verdict in verdicts) for does, verdicts in DECIDED.items()}
    alike = _same(lines)
    silent = {"is inconclusive"} | ({"agrees"} if alike else set())  # where none could agree, 0 would say too much
    told = [_counted(count, does) for does, count in counts.items() if count or not silent.intersection(does)]
    equal = f", of which {alike:,} {'have' if alike > 1 else 'has'} the same value as ours" if alike else ""
    rest = [f"; {_counted(found[verdict], does)}" for verdict, does in SPENT.items() if found[verdict]]
    missing = sum(line.verdict is Verdict.NOT_COMPARABLE and not line.n_seeds for line in lines)
    untrained = f", {missing:,} of them without runs of ours" if missing else ""
    return f"Of {found.total():,} {what}, {', '.join(told)}{equal}{''.join(rest)}{untrained}."


def _counted(count: int, does: tuple[str, str]) -> str:
    return f"{count:,} {does[count != 1]}"


def by_experiment(experiments: Sequence["Loaded"]) -> list[list[object]]:
    """Rows of experiment, kind of number, how many, and how many of each verdict in `COUNTED`."""
    return [
        [name, kind, len(lines), *_by_verdict(lines)]
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
            *_by_verdict(lines, told),
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
        for again, kind in KINDS.items():
            for line in _printed(one.lines, again):
                found.setdefault((key(one, line), kind), []).append(line)
    return found


def _by_verdict(lines: Sequence[Line], verdicts: Sequence[Verdict] = COUNTED) -> list[object]:
    """How many lines have each verdict; empty for none."""
    found = [line.verdict for line in lines]
    return [found.count(verdict) or "" for verdict in verdicts]
