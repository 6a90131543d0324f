"""Success rate, speed of convergence and sparsity as functions of one value, as in Madsen & Johansen 2020, Figure 3."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, records, values_of
from nalu_bench.analysis.render import style, tables
from nalu_bench.analysis.render.tables import Format, Table
from nalu_bench.analysis.reports.success import METRICS, Success, SuccessSettings
from nalu_bench.errors import UsageError
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    """Rows are values of one setting, columns models; each statistic of `success` has a table.

    The figure has one line a model, ours filled and the printed numbers hollow. The paper draws the mean of the solved
    step. Its printed value is not reliable (see `not_comparable`), so that our median stands beside it.

    Settings, beyond those of `success`: `against`, the word of the `setting` that varies, and `axis`, its name.
    """

    apart = ()
    settings = SweepSettings
    panels: ClassVar[Mapping[str, tuple[str, str, float]]] = {
        "success_rate": ("Success rate", "success_rate", 1.0),
        "solved_at_median": ("Solved at [million steps]", "solved_at_mean", 1e-6),
        "sparsity_error_mean": ("Sparsity error", "sparsity_error_mean", 1.0),
    }
    """Our metric -> the name of its axis, the metric that the paper prints in its place, the factor of the axis."""

    def tables(self, table: pd.DataFrame) -> list[Table]:
        table = self.placed(table)
        return [
            self._table(group, *METRICS[str(metric)])
            for metric, group in table[table["metric"].isin(METRICS)].groupby("metric", sort=False)
        ]

    def _table(self, table: pd.DataFrame, name: str, form: Format) -> Table:
        """The table of one statistic. Only models with a printed number have columns `printed` and `verdict`."""
        header, columns = [str(self.report["axis"])], []
        places = sorted(table["place"].unique())
        for model, group in table.groupby("model", sort=False):
            lines = {line["place"]: line for line in records(group)}
            shown = {"": tables.ours, "printed": tables.printed, "verdict": tables.verdict}
            for word, show in shown.items() if (group["printed"] != "").any() else [("", tables.ours)]:
                header.append(f"{style.label(str(model))} {word}".strip())
                columns.append([show(lines[place], form) if place in lines else "–" for place in places])
        rows = [[f"{place:g}", *(column[row] for column in columns)] for row, place in enumerate(places)]
        return Table(f"{name}. {self.experiment.title} ({self.experiment.source})", header, rows)

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """The three statistics of the paper's figure side by side."""
        table = self.placed(table)
        figure, axes = style.new_figure(7.4, 2.9, columns=len(self.panels))
        drawn = []
        for axis, (metric, (name, printed, factor)) in zip(axes[0], self.panels.items(), strict=True):
            for number, model in enumerate(table["model"].unique()):
                rows = table[table["model"] == model]
                for side, points in enumerate((points_of(rows, metric, "ours"), points_of(rows, printed, "printed"))):
                    _draw(axis, points, model, (2 * number + side - 1.5) * DODGE, factor)
                    drawn.append(points)
            axis.set(xlabel=self.report["axis"], ylabel=name, xticks=sorted(table["place"].unique()))
            axis.set_ylim(bottom=-0.03 * axis.get_ylim()[1])  # a symbol at 0 is whole
        entries = dict(zip(*reversed(axes[0][0].get_legend_handles_labels()), strict=True))
        figure.legend([*entries.values()], [*entries], loc="outside lower center", ncols=len(entries))
        scale = f"{measured.runs['asked'].max()} seeds, {measured.runs['steps'].max():,} steps"
        figure.suptitle(
            f"Filled: ours ({scale}).  Hollow: printed ({self.experiment.printed_steps:,} steps).  "
            "Bars: 95 %.  Solved at: ours median, printed mean",
            fontsize=8,
        )
        return figure, pd.concat(drawn, ignore_index=True).rename(columns={"place": self.report["against"]})

    def placed(self, table: pd.DataFrame) -> pd.DataFrame:
        """The rows sorted by a new column `place`: the number that the setting gives for the word `against`.

        Raises:
            UsageError for a row without this word, or for two rows of one model, metric and place.
        """
        word = self.report["against"]
        settings = [values_of(setting) for setting in table["setting"]]
        if not all(word in setting for setting in settings):
            raise UsageError(
                f"a sweep needs {word} in every setting: {self.experiment.name} must name it in `settings`."
            )
        placed = table.assign(place=[float(setting[word]) for setting in settings])
        if placed.duplicated(["model", "metric", "place"]).any():
            raise UsageError(f"a sweep draws one line a model, and {self.experiment.name} has two for some {word}.")
        return placed.sort_values("place", kind="stable")


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
