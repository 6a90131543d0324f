"""The contract of a kind of report: facts of runs, rows beside the printed numbers, tables and a figure."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, records
from nalu_bench.analysis.printed.published import KEYS, check_metrics, read
from nalu_bench.analysis.printed.recomputed import add_recomputed
from nalu_bench.analysis.render.tables import Table
from nalu_bench.analysis.stats.compare import compare_claim
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.stats.verdicts import Comparison, not_comparable, settle
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.experiment import Experiment
from nalu_bench.plan.schemas import filled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = [
    *KEYS, "ours", "ours_low", "ours_high", "n_seeds", "steps", "printed", "printed_low", "printed_high", "verdict",
    "by", "reason", "note",
]  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One of our numbers, before it has a verdict.

    Attributes:
        keys: values of `KEYS`.
        ours, low, high: our number with its interval; nan if there is none.
        n_seeds, steps: number of runs behind it, and the steps that each was trained for.
        compare: compares our number with a printed row; None if nothing printed can be compared with it.
        note: a remark for the reader.
    """

    keys: dict[str, str]
    ours: float
    low: float
    high: float
    n_seeds: int
    steps: int
    compare: Callable[[dict[str, str]], Comparison] | None
    note: str = ""


@dataclass
class Settings:
    """The settings that every report has; a kind's own are those of a subclass."""

    kind: str


class Kind:
    """A kind of report: functions of the measurements and the printed numbers.

    Args:
        experiment: the experiment; its `report` block holds the settings.

    Attributes:
        settings: the schema of the `report` block, a dataclass.
        metrics: the metrics that may be printed: name or pattern -> lowest and highest value, or None for any text.
        apart: the words (task, setting, operation, model) by which the tables tell cells apart; empty if the kind
            checks this itself.
        keeps_weights: whether the results keep small weights and recorded arrays.
        shows_notes: whether the tables show the notes of the verdicts; otherwise the notes are listed below them.
        report: the settings, with their defaults.

    Raises:
        UsageError for a setting that is missing, unknown or of another type.
    """

    settings: type[Settings] = Settings
    metrics: ClassVar[Mapping[str, Span | None]] = {"*": None}
    apart: ClassVar[tuple[str, ...]] = ()
    keeps_weights: ClassVar[bool] = True
    shows_notes: ClassVar[bool] = False

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.report = asdict(filled(self.settings, experiment.report, f"the report of {experiment.name}"))

    @functools.cached_property
    def published(self) -> pd.DataFrame:
        """The printed numbers, and recomputed ones where the printed ones are known to be wrong.

        Raises:
            UsageError for a file with wrong columns, metrics or numbers.
        """
        printed = read(self.experiment.published)
        check_metrics(printed, self.experiment.published, "printed", self.metrics)
        return add_recomputed(printed, self.experiment.recomputed)

    def words(self, cells: Sequence[Wanted]) -> dict[str, set[str]]:
        """Column of the printed numbers -> the words that the experiment can have there."""
        return {
            "task": {want.cell.task.name for want in cells},
            "operation": {str(want.setting().get("operation", "")) for want in cells},
            "model": {want.cell.model.name for want in cells},
        }

    def check(self, cells: Sequence[Wanted]) -> None:
        """Raise UsageError if these cells cannot be reported. This is called before they are trained."""
        seen: dict[tuple[str, ...], str] = {}
        for want in cells if self.apart else ():
            words = {key: next(iter(values)) for key, values in Kind.words(self, [want]).items()}
            words["setting"] = want.words()
            key = (want.role, *(words[column] for column in self.apart))
            if key in seen:
                raise UsageError(
                    f"a report of kind {self.report['kind']} tells cells apart by {' and '.join(self.apart)}, and "
                    f"{self.experiment.name} has both {seen[key]} and {want.label()}."
                )
            seen[key] = want.label()

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
        """`runs` of one cell with further columns of facts, found in its whole curves.

        `others` are all runs of roles other than "cell", such as references to judge by. Their `task`, `setting` and
        `operation` tell what they refer to. Runs of such a role are judged first, and with no `others`.
        """
        return runs

    def criteria(self, cell: Cell, others: pd.DataFrame) -> dict[str, Any]:
        """The criteria by which the facts of a cell were judged, for the manifest. `others` as in `facts`."""
        return {}

    def require(self, measured: Measured) -> None:
        """Raise UsageError if a report cannot be made of these measurements yet. Nothing is written then."""

    def rows(self, measured: Measured) -> list[Row]:
        """Our numbers, before they have verdicts."""
        raise NotImplementedError

    def tables(self, table: pd.DataFrame) -> list[Table]:
        """Tables in the layout of the paper, from the rows with their verdicts (columns `COLUMNS`)."""
        raise NotImplementedError

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """A picture of the result, and the numbers drawn in it."""
        raise NotImplementedError

    def pictures(self, measured: Measured) -> dict[str, bytes]:
        """Further pictures by file name, made of what was recorded; none by default."""
        return {}


def claimed(
    low: float, high: float, threshold: float, words: str = "", above: bool = True
) -> Callable[[dict[str, str]], Comparison]:
    """The comparison of a `Row` with a claim in words: the printed text has no number. Arguments as `compare_claim`."""
    return lambda _: compare_claim(low, high, threshold, words, above)


def untested(reason: str) -> Callable[[dict[str, str]], Comparison]:
    """The comparison of a `Row` with a claim that cannot be tested, for this reason."""
    return lambda _: not_comparable(reason)


def compared(rows: Sequence[Row], published: pd.DataFrame) -> pd.DataFrame:
    """Put the printed numbers beside ours and settle the verdicts over the whole experiment.

    Rows without a printed number get no verdict. Printed numbers without a row of ours stay, as `not comparable`.
    """
    printed = {tuple(row[key] for key in KEYS): row for row in records(published)}
    matched = [printed.pop(tuple(row.keys[key] for key in KEYS), None) for row in rows]
    verdicts = [row.compare(match) if match and row.compare else None for row, match in zip(rows, matched, strict=True)]
    settled = iter(settle([verdict for verdict in verdicts if verdict]))
    lines = [
        _line(row, match, next(settled) if verdict else None)
        for row, match, verdict in zip(rows, matched, verdicts, strict=True)
    ]
    missing = not_comparable("no runs of ours")
    lines += [
        _line(Row({key: match[key] for key in KEYS}, math.nan, math.nan, math.nan, 0, 0, None), match, missing)
        for match in printed.values()
    ]
    return pd.DataFrame(lines, columns=COLUMNS)


def _line(row: Row, match: dict[str, str] | None, verdict: Comparison | None) -> dict[str, Any]:
    match = match or {}
    notes = [row.note, verdict.note if verdict else ""]
    return {
        **row.keys,
        "ours": row.ours, "ours_low": row.low, "ours_high": row.high, "n_seeds": row.n_seeds, "steps": row.steps,
        "printed": match.get("printed", ""),
        "printed_low": match.get("printed_low", ""),
        "printed_high": match.get("printed_high", ""),
        "verdict": str(verdict.verdict) if verdict else "",
        "by": verdict.by if verdict else "",
        "reason": verdict.reason if verdict else "",
        "note": "; ".join(note for note in notes if note),
    }  # fmt: skip
