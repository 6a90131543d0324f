"""How the verdicts of an experiment came about: each printed number, ours beside it, and the reason."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from nalu_bench.analysis.measure.manifest import checked, read_manifest
from nalu_bench.analysis.printed.published import read, typed
from nalu_bench.analysis.table import file
from nalu_bench.analysis.table.formats import four_digits
from nalu_bench.analysis.table.line import Line, Printed, Value
from nalu_bench.errors import UsageError, unknown
from nalu_bench.paths import short
from nalu_bench.plan.experiment import Experiment

WIDTH = 100


def explain(experiment: Experiment, folder: Path, wanted: Mapping[str, str]) -> str:
    """A paragraph for each printed number that has the wanted words, and where to look deeper.

    Args:
        experiment: the experiment. folder: its results.
        wanted: column of `table.csv` or word of its setting -> value.

    Raises:
        UsageError if there is no such column, or no printed number with these words, or if the table was edited.
    """
    table = checked(folder, read_manifest(folder) or {"files": {}}, "table.csv")
    lines = [line for line in file.read(table) if line.printed_text]
    if not lines:
        raise UsageError(f"{experiment.name} has no printed numbers; its table is {short(folder / 'table.md')}.")
    chosen = [line for line in lines if _has(line, wanted, lines)]
    if not chosen:
        raise UsageError(
            f"no printed number of {experiment.name} has {' '.join(f'{k}={v}' for k, v in wanted.items())}."
        )
    published = typed(read(experiment.published))
    told = [_told(line, published.get(line.place, Printed("")).source) for line in chosen]
    return "\n\n".join([*told, _deeper(experiment, folder)])


def _words(line: Line) -> dict[str, str]:
    """The words that tell a number from others: those of its place, and the parts of the setting."""
    words = line.place.words()
    del words["setting"]
    return words | dict(line.place.setting) | {"verdict": str(line.verdict or "")}


def _has(line: Line, wanted: Mapping[str, str], lines: Sequence[Line]) -> bool:
    words = _words(line)
    for key, value in wanted.items():
        if all(key not in _words(other) for other in lines):
            raise unknown("column", key, words)
        known = sorted({_words(other).get(key, "") for other in lines})
        if known == [""]:
            raise UsageError(f"{key}={value} must be left out: no verdict here is on one {key}.")
        if value not in known:
            raise unknown(key, str(value), filter(None, known))
    return all(words.get(key) == value for key, value in wanted.items())


def _told(line: Line, source: str) -> str:
    printed = line.printed or Printed("")
    limits = f" [{printed.low}, {printed.high}]" if printed.low else ""
    runs = f", {line.n_seeds:,} seeds of {line.steps:,} steps" if line.n_seeds else ""
    test = {"test": "; ".join(line.notes), "limit": f"{line.threshold} (ours)"} if line.threshold else {}
    parts = {
        "printed": f"{printed.text}{limits}" + (f"   ({source})" if source else ""),
        **test,
        "ours": f"{_number(line.ours)}{runs}",
        "verdict": str(line.verdict or "") + (f", {line.by}" if line.by else ""),
        "because": line.reason,
        "notes": "" if test else "; ".join(line.told()),
    }
    head = ", ".join(f"{key} {value}" for key, value in _words(line).items() if value and key != "verdict")
    place = textwrap.fill(head, WIDTH, subsequent_indent="  ")
    return "\n".join([place, *(_part(name, text) for name, text in parts.items() if text)])


def _part(name: str, text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=f"  {name:9}", subsequent_indent=" " * 11)


def _number(ours: Value) -> str:
    value, low, high = map(four_digits, ours)
    return (value or "none") + (f" [{low}, {high or 'none'}]" if low else "")


def _deeper(experiment: Experiment, folder: Path) -> str:
    page = [f"  the protocol, and what we chose where it is silent   {short(experiment.page)}"]
    return "\n".join(
        [
            "Look deeper:",
            *(page if experiment.page.exists() else []),
            f"  every run behind our numbers                         {short(folder / 'runs.csv')}",
            f"  the table and the figure                             {short(folder / 'table.md')}, figure.png",
            "  how verdicts are made                                nalu_bench.analysis.stats, and nalu-bench article",
        ]
    )
