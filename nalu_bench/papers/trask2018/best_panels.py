"""The figure of the best of several networks: errors by split, and predictions after every token of a text."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench.analysis.render import median_panel, style
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.table.line import Line, grouped
from nalu_bench.plan.setting import Setting

HIGHEST = 1000.0
"""Larger errors are drawn at this height."""

Samples = Mapping[Setting, Mapping[str, Mapping[str, Array]]]
"""Setting -> split -> model -> the error of the best network, draw by draw."""


def draw(samples: Samples, splits: Mapping[str, str], lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
    """A row of panels for every setting, and one with a panel for every text."""
    texts = grouped(
        [line for line in lines if line.place.metric == "prediction"], lambda line: line.place.setting["number"]
    )
    rows, columns = len(samples) + bool(texts), max(len(splits), len(texts))
    figure, axes = style.new_figure(1.8 * columns, 0.7 + 1.7 * max(rows, 1), rows=max(rows, 1), columns=columns)
    drawn = []
    for row, (setting, by_split) in zip(axes, samples.items(), strict=False):
        drawn += _errors(row, setting, by_split, splits, lines)
    for axis, name in zip(axes[0], splits.values() if samples else [], strict=False):
        axis.set_title(name)
    for axis, (number, mine) in zip(axes[-1], texts.items(), strict=False):
        drawn += _predictions(axis, number, mine)
    for row, used in zip(axes, [*(len(splits) for _ in samples), *([len(texts)] if texts else [])], strict=False):
        for axis in row[used:]:
            axis.set_axis_off()
    figure.suptitle(
        "Best of the drawn networks. Symbols: median of the draws. Bars: 95 % of them. Hollow: printed", fontsize=8
    )
    median_panel.add_legend(figure, axes[0], columns=4)
    return figure, pd.DataFrame(drawn)


def _errors(
    row: Any,
    setting: Setting,
    by_split: Mapping[str, Mapping[str, Array]],
    splits: Mapping[str, str],
    lines: Sequence[Line],
) -> list[dict[str, Any]]:
    drawn = []
    printed = {
        (line.place.split, line.place.model): line.printed_text
        for line in lines
        if line.place.setting == setting and line.place.metric == "mae"
    }
    row[0].set_ylabel("\n".join(["mean absolute error", *setting.told().split(", ")]))
    for axis, split in zip(row, splits, strict=False):
        axis.set_yscale("log")
        texts = {model: printed.get((split, model), "") for model in by_split[split]}
        panel = median_panel.draw(axis, by_split[split], texts, HIGHEST)
        drawn += [{"setting": str(setting), "split": split} | line for line in panel]
    return drawn


def _predictions(axis: Any, number: str, lines: Sequence[Line]) -> list[dict[str, Any]]:
    drawn = []
    axis.axhline(float(number), color="black", linewidth=0.9, linestyle="--")
    axis.set_title(number)
    for model, mine in grouped(lines, lambda line: line.place.model).items():
        look, places = style.drawing(model), np.arange(len(mine))
        values = np.array([line.ours for line in mine])
        axis.plot(places, values[:, 0], color=look["color"], marker=look["marker"], markersize=4)
        axis.fill_between(places, values[:, 1], values[:, 2], color=look["color"], alpha=0.2, linewidth=0)
        texts = [line.printed_text for line in mine]
        if any(texts):
            printed = [float(text or "nan") for text in texts]
            axis.plot(places, printed, color="black", marker="d", markersize=4.5, fillstyle="none", linestyle="")
        axis.set_xticks(places, [line.place.operation for line in mine], rotation=45, ha="right", fontsize=7)
        drawn += [
            {"setting": str(line.place.setting), "split": "test", "model": model, "token": line.place.operation,
             "median": line.ours.value, "low": line.ours.low, "high": line.ours.high, "printed": line.printed_text}
            for line in mine
        ]  # fmt: skip
    return drawn
