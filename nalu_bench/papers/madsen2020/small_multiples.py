"""Statistics against one setting, a column of panels for each curve: ours as a line, printed numbers hollow."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench.analysis.render import style

PRINTED = {"color": "#444444", "marker": "o", "markersize": 3.2, "markerfacecolor": "white", "linestyle": ""}


def draw(
    points: pd.DataFrame,
    panels: Mapping[str, tuple[str, float]],
    curves: Mapping[str, tuple[str, str]],
    axis: str,
    ticks: Mapping[float, str] | None = None,
) -> "style.Figure":
    """One row of panels for each statistic, one column for each curve.

    Args:
        points: columns panel, curve, series (ours or printed), place, value, low, high.
        panels: name of a row -> the name of its axis, and a factor.
        curves: name of a column -> its title, and the model whose look it has; in their order.
        axis: name of the setting.
        ticks: place -> its label, for an axis of words.
    """
    figure, axes = style.new_figure(
        1.5 * len(curves) + 0.6, 1.7 * len(panels) + 0.6, len(panels), len(curves), sharex=True, sharey="row"
    )
    for line, (name, (label, factor)) in zip(axes, panels.items(), strict=True):
        for panel, (curve, (_, model)) in zip(line, curves.items(), strict=True):
            mine = points[(points["panel"] == name) & (points["curve"] == curve)]
            _ours(panel, mine[mine["series"] == "ours"], model, factor)
            _printed(panel, mine[mine["series"] == "printed"], factor)
        line[0].set_ylabel(label)
        line[0].set_ylim(bottom=-0.03 * line[0].get_ylim()[1])  # a symbol at 0 is whole
    for panel, (title, _) in zip(axes[0], curves.values(), strict=True):
        panel.set_title(title)
    if ticks:
        for panel in axes[-1]:
            panel.set_xticks([*ticks], [*ticks.values()], rotation=90, fontsize=7)
    figure.supxlabel(axis, fontsize=9)
    return figure


def _ours(panel: Any, points: pd.DataFrame, model: str, factor: float) -> None:
    look = style.drawing(model) | {"markersize": 3.5, "linewidth": 1.2}
    value, low, high = (factor * points[bound].to_numpy(float) for bound in ("value", "low", "high"))
    panel.plot(points["place"], value, **look)
    panel.fill_between(points["place"], low, high, color=look["color"], alpha=0.15, linewidth=0)


def _printed(panel: Any, points: pd.DataFrame, factor: float) -> None:
    value, low, high = (factor * points[bound].to_numpy(float) for bound in ("value", "low", "high"))
    panel.errorbar(points["place"], value, np.maximum([value - low, high - value], 0), elinewidth=0.7, **PRINTED)
