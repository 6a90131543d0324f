"""Agents that tell the time in one figure: their success by T, and how far each seed goes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nalu_bench.analysis.render import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ORACLE = {"color": "#888888", "linestyle": (0, (1, 1)), "marker": ""}

NARROWEST = 5.0
"""Inches of the figure, so that the words below T50 fit."""


def draw(
    shares: pd.DataFrame, longest: pd.DataFrame, panels: Mapping[str, Sequence[str]], trained: Sequence[int]
) -> "tuple[Figure, pd.DataFrame]":
    """A row of panels for every scale of the time, a panel for every group of agents; below T50 of every seed.

    Args:
        shares: rows of the report with the metric `success`, and columns time, scale, agent.
        longest: T50 of every seed; columns agent, scale, seed, t50.
        panels: title -> models.
        trained: shortest and longest T in training.

    Returns: the figure, and the numbers drawn in it.
    """
    scales = list(dict.fromkeys(shares["scale"]))
    figure, axes = style.new_figure(
        max(NARROWEST, 3.0 * len(panels)), 2.5 * len(scales) + 3.8, len(scales) + 1, len(panels)
    )
    for column, (title, models) in enumerate(panels.items()):
        drawn_at = [scale for scale in scales if shares.loc[shares["scale"] == scale, "model"].isin(models).any()]
        for line, scale in zip(axes, scales, strict=False):
            if scale not in drawn_at:
                line[column].remove()
                continue
            _success(line[column], shares[shares["scale"] == scale], models, trained)
            line[column].set_title(title if scale == drawn_at[0] else "")
            if scale == drawn_at[-1]:
                _legend(line[column], alone=scale != scales[-1])
    for line, scale in zip(axes, scales, strict=False):
        line[0].set_ylabel(f"Success, {told(scale)}")
    below = figure.add_subplot(axes[-1][0].get_gridspec()[-1, :])
    for axis in axes[-1]:
        axis.remove()
    _longest(below, longest, scales, int(shares["time"].max()))
    drawn = shares[["scale", "agent", "time", "ours", "ours_low", "ours_high"]]
    drawn = drawn.rename(columns={"time": "x", "ours": "y", "ours_low": "low", "ours_high": "high"})
    seeds = longest.rename(columns={"t50": "y"}).assign(x=np.nan, low=np.nan, high=np.nan)
    both = [drawn.assign(panel="success", seed=None), seeds.assign(panel="T50")]
    columns = ["panel", "scale", "agent", "seed", "x", "y", "low", "high"]
    return figure, pd.concat([frame[columns].astype(object) for frame in both], ignore_index=True)


def told(scale: str) -> str:
    """What the agents were told, from the scale of the time: `told T`, `told 0.1 T`."""
    return f"told {scale} T" if scale and float(scale) != 1 else "told T"


def _success(axis: "Axes", shares: pd.DataFrame, models: Sequence[str], trained: Sequence[int]) -> None:
    axis.axvspan(trained[0], trained[1], color="#eeeeee", zorder=0)
    for agent, rows in shares.groupby("agent", sort=False):
        model = str(rows["model"].iloc[0])
        oracle = agent != style.label(model)
        if model not in models and not oracle:
            continue
        look: dict[str, Any] = ORACLE if oracle else style.drawing(model)
        axis.plot(rows["time"], rows["ours"], label=agent, linewidth=1.3, markersize=2.6, **look)
        axis.fill_between(
            rows["time"], rows["ours_low"], rows["ours_high"], color=look["color"], alpha=0.15, linewidth=0
        )
    axis.set(xlabel="T", ylim=(-0.03, 1.03), xlim=(shares["time"].min(), shares["time"].max()))


def _legend(axis: "Axes", alone: bool) -> None:
    """The agents of a column, below its last panel. Where that panel stands `alone`, no room need be made for it."""
    legend = axis.legend(fontsize=6.5, loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2)
    legend.set_in_layout(not alone)


def _longest(axis: "Axes", longest: pd.DataFrame, scales: Sequence[str], last: int) -> None:
    """T50 of every seed, a line an agent, filled for the first scale. Those that never fail are beyond the last T."""
    agents = list(dict.fromkeys(longest["agent"]))
    for number, scale in enumerate(scales):
        mine = longest[longest["scale"] == scale]
        places = np.array([agents.index(agent) for agent in mine["agent"]], float)
        seeds = mine["seed"].rank(method="dense") - 1  # side by side
        spread = seeds / max(1, mine["seed"].nunique() - 1) - 0.5
        shift = (number - (len(scales) - 1) / 2) * 0.36
        face = "#0072B2" if number == 0 else "white"
        axis.plot(
            mine["t50"], places + shift + 0.24 * spread, linestyle="", marker="o", markersize=3.2,
            markeredgecolor="#0072B2", markerfacecolor=face, label=told(scale),
        )  # fmt: skip
    axis.set(yticks=range(len(agents)), yticklabels=agents, xlabel="T50: the first T at which a seed fails")
    ticks = [*range(15, last, 5), last + 1]
    axis.set_xticks(ticks, [*map(str, ticks[:-1]), f"> {last}"])
    axis.invert_yaxis()
    if len(scales) > 1:
        axis.legend(fontsize=7, loc="upper center", ncols=2)
