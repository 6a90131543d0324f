"""Errors in percent of a randomly initialised model, as in Table 1 of Trask et al. 2018."""

import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note, records
from nalu_bench.analysis.render import median_panel, style
from nalu_bench.analysis.render.tables import Table, ours, score
from nalu_bench.analysis.reports.kind import Kind, Row
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.ranges import Span
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
            for words, group in by_cell(runs[runs["role"] == "cell"])
            for split in SPLITS
            for row in self._rows(words, split, _scores(group, base, split))
        ]

    def _base(self, measured: Measured) -> pd.DataFrame:
        return measured.runs[measured.runs["role"] == "baseline"]

    def _rows(self, words: dict[str, str], split: str, scored: pd.DataFrame) -> list[Row]:
        where = words | {"split": split}
        scores = scored["score"].to_numpy()
        best = scored.iloc[int(scores.argmin())]
        count, trained = len(scored), int(scored["steps"].iloc[0])
        unfinished = count_note(scored)
        seed = f"best seed {best['seed']}" if np.isfinite(best["score"]) else "no seed has a finite error"
        nothing = (float("nan"), float("nan"))
        return [
            Row(
                {**where, "metric": "score"},
                *medians.median_of(scores),
                count,
                trained,
                partial(medians.against_printed, scores),
                unfinished,
            ),
            Row({**where, "metric": "score_best"}, best["score"], *nothing, count, trained, None, seed),
        ]

    def tables(self, table: pd.DataFrame) -> list[Table]:
        return [
            score_table(
                table[table["split"] == split],
                f"{HALVES.get(str(task), task)}, {title.lower()}. {self.experiment.title} ({self.experiment.source})",
                title,
                f"ours, median of {table['n_seeds'].max()} seeds [its 95 % interval]",
            )
            for task, table in table[table["n_seeds"] > 0].groupby("task", sort=False)
            for split, title in SPLITS.items()
        ]

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """Median and middle 95 % of the seeds' scores, printed numbers hollow. Linear below 1 %, then logarithmic."""
        operations = list(table["operation"].unique())
        places = [(task, split) for task in measured.runs["task"].unique() for split in SPLITS]
        figure, axes = style.new_figure(
            7.2, 2.1 * len(places), rows=len(places), columns=len(operations), sharey=True, sharex="row"
        )
        base = self._base(measured)
        cells = measured.runs[measured.runs["role"] == "cell"]
        printed = table[table["metric"] == "score"].set_index(["task", "operation", "split", "model"])["printed"]
        drawn = []
        for row, (task, split) in enumerate(places):
            axes[row][0].set_ylabel(f"{HALVES.get(task, task)}, {SPLITS[split].lower()}\nerror, % of untrained")
            for axis, operation in zip(axes[row], operations, strict=True):
                prepare(axis)
                if row == 0:
                    axis.set_title(style.operation_label(task, operation))
                group = cells[(cells["operation"] == operation) & (cells["task"] == task)]
                scores = {
                    words["model"]: _scores(runs, base, split)["score"].to_numpy() for words, runs in by_cell(group)
                }
                texts = {model: printed.get((task, operation, split, model), "") for model in scores}
                where = {"task": task, "split": split, "operation": operation}
                drawn += [where | line for line in median_panel.draw(axis, scores, texts, HIGHEST)]
        figure.suptitle(median_panel.heading(), fontsize=8)
        median_panel.add_legend(figure, axes[:: len(SPLITS), 0], columns=5)
        return figure, pd.DataFrame(drawn)


def score_table(table: pd.DataFrame, heading: str, split: str, named: str) -> Table:
    """Operations with our scores, the printed ones and the verdicts; columns are models.

    Args:
        heading: of the table. split: its name. named: what our number and its interval are.
    """
    models = list(table["model"].unique())
    best = partial(_cell, "score_best", lambda line: score(line["ours"]))
    lines = {
        named: partial(_cell, "score", _median),
        **({"ours, best seed": best} if (table["metric"] == "score_best").any() else {}),
        "printed": partial(_cell, "score", lambda line: line["printed"] or "–"),
        "verdict": partial(_cell, "score", lambda line: line["verdict"] or "–"),
    }
    rows = [
        [
            style.operation_label(group["task"].iloc[0], str(operation)) if not number else "",
            name,
            *(show(group, model) for model in models),
        ]
        for operation, group in table.groupby("operation", sort=False)
        for number, (name, show) in enumerate(lines.items())
    ]
    header = ["", f"{split}, %", *(style.label(model) for model in models)]
    return Table(heading, header, rows)


def prepare(axis: Any) -> None:
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


def _median(line: dict[str, Any]) -> str:
    return ours(line, score)


def _cell(metric: str, show: Any, table: pd.DataFrame, model: str) -> str:
    lines = records(table[(table["model"] == model) & (table["metric"] == metric)])
    return str(show(lines[0])) if lines else "–"
