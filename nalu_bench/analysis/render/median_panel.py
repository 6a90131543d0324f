"""Medians of many seeds in a panel of a figure."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.intervals import middle_range
from nalu_bench.analysis.stats.medians import Array


def heading(printed: bool = True) -> str:
    """The heading of such a figure; `printed`: whether it shows printed numbers."""
    return "Symbols: median of our seeds.  Bars: their middle 95 %." + ("  Hollow: printed" if printed else "")


def draw(axis: Any, samples: Mapping[str, Array], printed: Mapping[str, str], highest: float) -> list[dict[str, Any]]:
    """Draw median and middle 95 % of the seeds, model by model, with the printed number as a hollow symbol beside them.

    Values above `highest` are drawn at `highest`. Returns the numbers drawn, one dictionary per model.
    """
    drawn = []
    for place, (model, values) in enumerate(samples.items()):
        low, high = middle_range(values)
        median = np.median(values)
        look = style.drawing(model)
        axis.plot([place] * 2, np.minimum([low, high], highest), color=look["color"], linewidth=2.5, alpha=0.5)
        axis.plot(
            [place], [min(median, highest)], color=look["color"], marker=look["marker"], linestyle="", markersize=5.5,
            label=style.label(model),
        )  # fmt: skip
        text = str(printed.get(model, ""))
        drawn.append({"model": model, "median": median, "low": low, "high": high, "printed": text})
        if text:
            value = float(text.lstrip("<>"))
            axis.plot(
                [place + 0.35], [min(value, highest)], color="black", marker="d", markersize=4.5, fillstyle="none",
                linestyle="", label="printed" if place == 0 else None,
            )  # fmt: skip
    axis.set_xticks([])
    axis.set_xlim(span(len(drawn)))
    return drawn


def span(count: int) -> tuple[float, float]:
    """The limits of an axis with room for so many models."""
    return -0.5, count - 0.2


def add_legend(figure: Any, axes: Any, columns: int) -> None:
    """Add a legend for all panels: one entry per model, then the printed numbers."""
    entries = style.entries(*axes)
    entries |= {"printed": entries.pop("printed")} if "printed" in entries else {}
    style.legend(figure, entries, columns)
