"""Errors on every split, as in Table 3 of Trask et al. 2018."""

import itertools
import math
import textwrap
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note, records
from nalu_bench.analysis.render import median_panel, style
from nalu_bench.analysis.render.tables import Table, ours, three_digits
from nalu_bench.analysis.reports.kind import Kind, Row, Settings
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.verdicts import Comparison, fitted
from nalu_bench.errors import unknown
from nalu_bench.plan.experiment import Experiment
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure


BEST = "_best"
"""Ending of the metric of the best seed."""

HIGHEST = 1000
"""Errors this many times as large as those of the median model are drawn at this height."""

Lines = dict[tuple[str, str, str], dict[str, Any]]
"""(model, split, metric) -> its row of the table."""


@dataclass
class ErrorsSettings(Settings):
    """See `Errors`."""

    splits: dict[str, str]
    measures: dict[str, str] = field(default_factory=dict)
    fitted: bool = False


@register("errors", version=1)
class Errors(Kind):
    """Rows are models, columns splits; every measure and every task with its setting and operation has a table.

    The table gives the median over seeds of the error at the selected step, with its bootstrap interval, and the error
    of the best seed, the one with the smallest error of the same kind on the validation split. A run without a finite
    error counts as infinitely bad.

    Source: Trask et al. 2018, Table 3. Settings: `splits`, {split: name}; `measures`, {measure: name}, the mean
    absolute error by default; `fitted`, whether the settings were chosen by the printed numbers.
    """

    apart = ("task", "setting", "operation", "model")
    settings = ErrorsSettings

    def __init__(self, experiment: Experiment) -> None:
        super().__init__(experiment)
        self.measures: dict[str, str] = self.report["measures"] or {"mae": "Mean absolute error"}
        self.metrics = dict.fromkeys(self.measures, (0, math.inf))  # type: ignore[misc]

    def require(self, measured: Measured) -> None:
        known = [column for column in map(str, measured.runs) if "_" in column]
        for split, measure in itertools.product(["validation", *self.report["splits"]], self.measures):
            if f"{split}_{measure}" not in known:
                raise unknown(f"error of the runs of {self.experiment.name}", f"{split}_{measure}", known)

    def rows(self, measured: Measured) -> list[Row]:
        return [
            row
            for words, runs in by_cell(measured.runs)
            for split in self.report["splits"]
            for measure in self.measures
            for row in self._rows(words | {"split": split}, measure, runs)
        ]

    def _rows(self, where: dict[str, str], measure: str, runs: pd.DataFrame) -> list[Row]:
        errors = medians.finite_or_worst(runs[f"{where['split']}_{measure}"])
        best = int(np.argmin(medians.finite_or_worst(runs[f"validation_{measure}"])))
        count, steps, nothing = len(runs), int(runs["steps"].iloc[0]), (float("nan"), float("nan"))
        compare, note = partial(self._compared, errors), count_note(runs)
        return [
            Row({**where, "metric": measure}, *medians.median_of(errors), count, steps, compare, note),
            Row(
                {**where, "metric": measure + BEST}, errors[best], *nothing, count, steps, None,
                f"best seed {runs['seed'].iloc[best]}",
            ),
        ]  # fmt: skip

    def _compared(self, errors: np.ndarray, printed: dict[str, str]) -> Comparison:
        comparison = medians.against_printed(errors, printed)
        return fitted(comparison) if self.report["fitted"] else comparison

    def tables(self, table: pd.DataFrame) -> list[Table]:
        trained = table[table["n_seeds"] > 0]
        return [
            self._table(group, f"{name}. " if name else "", measure)
            for _, name, group in _cases(trained)
            for measure in self.measures
        ]

    def _table(self, table: pd.DataFrame, heading: str, measure: str) -> Table:
        lines = {(line["model"], line["split"], line["metric"]): line for line in records(table)}
        title = f"{heading}{self.experiment.title} ({self.experiment.source})"
        beside = self._beside_printed if (table["printed"] != "").any() else self._alone
        return beside(title, measure, lines)

    def _beside_printed(self, title: str, measure: str, lines: Lines) -> Table:
        """Four lines a model: ours, our best seed, the printed number and the verdict."""
        rows = []
        for model in dict.fromkeys(model for model, *_ in lines):
            for number, (name, metric, show) in enumerate(SHOWN):
                found = [lines.get((model, split, measure + metric)) for split in self.report["splits"]]
                texts = [show(line) if line else "–" for line in found]
                rows.append([style.label(model) if not number else "", name, *texts])
        return Table(title, ["", self.measures[measure], *self.report["splits"].values()], rows)

    def _alone(self, title: str, measure: str, lines: Lines) -> Table:
        """One line a model where nothing is printed: ours and our best seed, split by split."""
        columns = [(split, metric) for split in self.report["splits"] for metric in ("", BEST)]
        rows = [
            [style.label(model), *(_ours(lines[model, split, measure + metric]) for split, metric in columns)]
            for model in dict.fromkeys(model for model, *_ in lines)
        ]
        names = [text for name in self.report["splits"].values() for text in (f"{name}: median [95 %]", "best seed")]
        return Table(title, [self.measures[measure], *names], rows)

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """Median and middle 95 % of the seeds' errors, printed numbers hollow; a panel for each split.

        Errors above 1,000 times those of the median model are drawn at that height, with an arrow.
        """
        splits, cases = self.report["splits"], _cases(measured.runs)
        panels = [(words, name, runs, measure) for words, name, runs in cases for measure in self.measures]
        figure, axes = style.new_figure(
            6.0, 1.2 + 1.8 * len(panels), rows=len(panels), columns=len(splits), sharey="row"
        )
        drawn = []
        for line, (words, name, runs, measure) in zip(axes, panels, strict=True):
            where = {**words, "metric": measure}
            drawn += [(where if len(panels) > 1 else {}) | one for one in self._draw(line, runs, where, table)]
            line[0].set_ylabel("\n".join([*textwrap.wrap(name, 24), self.measures[measure]]))
        for axis, name in zip(axes[0], splits.values(), strict=True):
            axis.set_title(name)
        figure.suptitle(median_panel.heading(bool((table["printed"] != "").any())), fontsize=8)
        median_panel.add_legend(figure, axes[0], columns=4)
        return figure, pd.DataFrame(drawn)

    def _draw(self, axes: Any, runs: pd.DataFrame, where: dict[str, str], table: pd.DataFrame) -> list[dict[str, Any]]:
        """Draw one measure of one case, split by split; returns the numbers drawn."""
        rows = table[(table[list(where)] == pd.Series(where)).all(axis=1)].set_index(["split", "model"])["printed"]
        errors = {
            split: {
                words["model"]: medians.finite_or_worst(mine[f"{split}_{where['metric']}"])
                for words, mine in by_cell(runs)
            }
            for split in self.report["splits"]
        }
        middle = np.median([np.median(one) for mine in errors.values() for one in mine.values()])
        drawn = []
        for axis, (split, mine) in zip(axes, errors.items(), strict=True):
            axis.set_yscale("log")
            texts = {model: rows.get((split, model), "") for model in mine}
            drawn += [{"split": split} | one for one in median_panel.draw(axis, mine, texts, HIGHEST * middle)]
            for place, values in enumerate(mine.values()):
                if np.median(values) > HIGHEST * middle:
                    axis.text(place + 0.2, HIGHEST * middle, "↑", va="center")
        return drawn


def _ours(line: dict[str, Any]) -> str:
    return ours(line, three_digits)


CASE = ["task", "setting", "operation"]
"""The words that have a table of their own."""


def _cases(frame: pd.DataFrame) -> list[tuple[dict[str, str], str, pd.DataFrame]]:
    """(the words of a case, what of them the others do not have, its rows), case by case."""
    groups = [(tuple(map(str, words)), rows) for words, rows in frame.groupby(CASE, sort=False)]
    parts = [[part for word in words for part in word.split(";") if part] for words, _ in groups]
    shared = set(parts[0]).intersection(*parts) if parts else set()
    return [
        (dict(zip(CASE, words, strict=True)), " ".join(part for part in own if part not in shared), rows)
        for own, (words, rows) in zip(parts, groups, strict=True)
    ]


SHOWN = [
    ("ours, median of the seeds [its 95 % interval]", "", _ours),
    ("ours, best seed", BEST, _ours),
    ("printed", "", lambda line: line["printed"] or "–"),
    ("verdict", "", lambda line: line["verdict"] or "–"),
]
"""The lines of a model: name, ending of the metric, text of its number. The last two if anything is printed."""
