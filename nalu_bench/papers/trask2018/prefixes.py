"""Predictions of a network after every token of a text, as in Figure 3 of Trask et al. 2018."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.table.formats import three_digits
from nalu_bench.analysis.table.layout import Table, ours
from nalu_bench.analysis.table.line import Line, Row, Value, grouped
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@register("prefixes", version=1)
class Prefixes(Kind):
    """Rows are unseen texts and their tokens, columns models: the median over seeds of the prediction so far.

    Source: Trask et al. 2018, Figure 3, which shows one network for each model. Nothing is compared, because the
    figure's numbers are not known.
    """

    apart = ("model",)
    metrics: ClassVar[Mapping[str, Span | None]] = {"prediction": (-math.inf, math.inf)}

    def words(self, cells: Sequence[Wanted]) -> dict[str, set[str]]:
        return {column: words for column, words in super().words(cells).items() if column != "operation"}

    def rows(self, measured: Measured) -> list[Row]:
        rows = []
        for place, runs in by_cell(measured.runs):
            mine = measured.predictions[measured.predictions["cell"] == runs["cell"].iloc[0]]
            for (_, token, label, target), group in _numbered(mine).groupby(["text", "place", "label", "target"]):
                setting = Setting({"number": f"{target:g}", "token": token})
                where = place.at(setting=setting, operation=str(label), split="test", metric="prediction")
                value = Value(*medians.median_of(medians.finite_or_worst(group["prediction"])))
                rows.append(row_of(where, value, runs))
        return rows

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        trained = [line for line in lines if line.n_seeds]
        models = list(dict.fromkeys(line.place.model for line in trained))
        rows = []
        groups = grouped(trained, lambda line: (line.place.setting, line.place.operation))
        for (setting, token), group in groups.items():
            found = {line.place.model: line for line in group}
            number = setting["number"] if setting["token"] == "1" else ""
            rows.append([number, token, *(ours(found.get(model), three_digits) for model in models)])
        header = ["Number", "after the token", *(style.label(model) for model in models)]
        return [Table(f"{self.experiment.title} ({self.experiment.source})", header, rows)]

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[Figure, pd.DataFrame]":
        """Panels of the median prediction with the middle 95 % of the seeds: rows are models, columns texts."""
        cells = [(place.model, runs["cell"].iloc[0]) for place, runs in by_cell(measured.runs)]
        predictions = _numbered(measured.predictions)
        texts = sorted(predictions["text"].unique())
        figure, axes = style.new_figure(
            7.2, 1.7 * len(cells), rows=len(cells), columns=len(texts), sharex="col", sharey="row"
        )
        drawn = []
        for row, (line, (model, cell)) in enumerate(zip(axes, cells, strict=True)):
            look = style.drawing(model)
            line[0].set_ylabel(style.label(model))
            for axis, text in zip(line, texts, strict=True):
                mine = predictions[(predictions["cell"] == cell) & (predictions["text"] == text)]
                found = mine.groupby("place")["prediction"].quantile([0.5, 0.025, 0.975]).unstack()
                named = mine.drop_duplicates("place").set_index("place").sort_index()
                places, target = np.arange(len(found)), float(named["target"].iloc[0])
                axis.axhline(target, color="black", linewidth=0.9, linestyle="--")
                axis.fill_between(places, found[0.025], found[0.975], color=look["color"], alpha=0.2, linewidth=0)
                axis.plot(places, found[0.5], color=look["color"], marker=look["marker"], markersize=4)
                axis.set_xticks(places, named["label"], rotation=45, ha="right", fontsize=7)
                drawn.append(
                    pd.DataFrame(
                        {
                            "model": model,
                            "target": target,
                            "token": named["label"].to_numpy(),
                            "median": found[0.5].to_numpy(),
                            "low": found[0.025].to_numpy(),
                            "high": found[0.975].to_numpy(),
                        }
                    )
                )
                if row == 0:
                    axis.set_title(f"{target:g}")
        figure.suptitle(
            "Prediction after every token.  Lines: median, bands: middle 95 % of the seeds.  Dashed: the number",
            fontsize=8,
        )
        return figure, pd.concat(drawn, ignore_index=True)


def _numbered(predictions: pd.DataFrame) -> pd.DataFrame:
    """Add `text` and `place`, both counted from 1. The probes of one text are consecutive and share its target."""
    probes = predictions.drop_duplicates("probe").sort_values("probe")
    text = (probes["target"] != probes["target"].shift()).cumsum()
    place = text.groupby(text).cumcount() + 1
    known = pd.DataFrame({"text": text.to_numpy(), "place": place.to_numpy()}, index=probes["probe"])
    return predictions.join(known, on="probe")
