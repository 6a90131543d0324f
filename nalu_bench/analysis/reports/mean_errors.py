"""Mean absolute errors on every split, as in Table 3 of Trask et al. 2018."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note, records
from nalu_bench.analysis.render import median_panel, style
from nalu_bench.analysis.render.tables import Table, ours, three_digits
from nalu_bench.analysis.reports.kind import Kind, Row, Settings
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class ErrorsSettings(Settings):
    """See `Errors`."""

    splits: dict[str, str]


@register("errors", version=1)
class Errors(Kind):
    """Rows are models, columns splits.

    The table gives the median over seeds of the mean absolute error at the selected step, with its bootstrap interval,
    and the error of the best seed, the one with the smallest validation error. A run without a finite error counts as
    infinitely bad.

    Source: Trask et al. 2018, Table 3. Settings: `splits`, {split: name}.
    """

    apart = ("model",)
    settings = ErrorsSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {"mae": (0, math.inf)}

    def rows(self, measured: Measured) -> list[Row]:
        return [
            row
            for words, runs in by_cell(measured.runs)
            for split in self.report["splits"]
            for row in self._rows(words | {"split": split}, runs)
        ]

    def _rows(self, where: dict[str, str], runs: pd.DataFrame) -> list[Row]:
        errors = medians.finite_or_worst(runs[f"{where['split']}_mae"])
        best = int(np.argmin(medians.finite_or_worst(runs["validation_mae"])))
        count, steps, nothing = len(runs), int(runs["steps"].iloc[0]), (float("nan"), float("nan"))
        compare, note = partial(medians.against_printed, errors), count_note(runs)
        return [
            Row({**where, "metric": "mae"}, *medians.median_of(errors), count, steps, compare, note),
            Row(
                {**where, "metric": "mae_best"}, errors[best], *nothing, count, steps, None,
                f"best seed {runs['seed'].iloc[best]}",
            ),
        ]  # fmt: skip

    def tables(self, table: pd.DataFrame) -> list[Table]:
        lines = {(line["model"], line["split"], line["metric"]): line for line in records(table)}
        rows = []
        for model in dict.fromkeys(table["model"][table["n_seeds"] > 0]):
            for number, (name, metric, show) in enumerate(SHOWN):
                found = [lines.get((model, split, metric)) for split in self.report["splits"]]
                texts = [show(line) if line else "–" for line in found]
                rows.append([style.label(str(model)) if not number else "", name, *texts])
        header = ["", "Mean absolute error", *self.report["splits"].values()]
        return [Table(f"{self.experiment.title} ({self.experiment.source})", header, rows)]

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """Median and middle 95 % of the seeds' errors, printed numbers hollow; a panel for each split."""
        splits = self.report["splits"]
        figure, axes = style.new_figure(6.0, 3.0, columns=len(splits), sharey=True)
        printed = table[table["metric"] == "mae"].set_index(["split", "model"])["printed"]
        drawn = []
        for axis, (split, name) in zip(axes[0], splits.items(), strict=True):
            errors = {
                words["model"]: medians.finite_or_worst(runs[f"{split}_mae"]) for words, runs in by_cell(measured.runs)
            }
            texts = {model: printed.get((split, model), "") for model in errors}
            axis.set_yscale("log")
            axis.set_title(name)
            drawn += [{"split": split} | line for line in median_panel.draw(axis, errors, texts, float("inf"))]
        axes[0][0].set_ylabel("Mean absolute error")
        figure.suptitle(median_panel.HEADING, fontsize=8)
        median_panel.add_legend(figure, axes[0], columns=4)
        return figure, pd.DataFrame(drawn)


def _ours(line: dict[str, Any]) -> str:
    return ours(line, three_digits)


SHOWN = [
    ("ours, median of the seeds [its 95 % interval]", "mae", _ours),
    ("ours, best seed", "mae_best", _ours),
    ("printed", "mae", lambda line: line["printed"] or "–"),
    ("verdict", "mae", lambda line: line["verdict"] or "–"),
]
"""The lines of a model: name, metric, text of its number."""
