"""Learning curves: all seeds faint, their median strong, the solved steps marked."""

import textwrap
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench import registry
from nalu_bench.analysis.measure.measured import Measured, cells_with
from nalu_bench.analysis.render import style
from nalu_bench.plan.setting import Setting

WIDEST = 44
"""Letters in a line of a title."""

COLUMNS = 4
"""Panels in a line."""

NARROWEST = 5.0
"""Width of a picture of one panel, in inches: its legend needs it."""

SEEDS, POINTS = 100, 100
"""Seeds drawn of a cell, and points drawn of a seed."""

FEW = 4
"""Seeds of which each has a strong line, without a median."""

LOOKS = ({"color": "#0072B2", "linestyle": "-"}, {"color": "#D55E00", "linestyle": "--"})

SPLITS = {"validation": "inside of the training range", "extrapolation": "outside of it"}


def cells(measured: Measured, seeds: Collection[int] | None = None, **words: str) -> list[dict[str, Any]]:
    """A run of each cell that has these words and curves, or curves of these seeds."""
    curves = measured.curves if seeds is None else measured.curves[measured.curves["seed"].isin(seeds)]
    return [line for line in cells_with(measured, words) if (curves["cell"] == line["cell"]).any()]


def picture(
    measured: Measured, cells: Sequence[dict[str, Any]], seeds: Collection[int] | None = None
) -> "style.Figure":
    """A panel for each cell, with all its seeds or with some."""
    columns = min(COLUMNS, len(cells))
    rows = -(-len(cells) // columns)
    figure, axes = style.new_figure(max(2.5 * columns, NARROWEST), 1.9 * rows + 0.5, rows, columns)
    for axis in axes.flat[len(cells) :]:
        axis.remove()
    for axis, cell in zip(axes.flat, cells, strict=False):
        _panel(axis, measured, cell, seeds)
    style.legend(figure, style.entries(*figure.axes), columns=min(4, 2 * columns))
    return figure


def _panel(axis: "style.Axes", measured: Measured, cell: dict[str, Any], seeds: Collection[int] | None) -> None:
    """One cell: a measure on every split against the step."""
    entry = measured.manifest["cells"][cell["cell"]]
    task = registry.tasks.load(entry["identity"]["task"]["kind"])
    curves, runs = (frame[frame["cell"] == cell["cell"]] for frame in (measured.curves, measured.runs))
    if seeds is not None:
        curves, runs = (frame[frame["seed"].isin(seeds)] for frame in (curves, runs))
    judged = any(f"{split}_{task.judging}" in curves for split in task.evaluated)
    measure = task.judging if judged else task.selecting  # some figures are those of the test alone
    shown = [split for split in task.evaluated if f"{split}_{measure}" in curves][: len(LOOKS)]
    for split, look in zip(shown, LOOKS, strict=False):
        _lines(axis, curves, f"{split}_{measure}", SPLITS.get(split, split), look)
    threshold = entry["criteria"].get("threshold")
    if isinstance(threshold, int | float):
        axis.axhline(threshold, color="#444444", linewidth=0.9, linestyle=":", label="threshold")
    if "solved_at" in runs:
        at = runs["solved_at"].dropna().astype(float)
        axis.plot(at, np.zeros(len(at)), "|", color="#009E73", transform=axis.get_xaxis_transform(), markersize=7,
                  label="a seed is solved")  # fmt: skip
    axis.set_title(title(cell), fontsize=7)
    axis.set_ylabel(measure, fontsize=7)
    axis.tick_params(labelsize=6)
    axis.ticklabel_format(axis="x", style="sci", scilimits=(-3, 4))
    axis.xaxis.get_offset_text().set_fontsize(6)
    if not task.larger_is_better and (curves[[f"{split}_{measure}" for split in shown]] > 0).any(axis=None):
        axis.set_yscale("log", nonpositive="clip")  # an error of 0 lies below the axis
    axis.minorticks_off()


def _lines(axis: "style.Axes", curves: pd.DataFrame, column: str, label: str, look: dict[str, Any]) -> None:
    from matplotlib.collections import LineCollection

    table = curves.pivot_table(index="step", columns="seed", values=column, dropna=False)
    table = table.iloc[:: -(-len(table) // POINTS), :SEEDS].replace([np.inf, -np.inf], np.nan)
    steps = table.index.to_numpy(float)
    if len(table.columns) <= FEW:
        axis.plot(steps, table.to_numpy(), linewidth=1.1, label=f"seeds {label}", **look)
    else:
        seeds = [np.column_stack([steps, table[seed]]) for seed in table]
        faint = LineCollection(seeds, color=look["color"], alpha=0.18, linewidth=0.4, rasterized=True)
        axis.add_collection(faint)
        axis.plot(steps, table.median(axis=1), linewidth=1.4, label=f"median {label}", **look)
    axis.autoscale_view()


def title(cell: dict[str, Any]) -> str:
    """The operation and the setting of a cell, and its model in a line of its own."""
    operation = style.operation_label(cell["task"], cell["operation"]) if cell["operation"] else cell["task"]
    words = [operation, *filter(None, [Setting.parse(cell["setting"]).told()])]
    return f"{textwrap.fill(', '.join(words), WIDEST)}\n{style.label(cell['model'])}"
