"""Errors by the length of a series beside a reference network, as in Table 2 of Trask et al. 2018."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.lengths import lengths
from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings, place_of, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.table.claim import Statistic, tested_by
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.formats import percent, three_digits
from nalu_bench.analysis.table.layout import Judged, Ours, Shown, Table, ours
from nalu_bench.analysis.table.line import Line, Row, Value, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import series_claims, series_panels
from nalu_bench.papers.trask2018.series_claims import FAILS, HOLDS, TESTS, Ratios, Sentence
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.criteria import REFERENCE
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BETWEEN, OPEN = "between", "open"
SPLIT = "test"


@dataclass
class SeriesErrorsSettings(Settings):
    """See `SeriesErrors`."""

    holds: float
    fails: float
    claims: dict[str, Sentence]


@register("series_errors", version=1)
class SeriesErrors(Kind):
    """Rows are models, columns lengths of the series; one set of tables for every operation.

        error      = median over seeds of the mean absolute error at the selected step, with its bootstrap interval
        ratio      = error / error of the reference, with a 95 % bootstrap interval over the seeds of both
        rounding   = median over seeds of the share of series whose every output rounds to its target
        digits     = median over seeds of the share of single images whose digit is read off
        late fall  = median over seeds of 1 − smallest mean squared validation error / smallest in the first four fifths
                     of the steps

    A cell *holds* at a length if its ratio is at most `holds`, and *fails* if it is at least `fails`; *between* is
    neither. The whole interval must say so, or the ratio is *open*. A claim in words is tested on the model and length
    where it is furthest from true, once all seeds asked for are there. A run without a finite error counts as
    infinitely bad.

    Source: Trask et al. 2018, section 4.2 and Table 2. Deviations: the printed numbers could not be read; the
    reference, the same network with a solved accumulator, and both limits are ours.

    Settings: `holds`, `fails`; `claims`, {name: {models, lengths, verdict: holds or fails}}. A claim of which a model
    or a length is missing is not tested.
    """

    apart = ("operation", "model")
    settings = SeriesErrorsSettings
    report: SeriesErrorsSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {"claim_*": None}
    shows_notes = True

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        for name, claim in self.report.claims.items():
            if claim.verdict not in TESTS:
                raise UsageError(f"the claim {name} must say {HOLDS} or {FAILS}, got {claim.verdict}.")
        seen: dict[str, str] = {}
        for want in cells:
            operation = place_of(want).operation
            if want.role == REFERENCE and seen.setdefault(operation, want.label()) != want.label():
                raise UsageError(
                    f"{self.experiment.name} must have one cell of the role {REFERENCE} for each operation, got "
                    f"{seen[operation]} and {want.label()}."
                )

    def require(self, measured: Measured) -> None:
        runs = measured.runs
        references = runs[runs["role"] == REFERENCE]
        missing = set(runs["operation"]) - set(references["operation"])
        if missing:
            raise UsageError(
                f"{self.experiment.name} compares with reference networks, and there are none for "
                f"{' and '.join(sorted(missing))} yet; train them: nalu-bench run {self.experiment.name}."
            )
        for operation, part in references.groupby("operation", sort=False):
            for length, column in lengths(part, "mae").items():
                if not np.isfinite(np.median(medians.finite_or_worst(part[column]))):
                    raise UsageError(
                        f"{self.experiment.name} compares with the median error of the reference networks, which must "
                        f"be finite, got inf for {operation} at length {length:,}; train more seeds of the role "
                        f"{REFERENCE}."
                    )

    def rows(self, measured: Measured) -> list[Row]:
        rows: list[Row] = []
        for _, runs in measured.runs.groupby("operation", sort=False):
            cells = list(by_cell(runs))
            (reference,) = [part for _, part in cells if part["role"].iloc[0] == REFERENCE]
            ratios = {
                (place.model, length): _ratio(part, reference, column)
                for place, part in cells
                if part is not reference
                for length, column in lengths(part, "mae").items()
            }
            for place, part in cells:
                rows += self._rows(place, part, ratios)
            for place, part in cells:
                rows += _late_fall(place, part, measured.curves)
            where = cells[0][0].at(setting=Setting(), split=SPLIT, model="")
            rows += series_claims.rows(self.report, where, {at.model: part for at, part in cells}, reference, ratios)
        return rows

    def _rows(self, place: Place, runs: pd.DataFrame, ratios: Ratios) -> Iterator[Row]:
        for length, column in lengths(runs, "mae").items():
            where = place.at(setting=Setting({"length": length}), split=SPLIT)
            errors = medians.finite_or_worst(runs[column])
            shares = runs[f"test_rounds_{length}"].fillna(0.0).to_numpy(float)
            yield row_of(where.at(metric="mae"), Value(*medians.limits_of(errors)), runs)
            if (place.model, length) in ratios:
                yield row_of(where.at(metric="ratio"), Value(*ratios[place.model, length](0.95)), runs)
            yield row_of(where.at(metric="rounding"), Value(*medians.median_of(shares)), runs)
        if "test_digits_1" in runs:
            digits = medians.median_of(runs["test_digits_1"].fillna(0.0).to_numpy(float))
            where = place.at(setting=Setting({"length": 1}), split=SPLIT, metric="digits")
            yield row_of(where, Value(*digits), runs)

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        claims = [line for line in lines if line.place.metric.startswith("claim_")]
        errors = [line for line in lines if not line.place.metric.startswith("claim_")]
        found = []
        for operation, part in grouped(errors, lambda line: line.place.operation).items():
            name = f"{style.operation_label(part[0].place.task, operation)}. {self.experiment.title}"
            for metric, heading in HEADINGS.items():
                limits = {HOLDS: self.report.holds, FAILS: self.report.fails}
                found.append(self._table(part, metric, f"{heading.format(**limits)}, {name}"))
        return [*found, self._claims_table(claims)]

    def _table(self, lines: Sequence[Line], metric: str, title: str) -> Table:
        by_place = {
            (line.place.model, line.place.setting["length"]): line for line in lines if line.place.metric == metric
        }
        extra, heading = EXTRAS.get(metric, ("", ""))
        extras = {line.place.model: line for line in lines if line.place.metric == extra}
        every = list(dict.fromkeys(length for _, length in by_place))
        rows = []
        for model in dict.fromkeys(model for model, _ in by_place):
            shown = [self._shown(by_place[model, length], metric) for length in every]
            last = [ours(extras.get(model), percent)] if extras else []
            rows.append([style.label(model), *shown, *last])
        header = ["Length", *(f"{int(length):,}" for length in every)]
        return Table(title, [*header, *([heading] if extras else [])], rows)

    def _shown(self, line: Line, metric: str) -> Shown:
        says = self._says(line.ours) if metric == "ratio" else ""
        return Ours(line, percent if metric == "rounding" else three_digits, says)

    def _says(self, ratio: Value) -> str:
        """What the whole interval of a ratio says."""
        if ratio.high <= self.report.holds:
            return HOLDS
        if ratio.low >= self.report.fails:
            return FAILS
        return BETWEEN if self.report.holds < ratio.low and ratio.high < self.report.fails else OPEN

    def _claims_table(self, claims: Sequence[Line]) -> Table:
        rows: list[list[Shown]] = [
            [
                style.operation_label(line.place.task, line.place.operation), line.printed_text,
                tested_by(line), Ours(line, three_digits), Judged(line),
            ]
            for line in claims
        ]  # fmt: skip
        title = f"Claims. {self.experiment.title} ({self.experiment.source})"
        return Table(title, ["", "Claim", "Tested by the ratio to the reference", "ours", "verdict"], rows)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[Figure, pd.DataFrame]":
        """For each operation: error by length, validation error and recurrent weight by step, what the encoder says."""
        errors = [line for line in lines if line.place.metric == "mae"]
        at = [int(line.place.setting["length"]) for line in errors]
        return series_panels.draw(measured, frame(errors).assign(length=at))


HEADINGS = {
    "mae": "Mean absolute error",
    "ratio": "Mean absolute error as a multiple of the reference's (up to {holds:g} holds, from {fails:g} on fails, an "
    "interval over a limit is open)",
    "rounding": "Share of series that round to their targets",
}
"""Metric -> the heading of its table."""

LATE_FALL, FIFTH = "late_fall", 0.2

EXTRAS = {
    "mae": (LATE_FALL, "late fall of the squared validation error"),
    "rounding": ("digits", "digit read off one image"),
}
"""Metric -> another one, which is the last column of its table, with its heading."""


def _late_fall(place: Place, runs: pd.DataFrame, curves: pd.DataFrame) -> Iterator[Row]:
    """By how much the smallest validation error of a run still fell over the last fifth of its steps."""
    if curves.empty:
        return
    found = curves[curves["cell"] == runs["cell"].iloc[0]].merge(runs[["seed"]], on="seed")
    early = found[found["step"] <= (1 - FIFTH) * found["step"].max()]
    smallest, before = (part.groupby("seed")["validation_mse"].min() for part in (found, early))
    falls = medians.bounds_of((1 - smallest / before).to_numpy(float))
    yield row_of(place.at(setting=Setting(), split="validation", metric=LATE_FALL), Value(*falls), runs)


def _ratio(runs: pd.DataFrame, reference: pd.DataFrame, column: str) -> Statistic:
    errors, errors0 = (medians.finite_or_worst(each[column]) for each in (runs, reference))
    return partial(medians.ratio_of, errors, errors0)
