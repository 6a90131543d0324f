"""Hypotheses about a protocol, ranked by how well they explain a printed table of errors."""

import functools
import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, records
from nalu_bench.analysis.printed.published import read
from nalu_bench.analysis.protocols import controls, explain, plain_errors
from nalu_bench.analysis.protocols.explain import Explained, Judge
from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.tables import Table, facts, three_digits
from nalu_bench.analysis.reports import elsewhere
from nalu_bench.analysis.reports.kind import Kind, Row, Settings
from nalu_bench.analysis.stats.intervals import wilson_interval
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Wanted
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING = (math.nan, math.nan)


@dataclass
class ErrorForensicsSettings(Settings):
    """See `ErrorForensics`."""

    printed: str
    task: str
    models: dict[str, list[str]]
    splits: dict[str, str]
    tables: int = 100


@register("error_forensics", version=1)
class ErrorForensics(Kind):
    """Hypotheses, the best first, with their errors beside the printed ones; then two controls.

    A hypothesis is a setting that has a model for each one of the printed table. Its misfit is the sum of
    `misfit.misfit` over all printed numbers, under the statistic and the selected step that suit it best. Nothing is
    held out, because the table is small. So all that a ranking can say is whether anything comes near.

    Source: ours. Settings: `printed`, the experiment whose printed numbers are explained, and `task` there; `models`,
    those of its table, each with the models that may stand for it; `splits`, {split: name}; `tables`, of each control.
    """

    apart = ("task", "setting", "operation", "model")
    keeps_weights = False  # of thousands of networks
    settings = ErrorForensicsSettings

    def words(self, cells: list[Wanted]) -> dict[str, set[str]]:  # type: ignore[override]
        """None: the printed table belongs to another experiment, which checks them."""
        return {}

    @functools.cached_property
    def published(self) -> pd.DataFrame:
        """Nothing: the printed numbers are compared with every hypothesis at once."""
        return read(self.experiment.published)

    def require(self, measured: Measured) -> None:
        if measured.runs.empty or measured.runs.groupby("cell")["seed"].nunique().min() < 2:
            raise UsageError(f"{self.experiment.name} needs at least 2 seeds of every cell; run it first.")

    def _printed(self) -> dict[tuple[str, str, str], str]:
        printed = elsewhere.by_place(elsewhere.rows(self.report["printed"], self.report["task"], "mae"))
        return {place: text for place, text in printed.items() if place[1] in self.report["models"]}

    def _ranked(self, measured: Measured) -> tuple[Judge, list[Explained]]:
        predictions = plain_errors.predictions(measured, self.report["models"], list(self.report["splits"]))
        among = explain.hypotheses(predictions)
        judge = explain.suited(predictions, set(self._printed()), self._printed(), among)
        return judge, judge.ranked(self._printed(), among)

    def rows(self, measured: Measured) -> list[Row]:
        judge, ranked = self._ranked(measured)
        trained = int(measured.runs["steps"].max())
        row = partial(self._row, count=judge.predictions.freedom + 1, trained=trained)
        found = []
        for one in ranked:
            found.append(row(one.hypothesis.name, "", "", "misfit", (one.fitted, *NOTHING), one.choice.told()))
            for _, model, split in self._printed():
                errors = judge.predictions.samples_of(one.rows[""], one.choice, model, split)
                found.append(row(one.hypothesis.name, split, model, "mae", (float(np.median(errors)), *NOTHING)))
        wider = explain.without_limit(judge, self._printed(), [one.hypothesis for one in ranked])
        return [
            *found,
            row("", "", "", "discrepancy", (judge.discrepancy, *NOTHING)),
            row("", "", "", "discrepancy_without_limit", (wider, *NOTHING)),
            *self._controls(judge, ranked, row),
        ]

    def _controls(self, judge: Judge, ranked: list[Explained], row: Any) -> list[Row]:
        among, tables = [one.hypothesis for one in ranked], self.report["tables"]
        made, rng = controls.recovered(judge, among, tables), np.random.default_rng(controls.SEED)
        moved = [judge.ranked(controls.shuffled(self._printed(), rng), among)[0].fitted for _ in range(tables)]
        shares = {"control_recovered": made.happened, "control_permuted": sum(one <= ranked[0].fitted for one in moved)}
        return [
            row("", "", "", name, (count / tables, *wilson_interval(count, tables))) for name, count in shares.items()
        ]

    def _row(
        self, setting: str, split: str, model: str, metric: str, numbers: tuple[float, float, float], note: str = "",
        *, count: int, trained: int,
    ) -> Row:  # fmt: skip
        keys = {"task": self.report["task"], "setting": setting, "operation": "", "split": split, "model": model}
        return Row(keys | {"metric": metric}, *numbers, count, trained, None, note)

    def tables(self, table: pd.DataFrame) -> list[Table]:
        lines = {(line["setting"], line["model"], line["split"], line["metric"]): line for line in records(table)}
        names = list(dict.fromkeys(setting for setting, *_ in lines if setting))
        models, splits = list(self.report["models"]), self.report["splits"]
        printed = self._printed()
        rows = [["", "printed", *(" / ".join(printed["", model, split] for split in splits) for model in models), ""]]
        for place, name in enumerate(names, 1):
            errors = [
                " / ".join(three_digits(lines[name, model, split, "mae"]["ours"]) for split in splits)
                for model in models
            ]
            rows.append([f"{place}", name, *errors, f"{lines[name, '', '', 'misfit']['ours']:.1f}"])
        title = f"{self.experiment.title} ({self.experiment.source}): {' / '.join(splits.values()).lower()}, medians"
        shown = {
            "discrepancy": f"Discrepancy granted to all, of a log error, {max(explain.DISCREPANCIES)} at most",
            "discrepancy_without_limit": "Discrepancy that would suit best without that limit",
            "control_recovered": "Control: tables of a known protocol whose protocol is found",
            "control_permuted": "Control: permuted tables explained as well as the printed one",
        }
        header = ["", "Protocol", *(style.label(model) for model in models), "Misfit"]
        return [
            Table(title, header, rows),
            facts("How far to trust the ranking", shown, {metric: line for (*_, metric), line in lines.items()}),
        ]

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """Every hypothesis a line, with the median errors of its seeds; the printed ones are vertical lines."""
        judge, ranked = self._ranked(measured)
        models, splits = list(self.report["models"]), self.report["splits"]
        figure, axes = style.new_figure(7.2, 1.6 + 0.28 * len(ranked), columns=len(models), sharey=True)
        printed, drawn = self._printed(), []
        for axis, model in zip(axes[0], models, strict=True):
            for split, marker, color in zip(splits, "ov^", ("#0072B2", "#009E73", "#D55E00"), strict=False):
                medians = [
                    float(np.median(judge.predictions.samples_of(one.rows[""], one.choice, model, split)))
                    for one in ranked
                ]
                axis.plot(medians, range(len(ranked)), marker, color=color, alpha=0.8, label=f"ours, {splits[split]}")
                axis.axvline(
                    float(printed["", model, split]), color=color, linewidth=1, label=f"printed, {splits[split]}"
                )
                names = [one.hypothesis.name for one in ranked]
                drawn += [
                    {"model": model, "split": split, "protocol": name, "median": value,
                     "printed": printed["", model, split]}
                    for name, value in zip(names, medians, strict=True)
                ]  # fmt: skip
            axis.set_xscale("log")
            axis.set_xlabel("mean absolute error")
            axis.set_title(style.label(model))
        axes[0][0].set_yticks(range(len(ranked)), [one.hypothesis.name for one in ranked], fontsize=6)
        axes[0][0].invert_yaxis()
        entries = dict(zip(*reversed(axes[0][0].get_legend_handles_labels()), strict=True))
        figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=3)
        return figure, pd.DataFrame(drawn)
