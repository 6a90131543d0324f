"""Matching digits by step in one figure, a panel for every split, with bands of 2 sigma over the seeds."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.table.line import Line
from nalu_bench.papers.trask2018.program_claims import PERCENT
from nalu_bench.papers.trask2018.program_tables import DIGITS, LAST, STEP

SIGMAS = 2
LEGEND = "Lines: means over seeds. Bands and bars: two standard deviations, within 0 to 100. Symbols: printed."
COLUMNS = ["panel", "split", "model", "x", "y", "low", "high"]


def draw(
    measured: Measured, lines: Sequence[Line], splits: Mapping[str, str], task: str, last: int
) -> "tuple[style.Figure, pd.DataFrame]":
    """Means over seeds with bands of two standard deviations; symbols: printed, with the printed bands at the end.

    Args:
        measured: runs and curves. lines: those of the report. splits: split -> its name. task: whose curves are drawn.
        last: the step at which the printed curves end.

    Returns: the figure, and the numbers drawn in it.
    """
    figure, axes = style.new_figure(3.4 * len(splits), 3.2, columns=len(splits), sharey=True)
    drawn: list[pd.DataFrame] = []
    for axis, (split, name) in zip(axes[0], splits.items(), strict=True):
        for place, runs in by_cell(measured.runs):
            if place.task == task and not place.setting:  # controls stand in the tables alone
                curves = measured.curves[measured.curves["cell"] == runs["cell"].iloc[0]]
                drawn.append(_curve(axis, curves, split, place.model))
        drawn.append(_printed(axis, lines, split, last))
        axis.set(title=name, xlabel="Training step", ylim=(0, 103))
        style.steps_along(axis, most=3)
    axes[0][0].set_ylabel("Matching digits, %")
    entries = style.entries(axes[0][0])
    style.legend(figure, entries, columns=len(entries), title=LEGEND)
    return figure, pd.concat(drawn, ignore_index=True)[COLUMNS]


def _curve(axis: "style.Axes", curves: pd.DataFrame, split: str, model: str) -> pd.DataFrame:
    table = PERCENT * curves.pivot_table(index="step", columns="seed", values=f"{split}_{DIGITS}").fillna(0.0)
    mean, spread = table.mean(axis=1), SIGMAS * table.std(axis=1, ddof=1).fillna(0.0)
    low, high = (mean - spread).clip(lower=0), (mean + spread).clip(upper=PERCENT)
    look = style.drawing(model) | {"marker": ""}
    axis.plot(mean.index, mean, label=style.label(model), linewidth=1.3, **look)
    axis.fill_between(mean.index, low, high, color=look["color"], alpha=0.1, linewidth=0)
    return pd.DataFrame({
        "panel": "ours", "split": split, "model": model, "x": mean.index, "y": mean.to_numpy(), "low": low.to_numpy(),
        "high": high.to_numpy(),
    })  # fmt: skip


def _printed(axis: "style.Axes", lines: Sequence[Line], split: str, last: int) -> pd.DataFrame:
    """Printed points; a bar is the printed band."""
    found: list[dict[str, Any]] = []
    for line in lines:
        step = line.place.setting.get(STEP, "")
        if line.place.metric != DIGITS or line.place.split != split or not line.printed or not line.printed_text:
            continue
        low, high = (float(end or "nan") for end in (line.printed.low, line.printed.high))
        found.append({"panel": "printed", "split": split, "model": line.place.model, "y": line.printed.number(),
                      "x": last if step == LAST else int(step), "low": low, "high": high})  # fmt: skip
    frame = pd.DataFrame(found, columns=COLUMNS)
    for model, rows in frame.groupby("model", sort=False):
        look = style.drawing(str(model))
        axis.plot(rows["x"], rows["y"], linestyle="", marker=look["marker"], markersize=4.5, color=look["color"],
                  fillstyle="none")  # fmt: skip
        axis.vlines(rows["x"], rows["low"], rows["high"], color=look["color"], linewidth=0.9)
    return frame
