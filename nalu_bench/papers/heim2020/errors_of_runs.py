"""Errors of a few runs with their spread, as in Tables 1 and A2 of Heim, Pevný & Šmídl 2020."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings, at_full_length, check_named, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.intervals import middle_range
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.stats.ranges import ERRORS, Span, compare_single
from nalu_bench.analysis.stats.verdicts import Comparison, not_comparable
from nalu_bench.analysis.stats.words import Better
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.formats import four_digits, three_digits
from nalu_bench.analysis.table.layout import Judged, Ours, Show, Shown, Table, Theirs, stacked
from nalu_bench.analysis.table.line import Compare, Line, Printed, Row, Value, chosen_by, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError, unknown
from nalu_bench.papers.heim2020.tables_of_runs import STATISTICS, Statistic, drawn
from nalu_bench.plan.cell import Wanted
from nalu_bench.registry import register
from nalu_bench.store.schema import Status

SPREAD = "_spread"
"""The end of the metric of the number behind a ±."""

SINGLE = float(np.finfo(np.float32).max)
"""The largest error that a run of ours can have."""

DRAWN = (1e-9, 1e9)
"""Errors beyond are drawn at these ends."""

BLUE = "#0072B2"


@dataclass
class Reading:
    """What is printed of some runs.

    Attributes:
        title: for the heading of its tables.
        statistic: mean, with its standard error; or median, with the median absolute deviation.
        runs: number of runs behind a printed number. more: operation -> another number.
        best: how many of them count, those with the smallest `rank`; 0 for all.
    """

    title: str
    statistic: str
    runs: int
    more: dict[str, int] = field(default_factory=dict)
    best: int = 0

    def told(self, split: str) -> str:
        """For a heading: what ours is, and what the brackets hold."""
        of = ", ".join([f"{self.runs} runs", *(f"{count} of {operation}" for operation, count in self.more.items())])
        told = f"median over tables of the best {self.best} of {of}" if self.best else "over all our runs"
        ours = told if self.best else f"{self.statistic} {told}"
        return f"{self.title}, {split}: {ours} [middle 95 % of tables of {of}]"


@dataclass
class Quantity:
    """A column of the runs, and the split and the operation that it stands for; no operation for the task's own."""

    column: str
    split: str
    operation: str = ""


@dataclass
class Exempt:
    """Printed numbers that stand beside ours and are not compared.

    Attributes:
        reason: why.
        of: heading of models -> operations.
        split: the split; empty for every one.
    """

    reason: str
    of: dict[str, list[str]]
    split: str = ""

    def names(self) -> Iterator[tuple[str, str]]:
        """What it names: headings, operations and perhaps a split."""
        yield from (("heading", heading) for heading in self.of)
        yield from (("operation", operation) for operations in self.of.values() for operation in operations)
        if self.split:
            yield "split", self.split


@dataclass
class ErrorsOfRunsSettings(Settings):
    """See `ErrorsOfRuns`."""

    models: dict[str, list[str]]
    quantities: list[Quantity]
    readings: dict[str, Reading]
    rank: str
    without_diverged: bool = False
    fitted: list[str] = field(default_factory=list)
    not_compared: list[Exempt] = field(default_factory=list)


@register("errors_of_runs", version=1)
class ErrorsOfRuns(Kind):
    """Columns are units, rows operations: an error over a few runs, and the number behind its ±.

    Each reading of the printed numbers has tables of its own, see `Reading`: ours is the statistic over all of our
    runs, or where only the best count, its median over tables of as many runs that are drawn from ours; what stands
    behind the ± is always such a median. Brackets hold the middle 95 % of what such a table would print, see
    `tables_of_runs.drawn`: a printed number is one such table, and compared with this range, as one number with the
    range of seeds is. The last network of a run counts, and one without a finite error as infinitely bad.

    Source: Heim, Pevný & Šmídl 2020, Tables 1 and A2, https://arxiv.org/abs/2006.01681. Deviations: none known.

    Settings: `models`, heading -> the models of this column; `quantities`, the errors; `readings`; `rank`, the column
    by which runs are the best; `without_diverged`, whether runs that diverged are left out, as in their code; `fitted`,
    the models whose settings were chosen by their printed numbers; `not_compared`, the printed numbers that are not.
    """

    apart: ClassVar[tuple[str, ...]] = ("operation", "setting", "model")
    settings = ErrorsOfRunsSettings
    report: ErrorsOfRunsSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {"*": ERRORS}
    brackets = "the middle 95 % of what tables of as few runs as the source's give, drawn from all of ours"
    named: ClassVar[Mapping[str, str]] = {
        "mean": "Mean of the runs",
        "mean_spread": "Spread of the runs around their mean",
        "median": "Median of the runs",
        "median_spread": "Spread of the runs around their median",
    }

    def words(self, cells: Sequence[Wanted]) -> dict[str, set[str]]:
        found = super().words(cells)
        own = {each.operation for each in self.report.quantities if each.operation}
        return found | {"operation": found["operation"] | own}

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        for name, reading in self.report.readings.items():
            if reading.statistic not in STATISTICS:
                raise unknown(f"statistic of the reading {name}", reading.statistic, STATISTICS)
            fewest = min([reading.runs, *reading.more.values()])
            if not 0 <= reading.best <= fewest or fewest < 1:
                raise UsageError(
                    f"the reading {name} must have best from 0 to its number of runs, and at least one run, got "
                    f"best={reading.best} of {fewest}."
                )

    def check_printed(self, everything: Sequence[Wanted]) -> None:
        super().check_printed(everything)
        known = {**self.words(everything), "heading": set(self.report.models)}
        for exempt in self.report.not_compared:
            check_named("in not_compared", exempt.names(), known)

    def needs(self) -> Sequence[str]:
        return [self.report.rank, *(quantity.column for quantity in self.report.quantities)]

    def rows(self, measured: Measured) -> list[Row]:
        return [
            row
            for place, runs in by_cell(measured.ended(self.needs()))
            for quantity in self.report.quantities
            for name, reading in self.report.readings.items()
            for row in self._rows(_of(place, quantity, name), quantity, reading, runs)
        ]

    def _rows(self, place: Place, quantity: Quantity, reading: Reading, runs: pd.DataFrame) -> Iterator[Row]:
        counted = runs[runs["status"] != Status.DIVERGED] if self.report.without_diverged else runs
        counted = counted if len(counted) else runs  # all diverged: infinitely bad
        left = len(runs) - len(counted)
        note = f"{left} diverged runs are left out" if left else ""
        size = reading.more.get(place.operation, reading.runs)
        statistic, errors = STATISTICS[reading.statistic], _column(counted, quantity.column)
        ranks = _column(counted, self.report.rank)
        tables = drawn(errors, ranks, size, reading.best or size, place.told())
        for end, samples, value in _values(reading, statistic, errors, tables):
            better = Better.NEITHER if end else Better.LOWER
            compare = at_full_length(self.experiment, runs, self._compare(place, samples, better, len(counted), size))
            compare = chosen_by(compare) if place.model in self.report.fitted else compare
            ours = Value(value, *middle_range(samples))
            yield row_of(place.at(metric=place.metric + end), ours, runs, note, compare=compare)

    def _exempt(self, place: Place) -> str:
        """Why a printed number is not compared; empty if it is."""
        heading = self._heading(place.model)
        for exempt in self.report.not_compared:
            if exempt.split in ("", place.split) and place.operation in exempt.of.get(heading, []):
                return exempt.reason
        return ""

    def _compare(self, place: Place, samples: Array, better: Better, count: int, size: int) -> Compare:
        exempt = self._exempt(place)

        def compare(printed: Printed) -> Comparison:
            if exempt:
                return not_comparable(exempt)
            if count < size:
                return not_comparable(f"a table has {size} runs, and {count} of ours are there")
            if printed.number() > SINGLE:
                return not_comparable("single precision has no number as large; theirs is double precision")
            found = compare_single(samples, printed.text, ERRORS, better)
            reason = found.reason.replace("our seeds", f"tables of {size} runs, drawn from {count} of ours")
            return replace(found, notes=(), reason=reason, held=None)  # the interval of ours is that range

        return compare

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        """A table for each reading and split: of every operation ours by setting, the printed number, the verdict."""
        found = []
        for (name, split), mine in grouped(lines, lambda line: (_reading(line), line.place.split)).items():
            reading, shown = self.report.readings.get(name), [line for line in mine if line.n_seeds]
            if reading and shown:
                found.append(self._table(f"{reading.told(split)}. {self.experiment.heading}", shown))
        return found

    def _table(self, title: str, lines: Sequence[Line]) -> Table:
        rows: list[list[Shown]] = []
        for operation, mine in grouped(lines, lambda line: line.place.operation).items():
            head = [style.operation_label(mine[0].place.task, operation)]
            for part in grouped(mine, lambda line: (line.place.setting, line.place.metric)).values():
                found = {self._heading(line.place.model): line for line in part}
                rows += stacked(head, _ways(part), found, [*self.report.models])
                head = [""]
        return Table(title, ["", "", *self.report.models], rows)

    def _heading(self, model: str) -> str:
        return next((heading for heading, models in self.report.models.items() if model in models), "")

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """The first reading under the setting that is compared: ours with the range of tables; hollow: printed."""
        mine = [line for line in lines if line.place.metric == next(iter(self.report.readings)) and line.n_seeds]
        setting = next((line for line in mine if line.printed_text), mine[0]).place.setting
        mine = [line for line in mine if line.place.setting == setting]
        splits, operations = (
            list(dict.fromkeys(getattr(line.place, word) for line in mine)) for word in ("split", "operation")
        )
        figure, axes = style.new_figure(7.2, 0.9 + 2.1 * len(splits), rows=len(splits), columns=len(operations))
        for (split, operation), those in grouped(mine, lambda line: (line.place.split, line.place.operation)).items():
            axis = axes[splits.index(split)][operations.index(operation)]
            axis.set_title(style.operation_label(those[0].place.task, operation))
            _draw(axis, list(self.report.models), {self._heading(line.place.model): line for line in those})
        for row, split in zip(axes, splits, strict=True):
            row[0].set_ylabel(f"error, {split}")
        told = "Filled: ours.  Bars: middle 95 % of tables drawn from our runs.  Hollow: printed"
        beyond = max(line.ours.value for line in mine) > DRAWN[1]
        figure.suptitle(told + (f".  At the top: {DRAWN[1]:,.0f} and more" if beyond else ""), fontsize=8)
        return figure, frame(mine)


def _draw(axis: "style.Axes", headings: Sequence[str], lines: Mapping[str, Line]) -> None:
    """The numbers of one operation and split, a place for each heading."""
    axis.set_yscale("log")
    for place, heading in enumerate(headings):
        if line := lines.get(heading):
            low, value, high = np.clip([line.ours.low, line.ours.value, line.ours.high], *DRAWN)
            axis.plot([place] * 2, [low, high], color=BLUE, linewidth=2.5, alpha=0.5)
            axis.plot([place], [value], color=BLUE, marker="o", markersize=5)
            printed = np.clip([float(line.printed_text or "nan")], *DRAWN)
            axis.plot([place + 0.3], printed, color="black", marker="d", markersize=4.5, fillstyle="none", linestyle="")
    axis.set_xticks(range(len(headings)), headings, rotation=90, fontsize=7)
    axis.set_xlim(-0.5, len(headings) - 0.3)


def _values(reading: Reading, statistic: Statistic, errors: Array, tables: Array) -> Iterator[tuple[str, Array, float]]:
    """The end of a metric, what tables print there, and our number: of all runs, or the median of the tables."""
    centres, spreads = statistic(tables)
    yield "", centres, float(np.median(centres) if reading.best else statistic(errors[None])[0][0])
    yield SPREAD, spreads, float(np.median(spreads))


def _of(place: Place, quantity: Quantity, metric: str) -> Place:
    return place.at(operation=quantity.operation or place.operation, split=quantity.split, metric=metric)


def _column(runs: pd.DataFrame, column: str) -> Array:
    return medians.finite_or_worst(runs[column] if column in runs else pd.Series(np.nan, runs.index))


def _reading(line: Line) -> str:
    return line.place.metric.removesuffix(SPREAD)


def _ways(lines: Sequence[Line]) -> dict[str, Show]:
    """How the lines of one operation, setting and metric are shown, by the names of the rows."""
    place = lines[0].place
    plus = "±" if place.metric.endswith(SPREAD) else ""
    ways: dict[str, Show] = {plus or f"ours, {place.setting.told()}": lambda line: Ours(line, three_digits)}
    if any(line.printed_text for line in lines):
        ways[f"printed {plus}".strip()] = lambda line: Theirs(line, four_digits, alone=True)
        ways[f"verdict {plus}".strip()] = Judged
    return ways
