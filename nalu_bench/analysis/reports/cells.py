"""Any cells on any tasks: success, speed of convergence, sparsity and errors, one row a cell."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench import registry
from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.measure.solved import all_failed, solved_ones
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, against_printed, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.intervals import median_interval, range_note, wilson_interval
from nalu_bench.analysis.stats.words import Better
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.formats import Format, percent, scientific, steps, three_digits
from nalu_bench.analysis.table.layout import EMPTY, Judged, Shown, Table, Theirs, ours
from nalu_bench.analysis.table.line import NOTHING, Line, Row, Value, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.criteria import judged_by
from nalu_bench.registry import register

SOLVED: dict[str, tuple[str, Format]] = {
    "success_rate": ("Solved", percent),
    "solved_at_median": ("Solved at step, median", steps),
    "sparsity_error_median": ("Sparsity error, median", scientific),
}
"""The metrics of tasks with a criterion -> their names and formats."""


@register("cells", version=1)
class Cells(Kind):
    """Rows are cells, columns their statistics over seeds.

    * success rate: solved seeds over seeds with a row, with Wilson's interval; for a task with a criterion;
    * solved at step, sparsity error: medians over solved seeds with bootstrap intervals;
    * errors: medians over seeds at the selected step with bootstrap intervals, for every split, by the measure that
      judges (or, where a split does not have it, the one that selects). A run without a finite error counts as
      infinitely bad.

    This is the report of a sweep from the command line. In an experiment, a printed error is held against the range of
    our seeds, see `compare_single`. Source: ours. Settings: none.
    """

    bounds = True
    of_failures = True

    def criteria(self, cell: Cell, others: pd.DataFrame) -> dict[str, Any]:
        return judged_by(cell)

    def rows(self, measured: Measured) -> list[Row]:
        found: list[Row] = []
        for place, runs in by_cell(measured.runs):
            cell = measured.manifest["cells"][runs["cell"].iloc[0]]
            if all_failed(runs):
                found.append(row_of(place.at(metric="success_rate"), NOTHING, runs, "every block failed"))
                continue
            if "threshold" in cell["criteria"]:
                found += _solved(place, runs)
            found += _errors(place, runs, cell["identity"]["task"]["kind"])
        return found

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        cells = _by_cell(lines)
        solved = {name: shown for name, shown in SOLVED.items() if any(line.place.metric == name for line in lines)}
        errors = list(dict.fromkeys((line.place.split, line.place.metric) for line in lines if line.place.split))
        printed = {(line.place.split, line.place.metric) for line in lines if line.printed}
        words, names = _words(cells), _names(cells)
        rows: list[list[Shown]] = []
        for place, mine in cells.items():
            found = {(line.place.split, line.place.metric): line for line in mine}
            row: list[Shown] = [_told(place, word) for word in words]
            row += [names[place.model], f"{max(line.n_seeds for line in mine)}"]
            row += [ours(found.get(("", name)), form) for name, (_, form) in solved.items()]
            row += [shown for error in errors for shown in _beside(found.get(error), error in printed)]
            rows.append(row)
        header = [*(word.capitalize() for word in words), "Model", "seeds", *(name for name, _ in solved.values())]
        for error in errors:
            header += [" ".join(error) + ", median", *(["printed", "verdict"] if error in printed else [])]
        return [Table(self.experiment.title, header, rows)]

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """A panel for the success rate and for every error, a line a cell; bars are 95 % intervals."""
        panels = grouped(
            [line for line in lines if line.place.split or line.place.metric == "success_rate"],
            lambda line: (line.place.split, line.place.metric),
        )
        places = list(_by_cell(lines))
        words = _words(places)
        figure, axes = style.new_figure(
            2.0 + 2.2 * len(panels), 1.3 + 0.24 * len(places), columns=len(panels), sharey=True
        )
        for axis, ((split, metric), mine) in zip(axes[0], panels.items(), strict=True):
            _draw(axis, places, mine)
            axis.set_xlabel(f"{split} {metric}" if split else "share solved")
        models = _names(places)
        names = [", ".join([*(_told(place, word) for word in words), models[place.model]]) for place in places]
        axes[0][0].set_yticks(range(len(places)), names)
        axes[0][0].invert_yaxis()
        figure.suptitle("Symbols: shares of seeds, and medians of errors over them.  Bars: 95 %", fontsize=8)
        return figure, frame([line for mine in panels.values() for line in mine])


def _solved(place: Place, runs: pd.DataFrame) -> Iterator[Row]:
    solved = runs[solved_ones(runs)]
    rate = Value(len(solved) / len(runs), *wilson_interval(len(solved), len(runs)))
    yield row_of(place.at(metric="success_rate"), rate, runs)
    for metric, column in {"solved_at_median": "solved_at", "sparsity_error_median": "sparsity_error"}.items():
        if column in runs:
            samples = solved[column].dropna().to_numpy(float)
            note = range_note(samples.size, len(runs))
            yield row_of(place.at(metric=metric), Value(*median_interval(samples)), runs, note)


def _errors(place: Place, runs: pd.DataFrame, kind: str) -> Iterator[Row]:
    task = registry.tasks.load(kind)
    splits = dict.fromkeys([*task.evaluated, *task.tested])
    columns = {split: task.judging for split in splits if f"{split}_{task.judging}" in runs}
    columns |= {split: task.selecting for split in task.evaluated if split not in columns}
    better = Better.HIGHER if task.larger_is_better else Better.LOWER
    for split, measure in columns.items():
        if f"{split}_{measure}" in runs:
            errors = medians.finite_or_worst(runs[f"{split}_{measure}"], task.larger_is_better)
            median, compare = Value(*medians.median_of(errors)), against_printed(errors, better=better)
            yield row_of(place.at(split=split, metric=measure), median, runs, compare=compare)


def _beside(line: Line | None, printed: bool) -> list[Shown]:
    """Our number, and the printed one with its verdict where the table has printed ones."""
    if not printed:
        return [ours(line, three_digits)]
    return [ours(line, three_digits), *([Theirs(line), Judged(line)] if line and line.printed else [EMPTY, EMPTY])]


def _by_cell(lines: Sequence[Line]) -> dict[Place, list[Line]]:
    """Cell -> its lines; the models of one task stand together."""
    tasks = grouped(lines, lambda line: line.place.cell().at(model=""))
    return {
        place: mine for each in tasks.values() for place, mine in grouped(each, lambda line: line.place.cell()).items()
    }


def _words(places: Collection[Place]) -> list[str]:
    """The words by which places differ, beside the model."""
    return [word for word in ("task", "operation", "setting") if len({getattr(one, word) for one in places}) > 1]


def _names(places: Collection[Place]) -> dict[str, str]:
    """Model -> its label, with its name where several have one label."""
    labels = {place.model: style.label(place.model) for place in places}
    often = Counter(labels.values())
    return {model: f"{label} ({model})" if often[label] > 1 else label for model, label in labels.items()}


def _told(place: Place, word: str) -> str:
    """A word of a cell for a reader."""
    if word == "setting":
        return place.setting.told()
    return style.operation_label(place.task, place.operation) if word == "operation" else place.task


def _draw(axis: "style.Axes", places: Sequence[Place], lines: Sequence[Line]) -> None:
    """The numbers of one panel; an axis of errors is logarithmic where these span a decade."""
    at: Mapping[Place, int] = {place: number for number, place in enumerate(places)}
    values = np.array([line.ours.value for line in lines])
    finite = values[np.isfinite(values)]
    rates = all(line.place.metric == "success_rate" for line in lines)
    if rates:
        axis.set_xlim(-0.03, 1.03)
    elif finite.size and finite.min() > 0 and finite.max() > 10 * finite.min():
        axis.set_xscale("log")
    else:
        axis.locator_params(axis="x", nbins=4)
    for line in lines:
        look, place = style.drawing(line.place.model), at[line.place.cell()]
        axis.plot([line.ours.low, line.ours.high], [place] * 2, color=look["color"], linewidth=1.4, alpha=0.7)
        axis.plot([line.ours.value], [place], color=look["color"], marker=look["marker"], markersize=5, linestyle="")
