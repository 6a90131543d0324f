"""Errors in percent of a randomly initialised model, as in Table 1 of Trask et al. 2018."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import median_panel, style
from nalu_bench.analysis.reports.kind import Kind, against_printed, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.table.formats import score
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Shown, Table, Theirs
from nalu_bench.analysis.table.line import Line, Row, Value, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HIGHEST = 1000.0
"""Worse scores are drawn at this height. The paper prints them as >999."""

SPLITS = {"validation": "Interpolation", "extrapolation": "Extrapolation"}

HALVES = {"arithmetic": "Static", "recurrent_arithmetic": "Recurrent"}


@register("scores", version=1)
class Scores(Kind):
    """Rows are operations, columns models, once for each split.

    score = 100 · MAE at the selected step / median MAE of the untrained models of role `baseline`

    on the same task and split: 0 is perfect, 100 as bad as an untrained model. The table gives the median over seeds
    with its bootstrap interval, and the best seed (smallest score). A run that diverged before any evaluation, or
    failed, counts as infinitely bad.

    Source: Trask et al. 2018, Table 1. The paper does not specify the normalisation further. One denominator for each
    task and split is our choice.
    """

    apart = ("task", "operation", "model")
    metrics: ClassVar[Mapping[str, Span | None]] = {"score": (0, math.inf)}

    def rows(self, measured: Measured) -> list[Row]:
        runs, base = measured.runs, self._base(measured)
        return [
            row
            for place, group in by_cell(runs[runs["role"] == "cell"])
            for split in SPLITS
            for row in self._rows(place.at(split=split), _scores(group, base, split))
        ]

    def _base(self, measured: Measured) -> pd.DataFrame:
        return measured.runs[measured.runs["role"] == "baseline"]

    def _rows(self, place: Place, scored: pd.DataFrame) -> list[Row]:
        scores = scored["score"].to_numpy()
        best = scored.iloc[int(scores.argmin())]
        seed = f"best seed {best['seed']}" if np.isfinite(best["score"]) else "no seed has a finite error"
        median, compare = Value(*medians.median_of(scores)), against_printed(scores)
        least = row_of(place.at(metric="score_best"), Value(best["score"]), scored)
        return [row_of(place.at(metric="score"), median, scored, compare=compare), replace(least, notes=(seed,))]

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        trained = [line for line in lines if line.n_seeds]
        return [
            self._table([line for line in part if line.place.split == split], HALVES.get(task, task), title)
            for task, part in grouped(trained, lambda line: line.place.task).items()
            for split, title in SPLITS.items()
        ]

    def _table(self, lines: Sequence[Line], half: str, split: str) -> Table:
        """Operations with our scores, the printed ones and the verdicts; columns are models."""
        models = list(dict.fromkeys(line.place.model for line in lines))
        seeds = max(line.n_seeds for line in lines)
        names: dict[str, tuple[str, Callable[[Line], Shown]]] = {
            f"ours, median of {seeds} seeds [its 95 % interval]": ("score", lambda line: Ours(line, score)),
            "ours, best seed": ("score_best", lambda line: Ours(line, score, alone=True)),
            "printed": ("score", Theirs),
            "verdict": ("score", Judged),
        }
        rows = []
        for operation, group in grouped(lines, lambda line: line.place.operation).items():
            found = {(line.place.model, line.place.metric): line for line in group}
            label = style.operation_label(group[0].place.task, operation)
            for name, (metric, show) in names.items():
                shown = [show(found[model, metric]) if (model, metric) in found else EMPTY for model in models]
                rows.append([label, name, *shown])
                label = ""
        heading = f"{half}, {split.lower()}. {self.experiment.title} ({self.experiment.source})"
        return Table(heading, ["", f"{split}, %", *(style.label(model) for model in models)], rows)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[Figure, pd.DataFrame]":
        """Median and middle 95 % of the seeds' scores, printed numbers hollow. Linear below 1 %, then logarithmic."""
        operations = list(dict.fromkeys(line.place.operation for line in lines))
        places = [(task, split) for task in measured.runs["task"].unique() for split in SPLITS]
        figure, axes = style.new_figure(
            7.2, 2.1 * len(places), rows=len(places), columns=len(operations), sharey=True, sharex="row"
        )
        base = self._base(measured)
        cells = measured.runs[measured.runs["role"] == "cell"]
        printed = {line.place: line.printed.text for line in lines if line.printed}
        drawn = []
        for row, (task, split) in enumerate(places):
            axes[row][0].set_ylabel(f"{HALVES.get(task, task)}, {SPLITS[split].lower()}\nerror, % of untrained")
            for axis, operation in zip(axes[row], operations, strict=True):
                _prepare(axis)
                if row == 0:
                    axis.set_title(style.operation_label(task, operation))
                group = cells[(cells["operation"] == operation) & (cells["task"] == task)]
                scores, texts = {}, {}
                for place, runs in by_cell(group):
                    scores[place.model] = _scores(runs, base, split)["score"].to_numpy()
                    texts[place.model] = printed.get(place.at(split=split, metric="score"), "")
                where = {"task": task, "split": split, "operation": operation}
                drawn += [where | line for line in median_panel.draw(axis, scores, texts, HIGHEST)]
        figure.suptitle(median_panel.heading(), fontsize=8)
        median_panel.add_legend(figure, axes[:: len(SPLITS), 0], columns=5)
        return figure, pd.DataFrame(drawn)


def _prepare(axis: Any) -> None:
    """Scores up to 1,000: linear below 1 %, then logarithmic."""
    axis.set_yscale("symlog", linthresh=1.0)
    axis.set_ylim(-0.2, 1.6 * HIGHEST)
    axis.set_yticks([0, 1, 10, 100, HIGHEST], ["0", "1", "10", "100", ">999"])
    axis.minorticks_off()


def _scores(runs: pd.DataFrame, base: pd.DataFrame, split: str) -> pd.DataFrame:
    """`runs` with the column `score`; it is infinite if there is no finite error."""
    column = f"{split}_mae"
    first = runs.iloc[0]
    same = base[np.logical_and.reduce([base[key] == first[key] for key in ("task", "setting", "operation")])]
    if same.empty or len(same) < same["asked"].iloc[0]:
        raise UsageError(f"the untrained models for {first['operation']} are not all there: run the experiment first.")
    denominator = same[column].median()
    return runs.assign(score=100 * medians.finite_or_worst(runs[column]) / denominator)
