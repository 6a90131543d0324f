"""Agents that tell the time in one figure: reward and success by T, and how far each seed goes."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from nalu_bench.analysis.render import style
from nalu_bench.papers.trask2018.timing_claims import SUCCESS
from nalu_bench.papers.trask2018.timing_tables import REWARD

LOWEST = {REWARD: -1.05, SUCCESS: -0.03}
"""Lower end of the axis: the figure of the paper ends at -1."""

SHOWN = ["panel", "group", "agent", "seed", "x", "y", "low", "high", "printed"]


def draw(
    curves: pd.DataFrame, longest: pd.DataFrame, trained: Sequence[int], last: int
) -> "tuple[style.Figure, pd.DataFrame]":
    """A column for every group of agents, with its reward (printed ones hollow) and success; below T50 of every seed.

    Args:
        curves: rows of the report with the metrics `reward` and `success`, and columns time, group, agent.
        longest: T50 of every seed, infinite beyond the last tested T; columns agent, group, seed, t50.
        trained: shortest and longest T in training. last: the last tested T.

    Returns: the figure, and the numbers drawn in it.
    """
    groups = list(dict.fromkeys(longest["group"]))
    agents = longest[["agent", "group"]].drop_duplicates()
    height = 5.2 + 0.3 * len(agents)
    figure, axes = style.new_figure(max(5.0, 3.4 * len(groups)), height, 3, len(groups))
    for column, group in enumerate(groups):
        for line, metric in zip(axes, (REWARD, SUCCESS), strict=False):
            mine = curves[(curves["group"] == group) & (curves["metric"] == metric)]
            _curves(line[column], mine, trained, last, LOWEST[metric])
        axes[0][column].set_title(group.replace(", ", "\n", 1), fontsize=8)
        axes[1][column].set_xlabel("T")
        axes[1][column].legend(fontsize=6.5, loc="upper right")
    axes[0][0].set_ylabel("Average reward (printed: hollow)")
    axes[1][0].set_ylabel("Success")
    below = figure.add_subplot(axes[-1][0].get_gridspec()[-1, :])
    for axis in axes[-1]:
        axis.remove()
    _longest(below, longest, groups, last)
    return figure, _numbers(curves, longest)


def _curves(axis: "style.Axes", curves: pd.DataFrame, trained: Sequence[int], last: int, lowest: float) -> None:
    axis.axvspan(trained[0], trained[1], color="#eeeeee", zorder=0)
    for agent, rows in curves.groupby("agent", sort=False):
        look = style.drawing(str(rows["model"].iloc[0]))
        axis.plot(rows["time"], rows["ours"], label=agent, linewidth=1.3, markersize=2.2, **look)
        axis.fill_between(
            rows["time"], rows["ours_low"], rows["ours_high"], color=look["color"], alpha=0.15, linewidth=0
        )
        printed = pd.to_numeric(rows["printed"])
        axis.plot(
            rows["time"], printed, linestyle="", marker=look["marker"], markersize=4.5, markeredgecolor=look["color"],
            markerfacecolor="none",
        )  # fmt: skip
    axis.set(ylim=(lowest, 1.05), xlim=(trained[0], last))


def _longest(axis: "style.Axes", longest: pd.DataFrame, groups: Sequence[str], last: int) -> None:
    """T50 of every seed, a line an agent, a colour a group. Those that fail at no tested T are beyond the last."""
    lines = list(longest.groupby(["group", "agent"], sort=False))
    for place, ((group, _), mine) in enumerate(lines):
        seeds = mine["seed"].rank(method="dense") - 1  # side by side
        spread = seeds / max(1, mine["seed"].nunique() - 1) - 0.5
        colour = style.gradient(groups.index(group) / len(groups))
        t50 = np.minimum(mine["t50"], last + 1)
        axis.plot(t50, place + 0.6 * spread, linestyle="", marker="o", markersize=3.2, color=colour)
    axis.set(xlabel="T50: the first T at which a seed fails")
    axis.set_yticks(range(len(lines)), [f"{agent} ({group})" for (group, agent), _ in lines], fontsize=7)
    ticks = [*range(15, last, 5), last + 1]
    axis.set_xticks(ticks, [*map(str, ticks[:-1]), f"> {last}"])
    axis.invert_yaxis()


def _numbers(curves: pd.DataFrame, longest: pd.DataFrame) -> pd.DataFrame:
    names = {"metric": "panel", "time": "x", "ours": "y", "ours_low": "low", "ours_high": "high"}
    drawn = curves.rename(columns=names).assign(seed=None)
    seeds = longest.rename(columns={"t50": "y"}).assign(panel="T50", x=np.nan, low=np.nan, high=np.nan, printed="")
    return pd.concat([frame[SHOWN].astype(object) for frame in (drawn, seeds)], ignore_index=True)
