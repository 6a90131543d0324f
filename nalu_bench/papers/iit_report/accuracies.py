"""Shares of right predictions and recovered weights, as in the tables of the IIT Indore report."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import median_panel, style
from nalu_bench.analysis.reports.kind import Kind, Settings, against_printed, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.intervals import middle_range, student_mean
from nalu_bench.analysis.stats.ranges import Span, compare_share
from nalu_bench.analysis.stats.verdicts import Comparison, other_length
from nalu_bench.analysis.stats.words import Better
from nalu_bench.analysis.table.formats import one_decimal
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Shown, Table, Theirs, ours
from nalu_bench.analysis.table.line import Compare, Line, Printed, Row, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.registry import register

LENIENT, STRICT = "test_accuracy_0.1", "test_accuracy_1e-05"
WEIGHT = "W_"
WEIGHTS: Span = (-1, 1)

LOOKS: list[dict[str, Any]] = [
    {"color": "#009E73", "marker": "^"},
    {"color": "#0072B2", "marker": "o"},
    {"color": "#D55E00", "marker": "s"},
]
"""Colour and marker of each family. Symbols are hollow where nothing is reinitialised."""


@dataclass
class Family:
    """Models of one table. `steps` are those of the printed protocol; `operations` have the order of the rows."""

    title: str
    steps: int
    models: list[str]
    operations: list[str]


@dataclass
class AccuraciesSettings(Settings):
    """See `Accuracies`."""

    examples: int
    tables: list[Family]


@register("accuracies", version=1)
class Accuracies(Kind):
    """Rows are operations. Each family of models has a table, with and without reinitialisation side by side.

    accuracy = share of test examples with |y - t| <= 1e-8 + 0.1 |t|, in percent; strict: 1e-5 |t|

    This is the rule of `numpy.isclose`, with the report's relative tolerance and with numpy's own. The table gives the
    median over seeds with the middle 95 % of the seeds, and means with Student's interval. A run without a finite
    prediction has accuracy 0 and is noted. A printed accuracy is that of one network: see `ranges.compare_share`.

    If the task has probes, they are unit vectors, and a unit without bias predicts its own weights there. Printed
    weights are compared with the range of our seeds, too.

    Source: the IIT Indore report, sections 3 and 4. Settings: `examples`, the number of examples behind a printed
    share, and `tables`, a list of {title, steps, models, operations}; `steps` are those of the printed protocol.

    Raises:
        UsageError for a model and an operation without a table of their own.
    """

    settings = AccuraciesSettings
    report: AccuraciesSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {"accuracy": (0, 100), f"{WEIGHT}*": WEIGHTS}
    brackets = "the middle 95 % of our seeds"

    def needs(self) -> Sequence[str]:
        return LENIENT, STRICT

    def rows(self, measured: Measured) -> list[Row]:
        cells = list(by_cell(measured.runs))
        accuracies = [row for place, runs in cells for row in self._accuracies(place.at(split="test"), runs)]
        return accuracies + [row for place, runs in cells for row in self._weights(place, runs, measured.predictions)]

    def _accuracies(self, place: Place, runs: pd.DataFrame) -> list[Row]:
        shares = runs[LENIENT].to_numpy(np.float64)
        lenient, strict = (100 * runs[name].fillna(0).to_numpy(np.float64) for name in (LENIENT, STRICT))
        absent = int(np.isnan(shares).sum())
        note = f"{absent} seeds without a finite prediction count as 0" if absent else ""

        def compare(printed: Printed) -> Comparison:
            found = compare_share(shares, printed.number() / 100, self.report.examples)
            return replace(found, held=None)  # the interval of ours is that range

        median = Value(float(np.median(lenient)), *middle_range(lenient))
        return [
            row_of(place.at(metric="accuracy"), median, runs, note, compare=self._same_length(place, runs, compare)),
            row_of(place.at(metric="mean"), Value(*student_mean(lenient, span=(0, 100))), runs, note),
            row_of(place.at(metric="strict"), Value(*student_mean(strict, span=(0, 100))), runs, note),
        ]

    def _weights(self, place: Place, runs: pd.DataFrame, predictions: pd.DataFrame) -> list[Row]:
        rows = []
        for probe, values in predictions[predictions["cell"] == runs["cell"].iloc[0]].groupby("probe"):
            samples = medians.finite_or_worst(values["prediction"])
            median = Value(float(np.median(samples)), *middle_range(samples))
            compare = self._same_length(place, runs, against_printed(samples, WEIGHTS, Better.NEITHER))
            metric = f"{WEIGHT}{int(str(probe)) + 1}"
            rows.append(row_of(place.at(split="test", metric=metric), median, runs, compare=compare))
        return rows

    def _same_length(self, place: Place, runs: pd.DataFrame, compare: Compare) -> Compare:
        """`compare` if our runs have the steps of the printed protocol, else the reason why nothing is compared."""
        families = [
            family for family in self.report.tables
            if place.model in family.models and place.operation in family.operations
        ]  # fmt: skip
        if len(families) != 1:
            raise UsageError(
                f"exactly one table of {self.experiment.name} must list the model {place.model} and the operation "
                f"{place.operation}, got {len(families)}; correct `report.tables`."
            )
        trained, needed = int(runs["steps"].iloc[0]), families[0].steps
        if trained == needed:
            return compare
        return lambda _: other_length(trained, needed)

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        weights = [line for line in lines if line.place.metric.startswith(WEIGHT)]
        accuracies = [line for line in lines if not line.place.metric.startswith(WEIGHT)]
        found = [self._accuracy_table(accuracies, family) for family in self.report.tables]
        return [*found, *([self._weight_table(weights)] if weights else [])]

    def _accuracy_table(self, every: Sequence[Line], family: Family) -> Table:
        chosen = [line for line in every if line.place.model in family.models]
        lines = {(_case(line.place), _reinitialised(line.place), line.place.metric): line for line in chosen}
        if len(lines) < len(chosen):
            raise UsageError(f"two cells of the table {family.title} have the same operation and number of operands.")
        without = any(not reinitialised for _, reinitialised, _ in lines)
        header = ["", "median [middle 95 % of seeds]", "mean", "strict, mean", "printed", "verdict"]
        rows = []
        for case in _ordered_cases((line.place for line in chosen), family.operations):
            mine = {metric: lines.get((case, True, metric)) for metric in ("accuracy", "mean", "strict")}
            accuracy = mine["accuracy"]
            shown: list[Shown] = [_case_name(case), *(ours(line, one_decimal) for line in mine.values())]
            shown += [Theirs(accuracy), Judged(accuracy)] if accuracy else [EMPTY, EMPTY]
            if without:
                shown += [ours(lines.get((case, False, metric)), one_decimal) for metric in ("mean", "strict")]
            rows.append(shown)
        if without:
            header += ["never reinitialised: mean", "strict, mean"]
        return Table(f"{family.title}. {self.experiment.title}, in percent ({self.experiment.source})", header, rows)

    def _weight_table(self, weights: Sequence[Line]) -> Table:
        rows: list[list[Shown]] = [
            [f"x{line.place.metric.removeprefix(WEIGHT)}", Ours(line, _four_digits), Theirs(line), Judged(line)]
            for line in weights
        ]
        header = ["Input", "W, median [middle 95 % of seeds]", "printed", "verdict"]
        return Table(f"Recovered weights ({self.experiment.source})", header, rows)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """Mean accuracy of every operation with Student's interval, printed numbers as black diamonds."""
        families = list(zip(self.report.tables, itertools.cycle(LOOKS), strict=False))
        panels = [panel for panel in (families[:1], families[1:]) if panel]
        figure, axes = style.new_figure(7.2, 3.6, columns=len(panels), sharey=True)
        drawn = [line for axis, panel in zip(axes[0], panels, strict=True) for line in _draw_panel(axis, lines, panel)]
        axes[0][0].set_ylabel("Accuracy at 10 % tolerance, %")
        axes[0][0].set_ylim(-4, 104)
        figure.suptitle("Symbols: mean of our seeds.  Bars: its 95 % interval.  Black: printed", fontsize=8)
        median_panel.add_legend(figure, axes[0], columns=3)
        return figure, pd.DataFrame(drawn)


def _reinitialised(place: Place) -> bool:
    return place.setting.get("reinitialized") != "0"


def _case(place: Place) -> tuple[str, int]:
    """Label of the operation, and the number of operands, 0 for a task without such a setting."""
    return style.operation_label(place.task, place.operation), int(place.setting.get("operands", 0))


def _case_name(case: tuple[str, int]) -> str:
    label, operands = case
    return f"{label}, {operands} operand{'s' if operands > 1 else ''}" if operands else label


def _ordered_cases(places: Iterable[Place], operations: Sequence[str]) -> list[tuple[str, int]]:
    """The cases in the order of `operations`, and within an operation by the number of operands."""
    order = {operation: rank for rank, operation in enumerate(operations)}
    ranks = {_case(place): (order.get(place.operation, len(order)), _case(place)[1]) for place in places}
    return sorted(ranks, key=lambda case: ranks[case])


def _four_digits(value: float) -> str:
    return f"{value:.4f}"


def _draw_panel(
    axis: "style.Axes", lines: Sequence[Line], families: Sequence[tuple[Family, dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Draw the families side by side at each operation, with and without reinitialisation; returns the numbers."""
    printed = {line.place: line.printed for line in lines if line.place.metric == "accuracy"}
    means = [[line for line in lines if line.place.metric == "mean" and line.place.model in family.models]
             for family, _ in families]  # fmt: skip
    order = list(dict.fromkeys(operation for family, _ in families for operation in family.operations))
    cases = _ordered_cases((line.place for mine in means for line in mine), order)
    drawn = []
    for number, ((family, look), mine) in enumerate(zip(families, means, strict=True)):
        for line in mine:
            reinitialised = _reinitialised(line.place)
            aside = (2 * number + (not reinitialised)) * 0.2 - 0.3 if len(families) > 1 else 0
            at = cases.index(_case(line.place)) + aside
            full: Any = "full" if reinitialised else "none"
            name = family.title + ("" if reinitialised else ", never reinitialised")
            axis.plot([at] * 2, [line.ours.low, line.ours.high], color=look["color"], linewidth=1)
            axis.plot([at], [line.ours.value], linestyle="", markersize=4.5, label=name, fillstyle=full, **look)
            theirs = printed[line.place.at(metric="accuracy")]
            text = theirs.text if theirs else ""
            if text:
                axis.plot(
                    [at], [float(text)], color="black", marker="d", markersize=5.5, fillstyle="none", linestyle="",
                    label="printed",
                )  # fmt: skip
            drawn.append(
                {
                    "table": family.title, "operation": line.place.operation, "setting": str(line.place.setting),
                    "mean": line.ours.value, "low": line.ours.low, "high": line.ours.high, "printed": text,
                }
            )  # fmt: skip
    _name_cases(axis, cases)
    return drawn


def _name_cases(axis: "style.Axes", cases: Sequence[tuple[str, int]]) -> None:
    """Label the ticks with numbers of operands, and every operation once below them."""
    axis.set_xticks(range(len(cases)), [str(operands) for _, operands in cases], fontsize=7)
    axis.grid(visible=False, axis="x")
    for operation in dict.fromkeys(operation for operation, _ in cases):
        places = [place for place, case in enumerate(cases) if case[0] == operation]
        axis.text(
            sum(places) / len(places), -0.14, operation, transform=axis.get_xaxis_transform(), ha="center",
        )  # fmt: skip
        axis.axvline(places[-1] + 0.5, color="#dddddd", linewidth=0.6)
    axis.set_xlim(-0.5, len(cases) - 0.5)
    axis.set_xlabel("number of operands, operation", labelpad=18)
