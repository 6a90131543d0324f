"""Errors by the length of a series beside a reference network, as in Table 2 of Trask et al. 2018."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.lengths import lengths
from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note, records
from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.tables import Table, ours, percent, three_digits
from nalu_bench.analysis.reports.kind import Kind, Row, Settings
from nalu_bench.analysis.reports.papers import series_claims, series_panels
from nalu_bench.analysis.reports.papers.series_claims import FAILS, HOLDS, TESTS, Claim, Ratios
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.criteria import REFERENCE
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
    least_steps: int
    claims: dict[str, Claim]


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

    Settings: `holds`, `fails`; `least_steps`, from which on claims are tested; `claims`, {name: {models, lengths,
    verdict: holds or fails}}. A claim of which a model or a length is missing is not tested.
    """

    apart = ("operation", "model")
    settings = SeriesErrorsSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {"claim_*": None}
    shows_notes = True

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        for name, claim in self.report["claims"].items():
            if claim["verdict"] not in TESTS:
                raise UsageError(f"the claim {name} must say {HOLDS} or {FAILS}, got {claim['verdict']}.")
        seen: dict[str, str] = {}
        for want in cells:
            operation = str(want.setting().get("operation", ""))
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
                (words["model"], length): _ratio(part, reference, column)
                for words, part in cells
                if part is not reference
                for length, column in lengths(part, "mae").items()
            }
            rows += [row for words, part in cells for row in self._rows(words, part, ratios)]
            rows += [row for words, part in cells for row in _late_fall(words, part, measured.curves)]
            where, by_model = {**cells[0][0], "split": SPLIT}, {words["model"]: part for words, part in cells}
            rows += series_claims.rows(self.report, where, by_model, reference, ratios)
        return rows

    def _rows(self, words: dict[str, str], runs: pd.DataFrame, ratios: Ratios) -> Iterator[Row]:
        count, steps, note = len(runs), int(runs["steps"].iloc[0]), count_note(runs)
        for length, column in lengths(runs, "mae").items():
            where = {**words, "setting": f"length={length}", "split": SPLIT}
            errors = medians.finite_or_worst(runs[column])
            shares = runs[f"test_rounds_{length}"].fillna(0.0).to_numpy(float)
            yield Row({**where, "metric": "mae"}, *medians.limits_of(errors), count, steps, None, note)
            if (words["model"], length) in ratios:
                yield Row({**where, "metric": "ratio"}, *ratios[words["model"], length], count, steps, None, note)
            yield Row({**where, "metric": "rounding"}, *medians.median_of(shares), count, steps, None, note)
        if "test_digits_1" in runs:
            digits = medians.median_of(runs["test_digits_1"].fillna(0.0).to_numpy(float))
            where = {**words, "setting": "length=1", "split": SPLIT, "metric": "digits"}
            yield Row(where, *digits, count, steps, None, note)

    def tables(self, table: pd.DataFrame) -> list[Table]:
        claims = table[table["metric"].str.startswith("claim_")]
        limits = {key: self.report[key] for key in TESTS}
        found = []
        for operation, part in table.drop(claims.index).groupby("operation", sort=False):
            name = f"{style.operation_label(part['task'].iloc[0], str(operation))}. {self.experiment.title}"
            found += [
                self._table(part, metric, f"{heading.format(**limits)}, {name}") for metric, heading in HEADINGS.items()
            ]
        return [*found, self._claims_table(claims)]

    def _table(self, table: pd.DataFrame, metric: str, title: str) -> Table:
        lines = {(line["model"], line["setting"]): line for line in records(table) if line["metric"] == metric}
        extra, heading = EXTRAS.get(metric, ("", ""))
        extras = {line["model"]: line for line in records(table) if line["metric"] == extra}
        settings = list(dict.fromkeys(setting for _, setting in lines))
        rows = []
        for model in dict.fromkeys(model for model, _ in lines):
            texts = [self._text(lines[model, setting], metric) for setting in settings]
            last = [ours(extras[model], percent) if model in extras else "–"] if extras else []
            rows.append([style.label(str(model)), *texts, *last])
        header = ["Length", *(f"{int(setting.partition('=')[2]):,}" for setting in settings)]
        return Table(title, [*header, *([heading] if extras else [])], rows)

    def _text(self, line: dict[str, Any], metric: str) -> str:
        text = ours(line, percent if metric == "rounding" else three_digits)
        return f"{text} {self._says(line['ours_low'], line['ours_high'])}" if metric == "ratio" else text

    def _says(self, low: float, high: float) -> str:
        """What a whole interval of ratios says."""
        if high <= self.report[HOLDS]:
            return HOLDS
        if low >= self.report[FAILS]:
            return FAILS
        return BETWEEN if self.report[HOLDS] < low and high < self.report[FAILS] else OPEN

    def _claims_table(self, claims: pd.DataFrame) -> Table:
        rows = [
            [
                style.operation_label(line["task"], line["operation"]), line["printed"],
                line["note"].replace("; a claim in words", ""), ours(line, three_digits), line["verdict"] or "–",
            ]
            for line in records(claims)
        ]  # fmt: skip
        title = f"Claims. {self.experiment.title} ({self.experiment.source})"
        return Table(title, ["", "Claim", "Tested by the ratio to the reference", "ours", "verdict"], rows)

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """For each operation: error by length, validation error and recurrent weight by step, what the encoder says."""
        return series_panels.draw(measured, table)


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


def _late_fall(words: dict[str, str], runs: pd.DataFrame, curves: pd.DataFrame) -> Iterator[Row]:
    """By how much the smallest validation error of a run still fell over the last fifth of its steps."""
    if curves.empty:
        return
    found = curves[curves["cell"] == runs["cell"].iloc[0]].merge(runs[["seed"]], on="seed")
    early = found[found["step"] <= (1 - FIFTH) * found["step"].max()]
    smallest, before = (part.groupby("seed")["validation_mse"].min() for part in (found, early))
    falls = medians.bounds_of((1 - smallest / before).to_numpy(float))
    where = {**words, "setting": "", "split": "validation", "metric": LATE_FALL}
    yield Row(where, *falls, len(runs), int(runs["steps"].iloc[0]), None, count_note(runs))


def _ratio(runs: pd.DataFrame, reference: pd.DataFrame, column: str) -> tuple[float, float, float]:
    errors, errors0 = (medians.finite_or_worst(each[column]) for each in (runs, reference))
    return medians.ratio_of(errors, errors0)
