"""Heat maps of shares, one below the other, narrow enough for a phone."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from nalu_bench.analysis.render import style

WIDTH = 5.6
"""Inches. Numbers of 7 points are readable on 390 pixels."""


def heat_maps(maps: Mapping[str, pd.DataFrame], about: str) -> "style.Figure":
    """A map for every heading: its rows and columns are labelled, every share is written in percent.

    Args:
        maps: heading -> shares in [0, 1], or nan where there is none, which is drawn as a dash.
        about: what a share is of.
    """
    heights = [0.65 + 0.2 * len(shares) for shares in maps.values()]
    figure, axes = style.new_figure(WIDTH, 0.7 + sum(heights), rows=len(maps), gridspec_kw={"height_ratios": heights})
    for axis, (heading, shares) in zip(axes[:, 0], maps.items(), strict=True):
        _draw(axis, shares)
        axis.set_title(heading, loc="left", fontsize=9)
    figure.suptitle(f"{about}, in percent", fontsize=9)
    return figure


def _draw(axis: "style.Axes", shares: pd.DataFrame) -> None:
    grid = shares.to_numpy(float)
    axis.imshow(grid, cmap="cividis", vmin=0, vmax=1, aspect="auto")
    for row, column in np.argwhere(np.isfinite(grid)):
        color = "white" if grid[row, column] < 0.45 else "black"
        axis.text(column, row, f"{100 * grid[row, column]:.0f}", ha="center", va="center", color=color, fontsize=7)
    for row, column in np.argwhere(np.isnan(grid)):
        axis.text(column, row, "–", ha="center", va="center", color="grey", fontsize=7)
    axis.set_xticks(range(shares.shape[1]), [str(each).replace(", ", ",\n") for each in shares.columns], fontsize=6.5)
    axis.set_yticks(range(len(shares)), list(map(str, shares.index)), fontsize=7)
    axis.tick_params(length=0)
    axis.grid(visible=False)
