"""Errors on every split, as in Table 3 of Trask et al. 2018."""

import itertools
import math
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import median_panel, style
from nalu_bench.analysis.reports.kind import Kind, Settings, against_printed, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.table.formats import three_digits
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Shown, Table, Theirs
from nalu_bench.analysis.table.line import Line, Row, Value, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import unknown
from nalu_bench.plan.experiment import Experiment
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure


BEST = "_best"
"""Ending of the metric of the best seed."""

HIGHEST = 1000
"""Errors this many times as large as those of the median model are drawn at this height."""

Lines = dict[tuple[str, str, str], Line]
"""(model, split, metric) -> its line."""

Case = tuple[str, Setting, str]
"""Task, setting and operation: what has a table of its own."""


@dataclass
class ErrorsSettings(Settings):
    """See `Errors`."""

    splits: dict[str, str]
    measures: dict[str, str] = field(default_factory=dict)


@register("errors", version=1)
class Errors(Kind):
    """Rows are models, columns splits; every measure and every task with its setting and operation has a table.

    The table gives the median over seeds of the error at the selected step, with its bootstrap interval, and the error
    of the best seed, the one with the smallest error of the same kind on the validation split. A run without a finite
    error counts as infinitely bad.

    A printed number is held against the range of our seeds, see `compare_single`.

    Source: ours. Settings: `splits`, {split: name}; `measures`, {measure: name}, the mean absolute error by default.
    """

    apart = ("task", "setting", "operation", "model")
    settings = ErrorsSettings
    report: ErrorsSettings

    def __init__(self, experiment: Experiment) -> None:
        super().__init__(experiment)
        self.measures: dict[str, str] = self.report.measures or {"mae": "Mean absolute error"}
        self.metrics = dict.fromkeys(self.measures, (0, math.inf))  # type: ignore[misc]

    def require(self, measured: Measured) -> None:
        known = [column for column in map(str, measured.runs) if "_" in column]
        for split, measure in itertools.product(["validation", *self.report.splits], self.measures):
            if f"{split}_{measure}" not in known:
                raise unknown(f"error of the runs of {self.experiment.name}", f"{split}_{measure}", known)

    def rows(self, measured: Measured) -> list[Row]:
        return [
            row
            for place, runs in by_cell(measured.runs)
            for split in self.report.splits
            for measure in self.measures
            for row in self._rows(place.at(split=split), measure, runs)
        ]

    def _rows(self, place: Place, measure: str, runs: pd.DataFrame) -> list[Row]:
        errors = medians.finite_or_worst(runs[f"{place.split}_{measure}"])
        best = int(np.argmin(medians.finite_or_worst(runs[f"validation_{measure}"])))
        median, least = Value(*medians.median_of(errors)), Value(errors[best])
        alone = row_of(place.at(metric=measure + BEST), least, runs)
        return [
            row_of(place.at(metric=measure), median, runs, compare=against_printed(errors)),
            replace(alone, notes=(f"best seed {runs['seed'].iloc[best]}",)),
        ]

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        trained = grouped([line for line in lines if line.n_seeds], lambda line: _case(line.place))
        return [
            self._table(trained[case], f"{name}. " if name else "", measure)
            for case, name in _names(list(trained)).items()
            for measure in self.measures
        ]

    def _table(self, lines: Sequence[Line], heading: str, measure: str) -> Table:
        found = {(line.place.model, line.place.split, line.place.metric): line for line in lines}
        title = f"{heading}{self.experiment.title} ({self.experiment.source})"
        printed = any(line.printed_text for line in lines)
        return (self._beside_printed if printed else self._alone)(title, measure, found)

    def _beside_printed(self, title: str, measure: str, lines: Lines) -> Table:
        """Four lines a model: ours, our best seed, the printed number and the verdict."""
        rows: list[list[Shown]] = []
        for model in dict.fromkeys(model for model, *_ in lines):
            for number, (name, metric, show) in enumerate(SHOWN):
                found = [lines.get((model, split, measure + metric)) for split in self.report.splits]
                shown = [show(line) if line else EMPTY for line in found]
                rows.append([style.label(model) if not number else "", name, *shown])
        return Table(title, ["", self.measures[measure], *self.report.splits.values()], rows)

    def _alone(self, title: str, measure: str, lines: Lines) -> Table:
        """One line a model where nothing is printed: ours and our best seed, split by split."""
        columns = [(split, metric) for split in self.report.splits for metric in ("", BEST)]
        rows: list[list[Shown]] = [
            [style.label(model), *(_ours(lines[model, split, measure + metric]) for split, metric in columns)]
            for model in dict.fromkeys(model for model, *_ in lines)
        ]
        names = [text for name in self.report.splits.values() for text in (f"{name}: median [95 %]", "best seed")]
        return Table(title, [self.measures[measure], *names], rows)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[Figure, pd.DataFrame]":
        """Median and middle 95 % of the seeds' errors, printed numbers hollow; a panel for each split.

        Errors above 1,000 times those of the median model are drawn at that height, with an arrow.
        """
        splits, cells = self.report.splits, list(by_cell(measured.runs))
        printed = {line.place: line.printed.text for line in lines if line.printed}
        names = _names(list(dict.fromkeys(_case(place) for place, _ in cells)))
        panels = [(case, name, measure) for case, name in names.items() for measure in self.measures]
        figure, axes = style.new_figure(
            6.0, 1.2 + 1.8 * len(panels), rows=len(panels), columns=len(splits), sharey="row"
        )
        drawn = []
        for line, (case, name, measure) in zip(axes, panels, strict=True):
            mine = [(place.at(metric=measure), runs) for place, runs in cells if _case(place) == case]
            where = {"task": case[0], "setting": str(case[1]), "operation": case[2], "metric": measure}
            drawn += [(where if len(panels) > 1 else {}) | one for one in self._draw(line, mine, printed)]
            line[0].set_ylabel("\n".join([*textwrap.wrap(name, 24), self.measures[measure]]))
        for axis, name in zip(axes[0], splits.values(), strict=True):
            axis.set_title(name)
        figure.suptitle(median_panel.heading(any(printed.values())), fontsize=8)
        median_panel.add_legend(figure, axes[0], columns=4)
        return figure, pd.DataFrame(drawn)

    def _draw(
        self, axes: Any, cells: Sequence[tuple[Place, pd.DataFrame]], printed: dict[Place, str]
    ) -> list[dict[str, Any]]:
        """Draw one measure of one case, split by split; returns the numbers drawn."""
        errors = {
            split: {
                place.at(split=split): medians.finite_or_worst(runs[f"{split}_{place.metric}"]) for place, runs in cells
            }
            for split in self.report.splits
        }
        middle = np.median([np.median(one) for mine in errors.values() for one in mine.values()])
        drawn = []
        for axis, (split, mine) in zip(axes, errors.items(), strict=True):
            axis.set_yscale("log")
            samples = {place.model: values for place, values in mine.items()}
            texts = {place.model: printed.get(place, "") for place in mine}
            drawn += [{"split": split} | one for one in median_panel.draw(axis, samples, texts, HIGHEST * middle)]
            for at, values in enumerate(mine.values()):
                if np.median(values) > HIGHEST * middle:
                    axis.text(at + 0.2, HIGHEST * middle, "↑", va="center")
        return drawn


def _ours(line: Line) -> Shown:
    return Ours(line, three_digits)


def _case(place: Place) -> Case:
    return place.task, place.setting, place.operation


def _names(cases: Sequence[Case]) -> dict[Case, str]:
    """Case -> those of its words that the others do not have."""
    words = [
        [word for word in (task, *(f"{name}={value}" for name, value in setting.items()), operation) if word]
        for task, setting, operation in cases
    ]
    shared = set(words[0]).intersection(*words) if words else set()
    return {case: " ".join(word for word in own if word not in shared) for case, own in zip(cases, words, strict=True)}


SHOWN: list[tuple[str, str, Callable[[Line], Shown]]] = [
    ("ours, median of the seeds [its 95 % interval]", "", _ours),
    ("ours, best seed", BEST, _ours),
    ("printed", "", Theirs),
    ("verdict", "", Judged),
]
"""The lines of a model: name, ending of the metric, what is shown. The last two if anything is printed."""
