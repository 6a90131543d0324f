"""What the verdicts on printed numbers say together, in a sentence."""

from collections import Counter
from collections.abc import Sequence

from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.line import Line
from nalu_bench.analysis.table.place import FROM_RUNS, RECOMPUTED

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
    return [line for line in numbers if line.place.metric.endswith(RECOMPUTED) == again]


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
    return f"Of {found.total():,} {what}, {', '.join(told)}{equal}{''.join(rest)}."


def _counted(count: int, does: tuple[str, str]) -> str:
    return f"{count:,} {does[count != 1]}"
