"""Success rate, speed of convergence and sparsity as functions of one value, as in Madsen & Johansen 2020, Figure 3."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, seeds_by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import place_of
from nalu_bench.analysis.reports.success import METRICS, Success, SuccessSettings
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.formats import Format, span, steps
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Show, Table, Theirs
from nalu_bench.analysis.table.line import Line, grouped
from nalu_bench.errors import UsageError
from nalu_bench.papers.madsen2020.side_by_side import Column, side_by_side
from nalu_bench.plan.cell import Wanted
from nalu_bench.registry import register

DODGE = 0.12
"""Horizontal distance between neighbouring symbols: ours, printed, the next model."""

BOUNDS = ("value", "low", "high")


@dataclass
class SweepSettings(SuccessSettings):
    """See `Sweep`."""

    against: str = field(kw_only=True)
    axis: str = field(kw_only=True)


@register("sweep", version=1)
class Sweep(Success):
    """Rows are values of one setting, columns models; each statistic of `success` has a table, or several narrow ones.

    The figure has one line a model, ours filled and the printed numbers hollow. The paper draws the mean of the solved
    step. Its printed value is not reliable (see `not_comparable`), so that our median stands beside it.

    Settings, beyond those of `success`: `against`, the word of the `setting` that varies, and `axis`, its name.
    """

    apart = ()
    settings = SweepSettings
    report: SweepSettings
    panels: ClassVar[Mapping[str, tuple[str, str, float]]] = {
        "success_rate": ("Success rate", "success_rate", 1.0),
        "solved_at_median": ("Solved at [million steps]", "solved_at_mean", 1e-6),
        "sparsity_error_mean": ("Sparsity error", "sparsity_error_mean", 1.0),
    }
    """Our metric -> the name of its axis, the metric that the paper prints in its place, the factor of the axis."""

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        shown = {"claims": self.report.claims, "below": self.report.below}
        if more := " and ".join(word for word, value in shown.items() if value):
            raise UsageError(
                f"a report of kind {self.report.kind} has no place for {more}, got them in {self.experiment.name}; "
                "leave them out, or choose the kind success."
            )
        word = self.report.against
        for place in (place_of(want) for want in cells if want.role == "cell" and word not in self.own_words):
            if word not in place.setting:
                raise self._without(word)
            self.number(place.setting[word])

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        placed = self.placed(lines)
        shown = [line for line in placed if line.place.metric in METRICS]
        judged = any(line.judged for line in shown)
        return [
            table
            for metric, group in grouped(shown, lambda line: line.place.metric).items()
            for table in self._tables(group, *METRICS[metric], judged)
        ]

    def _tables(self, lines: Sequence[Line], name: str, form: Format, judged: bool) -> list[Table]:
        """The tables of one statistic: models side by side, as many as fit."""
        places = sorted({self.at(line) for line in lines})
        first = (self.report.axis, [self.told(at) for at in places])
        blocks = {
            name: self._block(name, group, places, form, judged) for name, group in grouped(lines, self.curve).items()
        }
        return side_by_side(name, self.experiment.heading, [first], blocks)

    def _block(
        self, label: str, lines: Sequence[Line], places: Sequence[float], form: Format, judged: bool
    ) -> list[Column]:
        """The columns of a model. Only one with a printed number has a column `printed`, and `verdict` where some are.

        Where nothing of the experiment is compared, the reason stands below the tables, and no verdict in them.
        """
        shown: dict[str, Show] = {"": lambda line: Ours(line, form)}
        if any(line.printed_text for line in lines):
            shown |= {"printed": lambda line: Theirs(line, form)} | ({"verdict": Judged} if judged else {})
        by_place = {self.at(line): line for line in lines}
        return [
            (f"{label} {word}".strip(), [show(by_place[at]) if at in by_place else EMPTY for at in places])
            for word, show in shown.items()
        ]

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """The three statistics of the paper's figure side by side."""
        table = self.frame(lines)
        figure, axes = style.new_figure(7.4, 2.9, columns=len(self.panels))
        drawn = []
        for axis, (metric, (name, printed, factor)) in zip(axes[0], self.panels.items(), strict=True):
            for number, model in enumerate(table["model"].unique()):
                rows = table[table["model"] == model]
                for side, points in enumerate((points_of(rows, metric, "ours"), points_of(rows, printed, "printed"))):
                    _draw(axis, points, model, (2 * number + side - 1.5) * DODGE, factor)
                    drawn.append(points)
            axis.set(xlabel=self.report.axis, ylabel=name, xticks=sorted(table["place"].unique()))
            axis.set_ylim(bottom=-0.03 * axis.get_ylim()[1])  # a symbol at 0 is whole
        entries = style.entries(axes[0][0])
        style.legend(figure, entries, columns=len(entries))
        figure.suptitle(
            f"Filled: ours ({self.scale(measured)}).  Hollow: printed ({self.experiment.printed_steps:,} steps).  "
            "Bars: 95 %.  Solved at: ours median, printed mean",
            fontsize=8,
        )
        return figure, pd.concat(drawn, ignore_index=True).rename(columns={"place": self.report.against})

    def scale(self, measured: Measured) -> str:
        """Seeds and steps of our runs, such as `25 seeds, 5,000,000 steps`, for a figure."""
        lengths = measured.runs.loc[measured.runs["role"] == "cell", "steps"]
        return f"{span(seeds_by_cell(measured.runs))} seeds, {either(lengths)} steps"

    def frame(self, lines: Sequence[Line]) -> pd.DataFrame:
        """The lines in the order of the setting that varies, as a frame with its number as the column `place`."""
        placed = self.placed(lines)
        return frame(placed).assign(place=[self.at(line) for line in placed])

    def placed(self, lines: Sequence[Line]) -> list[Line]:
        """The lines in the order of the setting that varies.

        Raises:
            UsageError for a line without this word, or for two lines of one model, metric and value.
        """
        word = self.report.against
        if not all(word in line.place.setting for line in lines):
            raise self._without(word)
        same = grouped(lines, lambda line: (self.curve(line), line.place.metric, self.at(line)))
        if len(same) < len(lines):
            raise UsageError(f"a sweep draws one line a model, and {self.experiment.name} has two for some {word}.")
        return sorted(lines, key=self.at)

    def _without(self, word: str) -> UsageError:
        return UsageError(f"a sweep needs {word} in every setting: {self.experiment.name} must name it in `settings`.")

    def at(self, line: Line) -> float:
        """Where a line stands on the axis."""
        return self.number(line.place.setting[self.report.against])

    def number(self, value: str) -> float:
        """The place on the axis of a value of the setting that varies."""
        try:
            return float(value)
        except ValueError:
            raise UsageError(
                f"{self.report.against} of {self.experiment.name} must have numbers for an axis, got {value}; list its "
                "values under `values` of a report of kind sweep_columns."
            ) from None

    def told(self, at: float) -> str:
        """The value at a place of the axis, for a reader."""
        return f"{at:g}"

    def curve(self, line: Line) -> str:
        """The name of the curve on which a line is a point: that of its model."""
        return style.label(line.place.model)


def either(lengths: Iterable[int]) -> str:
    """Numbers of steps for a reader: `5,000,000`, or `2,000,000 or 5,000,000`."""
    return " or ".join(map(steps, sorted(set(lengths))))


def points_of(rows: pd.DataFrame, metric: str, series: str) -> pd.DataFrame:
    """One statistic of one model as numbers: place, value, low, high."""
    rows = rows[rows["metric"] == metric]
    columns = {bound: series if bound == "value" else f"{series}_{bound}" for bound in BOUNDS}
    numbers = {bound: pd.to_numeric(rows[column]) for bound, column in columns.items()}
    words = rows[["model", "metric", "place"]]
    return words.assign(**numbers).dropna(subset="value").assign(series=series)[["series", *words, *BOUNDS]]


def _draw(axis: Any, points: pd.DataFrame, model: str, shift: float, factor: float) -> None:
    """Draw symbols with their intervals, and lines between ours."""
    ours = bool((points["series"] == "ours").all())
    value, low, high = (factor * points[bound].to_numpy(float) for bound in BOUNDS)
    look = style.drawing(model)
    axis.errorbar(
        points["place"] + shift, value, np.maximum([value - low, high - value], 0), color=look["color"],
        marker=look["marker"], markersize=4.5, linestyle=look["linestyle"] if ours else "", linewidth=1.2,
        elinewidth=0.9, markerfacecolor=look["color"] if ours else "white",
        label=style.label(model) + ("" if ours else ", printed"),
    )  # fmt: skip
