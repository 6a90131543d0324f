"""Success by the length of a series, against a reference network, as in Madsen & Johansen 2020, sequential MNIST."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from nalu_bench.analysis.measure.lengths import by_length, lengths
from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.measure.solved import solved_facts_of
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import check_lengths, check_one
from nalu_bench.analysis.table.formats import three_digits
from nalu_bench.analysis.table.layout import Ours, Shown, Table
from nalu_bench.analysis.table.line import Line, Row, Value
from nalu_bench.errors import UsageError
from nalu_bench.papers.madsen2020 import small_multiples
from nalu_bench.papers.madsen2020.sweep import Sweep, SweepSettings, points_of
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.criteria import REFERENCE
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

MEASURE = "mse"
CONFIDENCE = 0.99
AUTHORS_FREEDOM = 8
LEAST = 2
"""References without which there is no interval."""

LIMITS = {
    "threshold": "Threshold",
    "threshold_over_mean": "over the references' mean error",
    "threshold_authors": "with the authors' 8 degrees of freedom",
}
"""Metric of a threshold -> its name in the table."""


@dataclass
class SeriesSuccessSettings(SweepSettings):
    """See `SeriesSuccess`."""

    outlying: float = field(default=10.0, kw_only=True)
    split: str = field(default="test", kw_only=True)


@register("series_success", version=1)
class SeriesSuccess(Sweep):
    """As `Sweep`, with the length of the series as the setting that varies. A run has one criterion for every length.

        threshold of a length = m + t s / √n,   t = Student's 99 % quantile, n - 1 degrees of freedom

    m and s are the mean and the deviation of the test errors of n reference networks at their selected steps. In a
    reference the accumulator is solved, and only the encoder learns. A reference whose error on the shortest series is
    more than `outlying` times the median reference's has not learned the task, and does not count (the authors left out
    three of ten by hand). The fewer and the noisier the references, the looser the threshold: the second table says by
    how much it exceeds their mean error.

    Source: Madsen & Johansen 2020, appendix, and their code. Deviations: their code has 8 degrees of freedom whatever
    n. The threshold with these stands beside ours in the second table; nothing is judged by it.

    Settings, beyond those of `sweep`: `outlying`.
    """

    own_words = ("length",)
    settings = SeriesSuccessSettings
    report: SeriesSuccessSettings
    panels: ClassVar[Mapping[str, tuple[str, str, float]]] = {
        **Sweep.panels,
        "solved_at_median": ("Solved at [thousand steps]", "solved_at_mean", 1e-3),
    }

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        check_lengths(self.report.kind, cells)
        if self.report.criterion != REFERENCE:
            raise UsageError(f"a report of kind series_success needs criterion: {REFERENCE}.")
        check_one(self.experiment.name, cells, REFERENCE)

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
        return solved_facts_of(runs, curves, self.criteria(cell, others).get("thresholds", {}), cell.task)

    def criteria(self, cell: Cell, others: pd.DataFrame) -> dict[str, Any]:
        found = self._learned(others)
        if len(found) < LEAST:
            return {}
        thresholds = {column: _threshold(found[column], len(found) - 1) for column in lengths(found, MEASURE).values()}
        return {"criterion": REFERENCE, "thresholds": thresholds}

    def require(self, measured: Measured) -> None:
        runs = measured.runs
        found = self._learned(runs[runs["role"] == REFERENCE])
        if len(found) < LEAST:
            raise UsageError(
                f"{self.experiment.name} judges by at least {LEAST} references that have learned the task, and there "
                f"are {len(found)} yet; train them: nalu-bench run {self.experiment.name}."
            )

    def _learned(self, references: pd.DataFrame) -> pd.DataFrame:
        """The references that have learned the task."""
        columns = list(lengths(references, MEASURE).values())
        if not columns or references.empty:
            return references.iloc[:0]
        errors = references[columns[0]].to_numpy(float)
        errors = np.where(np.isfinite(errors), errors, np.inf)
        near = np.isfinite(errors) & (errors <= self.report.outlying * np.median(errors))
        learned: pd.DataFrame = references[near]
        return learned

    def rows(self, measured: Measured) -> list[Row]:
        references = measured.runs[measured.runs["role"] == REFERENCE]
        return [*super().rows(_long(measured)), *self._thresholds(references)]

    def _thresholds(self, references: pd.DataFrame) -> list[Row]:
        """The thresholds of every length, and those with the authors' degrees of freedom."""
        found = self._learned(references)
        (place, _), *_ = by_cell(references)
        left_out = f"{len(references) - len(found)} of {len(references)} references left out: task not learned"
        notes = (left_out,) if len(found) < len(references) else ()
        steps = int(found["steps"].iloc[0])
        columns = lengths(found, MEASURE)
        own, theirs = (
            {length: _threshold(found[column], freedom) for length, column in columns.items()}
            for freedom in (len(found) - 1, AUTHORS_FREEDOM)
        )
        looser = {length: own[length] / float(found[column].mean()) for length, column in columns.items()}
        return [
            Row(place.at(setting=Setting({"length": length}), split=self.report.split, metric=metric), Value(value),
                len(found), steps, notes=notes)
            for metric, values in zip(LIMITS, (own, looser, theirs), strict=True)
            for length, value in values.items()
        ]  # fmt: skip

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        judged = [line for line in lines if line.place.metric not in LIMITS]
        limits = [line for line in lines if line.place.metric in LIMITS]
        return [*super().tables(judged), self._limits_table(limits)]

    def _limits_table(self, limits: Sequence[Line]) -> Table:
        found = {(line.place.setting["length"], line.place.metric): line for line in limits}
        rows: list[list[Shown]] = [
            [length, *(Ours(found[length, name], three_digits) for name in LIMITS)]
            for length in dict.fromkeys(length for length, _ in found)
        ]
        left_out = "".join(f" ({note})" for note in dict.fromkeys(note for line in limits for note in line.notes))
        title = f"Thresholds: mean squared error{left_out}. {self.experiment.heading}"
        return Table(title, [self.report.axis, *LIMITS.values()], rows)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """The three statistics of the paper's figure, a column of panels for each model."""
        table = self.frame([line for line in lines if line.place.metric not in LIMITS])
        models = list(dict.fromkeys(table["model"]))
        drawn = pd.concat(
            [
                points_of(table[table["model"] == model], name, series).assign(panel=metric)
                for metric, (_, printed, _) in self.panels.items()
                for model in models
                for series, name in (("ours", metric), ("printed", printed))
            ],
            ignore_index=True,
        )
        panels = {metric: (label, factor) for metric, (label, _, factor) in self.panels.items()}
        curves = {model: (style.label(model), model) for model in models}
        figure = small_multiples.draw(drawn.assign(curve=drawn["model"]), panels, curves, self.report.axis)
        figure.suptitle(
            f"Lines: ours ({self.scale(measured)}), 95 % bands.  "
            f"Hollow: printed ({self.experiment.printed_steps:,} steps).  Solved at: ours median, printed mean",
            fontsize=8,
        )
        return figure, drawn.rename(columns={"place": self.report.against})


def _threshold(errors: "pd.Series[float]", freedom: int) -> float:
    """Upper limit of Student's interval for the mean, to ten digits: further ones depend on the processor.

    The errors are taken in the precision of training, because `runs.csv` keeps no more of them than its decimals.
    """
    x = errors.to_numpy(np.float32).astype(float)
    limit = x.mean() + float(stdtrit(freedom, CONFIDENCE)) * x.std(ddof=1) / math.sqrt(x.size)
    return float(f"{limit:.10g}")


def _long(measured: Measured) -> Measured:
    """The measurements of the judged cells with one row for every run and length."""
    cells = measured.runs[measured.runs["role"] == "cell"]
    return replace(measured, runs=pd.concat([runs for _, runs in by_length(cells, MEASURE)], ignore_index=True))
