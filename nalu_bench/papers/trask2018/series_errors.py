"""Errors by the length of a series beside a reference network, as in Table 2 of Trask et al. 2018."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.measure.lengths import lengths
from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings, against_printed, check_lengths, check_one, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.ranges import ERRORS, Span, compare_share
from nalu_bench.analysis.stats.verdicts import Comparison
from nalu_bench.analysis.table.claim import CLAIM, Statistic
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.layout import Table
from nalu_bench.analysis.table.line import Line, Printed, Row, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import series_claims, series_constant, series_panels, series_printed, series_tables
from nalu_bench.papers.trask2018.series_claims import Ratios, Sentence
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.criteria import REFERENCE
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

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

        error      = median over seeds of the mean absolute, or squared, error at the selected step, with its bootstrap
                     interval
        ratio      = error / error of the reference, with a 95 % bootstrap interval over the seeds of both
        way        = (error - error of the reference) / (error of a constant - error of the reference), likewise
        rounding   = median over seeds of the share of series whose every output rounds to its target
        digits     = median over seeds of the share of single images whose digit is read off
        late fall  = median over seeds of 1 − smallest mean squared validation error / smallest in the first four fifths
                     of the steps

    A cell *holds* at a length if its ratio is at most `holds`, and *fails* if it is at least `fails`; *between* is
    neither. The whole interval must say so, or the ratio is *open*. A claim in words is tested on the model and length
    where it is furthest from true, once all seeds asked for are there. A run without a finite error counts as
    infinitely bad. The constant prediction and its errors are those of `series_constant`.

    Printed errors are compared with the range of our seeds, see `compare_single`; a printed accuracy is that of one
    network on all single test images, see `compare_share`.

    Source: Trask et al. 2018, section 4.2, Tables 2 and 10. Deviations: the reference, the same network with a solved
    accumulator, the constant and both limits are ours.

    Settings: `holds`, `fails`; `claims`, {name: {models, lengths, verdict: holds or fails}}. A claim of which a model
    or a length is missing is not tested.
    """

    apart = ("operation", "model")
    own_words = ("length",)
    settings = SeriesErrorsSettings
    report: SeriesErrorsSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {"mae": ERRORS, "mse": ERRORS, "digits": (0, 100), f"{CLAIM}*": None}
    named: ClassVar[Mapping[str, str]] = dict(Kind.named) | {"digits": "Percentage of digits read right, at length 1"}
    shows_notes = True

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        check_lengths(self.report.kind, cells)
        check_one(self.experiment.name, cells, REFERENCE, "operation")

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
                rows += _errors(place, part)
                rows += _beside(place, part, reference, ratios)
                rows += _right(place, part)
            rows += _constant(cells[0][0], lengths(reference, "mae"))
            for place, part in cells:
                rows += _late_fall(place, part, measured.curves)
            where = cells[0][0].at(setting=Setting(), split=SPLIT, model="")
            rows += series_claims.rows(self.report, where, {at.model: part for at, part in cells}, reference, ratios)
        return rows

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        return series_tables.tables(self.experiment.heading, self.report, lines, series_printed.pairs(self.published))

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """For each operation: error by length, validation error and recurrent weight by step, what the encoder says."""
        errors = [line for line in series_tables.measured(lines) if line.place.metric == "mae"]
        at = [int(line.place.setting["length"]) for line in errors]
        return series_panels.draw(measured, frame(errors).assign(length=at))


def _at(place: Place, length: int) -> Place:
    return place.at(setting=Setting({"length": length}), split=SPLIT)


def _errors(place: Place, runs: pd.DataFrame) -> Iterator[Row]:
    """The mean absolute and the mean squared error at every length."""
    for metric in ("mae", "mse"):
        for length, column in lengths(runs, metric).items():
            errors = medians.finite_or_worst(runs[column])
            where = _at(place, length).at(metric=metric)
            yield row_of(where, Value(*medians.limits_of(errors)), runs, compare=against_printed(errors))


def _beside(place: Place, runs: pd.DataFrame, reference: pd.DataFrame, ratios: Ratios) -> Iterator[Row]:
    """The error beside the reference's, and beside that of a constant."""
    for length, column in lengths(runs, "mae").items():
        if (place.model, length) not in ratios:
            continue
        where = _at(place, length)
        yield row_of(where.at(metric="ratio"), Value(*ratios[place.model, length](0.95)), runs)
        if place.operation in series_constant.OPERATIONS:
            errors, errors0 = (medians.finite_or_worst(each[column]) for each in (runs, reference))
            far = series_constant.errors(place.operation, length)[0]
            yield row_of(where.at(metric="way"), Value(*medians.between_of(errors, errors0, far)), runs)


def _right(place: Place, runs: pd.DataFrame) -> Iterator[Row]:
    """The shares of right answers: series that round to their targets, and single images whose digit is read off."""
    for length, column in lengths(runs, "rounds").items():
        shares = runs[column].fillna(0.0).to_numpy(float)
        yield row_of(_at(place, length).at(metric="rounding"), Value(*medians.median_of(shares)), runs)
    if "test_digits_1" in runs:
        digits = runs["test_digits_1"].fillna(0.0).to_numpy(float)
        compare = partial(_read_off, digits)
        where = _at(place, 1).at(metric="digits")
        yield row_of(where, Value(*medians.median_of(digits)), runs, compare=compare)


def _read_off(digits: NDArray[np.float64], printed: Printed) -> Comparison:
    return compare_share(digits, printed.number() / 100, sum(series_constant.TEST_IMAGES))


def _constant(place: Place, at: Iterable[int]) -> Iterator[Row]:
    """The errors of a constant prediction, which are computed and not trained."""
    if place.operation not in series_constant.OPERATIONS:
        return
    for length in at:
        found = series_constant.errors(place.operation, length)
        for metric, error in zip(("mae", "mse"), found, strict=True):
            yield Row(_at(place, length).at(model=series_constant.MODEL, metric=metric), Value(error), 0, 0)


FIFTH = 0.2


def _late_fall(place: Place, runs: pd.DataFrame, curves: pd.DataFrame) -> Iterator[Row]:
    """By how much the smallest validation error of a run still fell over the last fifth of its steps."""
    if curves.empty:
        return
    found = curves[curves["cell"] == runs["cell"].iloc[0]].merge(runs[["seed"]], on="seed")
    early = found[found["step"] <= (1 - FIFTH) * found["step"].max()]
    smallest, before = (part.groupby("seed")["validation_mse"].min() for part in (found, early))
    falls = medians.bounds_of((1 - smallest / before).to_numpy(float))
    yield row_of(place.at(setting=Setting(), split="validation", metric=series_tables.LATE_FALL), Value(*falls), runs)


def _ratio(runs: pd.DataFrame, reference: pd.DataFrame, column: str) -> Statistic:
    errors, errors0 = (medians.finite_or_worst(each[column]) for each in (runs, reference))
    return partial(medians.ratio_of, errors, errors0)
