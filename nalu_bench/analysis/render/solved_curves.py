"""The share of seeds solved by each step, as a figure."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.intervals import wilson_interval

POINTS = 500
"""Points drawn of a long curve for each of two scales, linear and logarithmic."""

APART = 9
"""Distance between the symbols of equal printed rates, in typographic points."""


MOST_ENTRIES, LINES = 4, 3
"""Of a line of the legend, and lines of it; a longer one names the models alone."""


def solved_by_step(runs: pd.DataFrame, table: pd.DataFrame, scale: str) -> "tuple[style.Figure, pd.DataFrame]":
    """Draw one panel per operation: curves with Wilson bands, and the printed rate and median as symbols.

    Cells of one model that differ by their setting have its colour. The first has the band and the printed symbols, and
    the others are thin.

    Args:
        runs: the runs with `solved_at`, which is nan for unsolved runs.
        table: the rows of a report, in the order to draw. A cell without runs has only its printed symbols.
        scale: scale of the axis of steps, linear or log.

    Returns: the figure, and the numbers drawn in it.
    """
    panels = dict(list(table.groupby("operation", sort=False)))
    alone = len(panels) == 1
    first, last = int(runs["log_every"].min()), int(runs["steps"].max())
    figure, axes = style.new_figure(5.6 if alone else 7.4, 3.4, columns=len(panels), sharey=True)
    drawn = []
    for axis, (operation, rows) in zip(axes[0], panels.items(), strict=True):
        drawn.append(_panel(axis, runs[runs["operation"] == operation], rows, last).assign(operation=operation))
        _set_steps(axis, first, last, scale, 5 if len(panels) < 4 else 2)
        axis.set(xlabel="Training step", ylim=(0, 1))
        if not alone:
            axis.set_title(style.operation_label(rows["task"].iloc[0], str(operation)))
    axes[0][0].set_ylabel("Share of seeds solved")
    _explain(figure, axes[0])
    apart = [*([] if alone else ["operation"]), "model", *(["setting"] if (table["setting"] != "").any() else [])]
    return figure, pd.concat(drawn, ignore_index=True)[["series", *apart, "step", "share", "low", "high"]]


def _panel(axis: "style.Axes", runs: pd.DataFrame, table: pd.DataFrame, last: int) -> pd.DataFrame:
    """Draw the cells of one operation. Returns the numbers drawn."""
    drawn: list[pd.DataFrame] = []
    rates: list[float] = []
    for model, cells in table.groupby("model", sort=False):
        for number, (setting, rows) in enumerate(cells.groupby("setting", sort=False)):
            words = {"model": model, "setting": setting}
            share = _share_solved(runs[(runs["model"] == model) & (runs["setting"] == setting)])
            label = ", ".join(filter(None, [style.label(str(model)), str(setting)]))
            _draw_share(axis, share, label, str(model), number)
            drawn.append(share.assign(series="ours", **words))
            printed = dict(zip(rows["metric"].map(str), rows["printed"].map(str), strict=True))
            if number == 0 and printed.get("success_rate"):
                marks = _draw_printed(axis, printed, last, str(model), rates)
                drawn.append(marks.assign(series="printed", **words))
    return pd.concat(drawn, ignore_index=True)


def _draw_share(axis: "style.Axes", share: pd.DataFrame, label: str, model: str, number: int) -> None:
    """Draw the curve of one cell, the cell of its model with this number."""
    look = style.drawing(model)
    width: dict[str, Any] = {"linewidth": 0.7} if number else {}
    drawn = {"color": look["color"], "linestyle": look["linestyle"], "gid": style.label(model)}
    axis.plot(share["step"], share["share"], label=label, **drawn, **width)
    if number == 0:
        axis.fill_between(share["step"], share["low"], share["high"], color=look["color"], alpha=0.15, linewidth=0)


def _draw_printed(
    axis: "style.Axes", printed: dict[str, str], last: int, model: str, rates: list[float]
) -> pd.DataFrame:
    """Draw the printed rate and median of a model, and add the rate to `rates`. Returns the numbers drawn."""
    look = style.drawing(model)
    rate, median = float(printed["success_rate"]), float(printed.get("solved_at_median") or "nan")
    axis.plot([median], [rate / 2], color=look["color"], marker="x", markersize=7, markeredgewidth=1.8)
    _draw_rate(axis, last, rate, look, rates.count(rate))
    rates.append(rate)
    return pd.DataFrame({"step": [median, last], "share": [rate / 2, rate]})


def _draw_rate(axis: "style.Axes", last: int, rate: float, look: dict[str, Any], equal: int) -> None:
    """Draw the printed rate at the last step, moved to the left by one place for each of `equal` equal rates."""
    from matplotlib.transforms import offset_copy

    place = offset_copy(axis.transData, axis.get_figure(root=True), x=-APART * equal, units="points")
    axis.plot(
        [last], [rate], color=look["color"], marker=look["marker"], clip_on=False, fillstyle="none", transform=place
    )


def _set_steps(axis: "style.Axes", first: int, last: int, scale: str, most: int) -> None:
    """Set up the axis of training steps, a linear one with at most so many intervals."""
    if scale == "log":
        axis.set_xscale("log")
        axis.set_xlim(first, last)
    else:
        axis.set_xlim(0, last)
        style.steps_along(axis, most)


def _explain(figure: "style.Figure", axes: "NDArray[Any]") -> None:
    """Add title and legend: inside a single panel of a few cells, outside of others."""
    title = ["Lines: ours with 95 % Wilson band.  Hollow: printed rate.", "×: printed median, at half the printed rate"]
    alone, entries = len(axes) == 1, style.entries(*axes)
    many = len(entries) > MOST_ENTRIES * LINES
    if alone and not many:
        axes[0].set_title("\n".join(title), fontsize=8, loc="left")
        axes[0].legend(loc="center right", bbox_to_anchor=(1.0, 0.58))
        return
    if many:
        models: dict[str, Any] = {}
        for line in entries.values():
            models.setdefault(str(line.get_gid()), line)  # the first of a model is the thick one
        entries = models
        title.append("Thin: further settings of a model.")
    figure.suptitle(("\n" if alone else "  ").join(title), fontsize=8)
    style.legend(figure, entries, columns=min(len(entries), MOST_ENTRIES))


def _share_solved(runs: pd.DataFrame) -> pd.DataFrame:
    """The share of seeds, at each evaluation, whose run is solved and was below the threshold by then."""
    if runs.empty:
        return pd.DataFrame({name: np.empty(0) for name in ("step", "share", "low", "high")})
    grid = int(runs["log_every"].iloc[0]) * _thinned(int(runs["steps"].max()) // int(runs["log_every"].iloc[0]))
    at = np.sort(runs["solved_at"].dropna().to_numpy(float))
    counts = np.searchsorted(at, grid, side="right")
    bounds = [wilson_interval(int(count), len(runs)) for count in counts]
    low, high = np.array(bounds).T
    return pd.DataFrame({"step": grid, "share": counts / len(runs), "low": low, "high": high})


def _thinned(last: int) -> NDArray[np.int64]:
    """0 to `last`; if these are many, a selection that is dense on both a linear and a log axis."""
    if last <= POINTS:
        return np.arange(last + 1)
    chosen = [np.linspace(0, last, POINTS), np.geomspace(1, last, POINTS)]
    return np.unique(np.concatenate(chosen).round().astype(np.int64))
