"""How the verdicts of an experiment came about: each printed number, ours beside it, and the reason."""

import csv
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from nalu_bench.analysis.printed.published import KEYS, read
from nalu_bench.errors import UsageError, unknown
from nalu_bench.paths import short
from nalu_bench.plan.experiment import Experiment

WIDTH = 100

Line = dict[str, str]
"""A row of `table.csv` as text."""


def explain(experiment: Experiment, folder: Path, wanted: Mapping[str, str]) -> str:
    """A paragraph for each printed number that has the wanted words, and where to look deeper.

    Args:
        experiment: the experiment. folder: its results.
        wanted: column of `table.csv` or word of its setting -> value.

    Raises:
        UsageError if there is no such column, or no printed number with these words.
    """
    lines = [line for line in _lines(folder) if line["printed"]]
    if not lines:
        raise UsageError(f"{experiment.name} has no printed numbers; its table is {short(folder / 'table.md')}.")
    chosen = [line for line in lines if _has(line, wanted, lines)]
    if not chosen:
        raise UsageError(
            f"no printed number of {experiment.name} has {' '.join(f'{k}={v}' for k, v in wanted.items())}."
        )
    sources = {tuple(row[key] for key in KEYS): row["source"] for row in read(experiment.published).to_dict("records")}
    told = [_told(line, sources.get(tuple(line[key] for key in KEYS), "")) for line in chosen]
    return "\n\n".join([*told, _deeper(experiment, folder)])


def _lines(folder: Path) -> list[Line]:
    with (folder / "table.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _words(line: Line) -> dict[str, str]:
    """The words that tell a number from others: the columns that are keys, and the parts of the setting."""
    parts = dict(part.split("=", 1) for part in line["setting"].split(";") if part)
    return {key: line[key] for key in KEYS if key != "setting"} | parts | {"verdict": line["verdict"]}


def _has(line: Line, wanted: Mapping[str, str], lines: Sequence[Line]) -> bool:
    words = _words(line)
    for key, value in wanted.items():
        if all(key not in _words(other) for other in lines):
            raise unknown("column", key, words)
        known = {_words(other).get(key, "") for other in lines}
        if known == {""}:
            raise UsageError(f"{key}={value} must be left out: no verdict here is on one {key}.")
        if value not in known:
            raise unknown(key, value, known)
    return all(words.get(key) == value for key, value in wanted.items())


def _told(line: Line, source: str) -> str:
    words = _words(line)
    interval = f" [{_number(line['ours_low'])}, {_number(line['ours_high'])}]" if line["ours_low"] else ""
    printed = f" [{line['printed_low']}, {line['printed_high']}]" if line["printed_low"] else ""
    runs = f", {int(line['n_seeds']):,} seeds of {int(line['steps']):,} steps" if int(line["n_seeds"] or 0) else ""
    parts = {
        "printed": f"{line['printed']}{printed}" + (f"   ({source})" if source else ""),
        "ours": f"{_number(line['ours'])}{interval}{runs}",
        "verdict": line["verdict"] + (f", {line['by']}" if line["by"] else ""),
        "because": line["reason"],
        "notes": line["note"],
    }
    head = ", ".join(f"{key} {value}" for key, value in words.items() if value and key != "verdict")
    return "\n".join([head, *(_part(name, text) for name, text in parts.items() if text)])


def _part(name: str, text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent=f"  {name:9}", subsequent_indent=" " * 11)


def _number(text: str) -> str:
    return f"{float(text):.4g}" if text else "none"


def _deeper(experiment: Experiment, folder: Path) -> str:
    return "\n".join(
        [
            "Look deeper:",
            f"  the protocol, and what we chose where it is silent   {short(experiment.folder / 'README.md')}",
            f"  every run behind our numbers                         {short(folder / 'runs.csv')}",
            f"  the table and the figure                             {short(folder / 'table.md')}, figure.png",
            "  how verdicts are made                                README.md, nalu_bench/analysis/stats/",
        ]
    )
