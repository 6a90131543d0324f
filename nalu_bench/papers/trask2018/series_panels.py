"""Networks over series of digits in one figure: their errors, training, encoders and recurrent weights."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, records
from nalu_bench.analysis.render import style
from nalu_bench.papers.trask2018 import series_constant, series_tables

SATURATED = 1e-7
"""Distances of a weight from 1 below this are drawn here: float32 knows no smaller ones."""

FARTHEST = 1000
"""The panel of errors ends so many times above the largest error of the best model; larger ones leave it."""

ASIDE = 1.3
"""Printed errors stand at so many times the length."""

CONSTANT: dict[str, Any] = {"color": "#888888", "linestyle": "-", "linewidth": 0.9, "marker": ""}
"""The look of the constant prediction."""

ENCODED = (-2, 11)
"""Limits of the encoder's panel: an encoder that tells no digits apart is stretched far beyond."""

ENCODED_MEAN = "encoder_mean"
"""The encoder's mean outputs (digits, Z) among the kept arrays; what records none is not drawn."""

CELL_WEIGHTS = "recurrence.cell.W"
"""The weights (H, Z + H) on [z, h] of a cell of a NAC₊ or a NALU among the kept ones; the reference has none."""

HOLLOW = "Hollow: printed. Grey: a constant, ten times the mean of one image"
"""Below the figure, above the names of the models."""

TITLES = ("error by length", "validation", "what the encoder says", "recurrent weight")
"""Of the panels of a row that have none of their own."""


def draw(measured: Measured, errors: pd.DataFrame) -> "tuple[style.Figure, pd.DataFrame]":
    """A row of four panels for every operation.

    * The median error by length, with its interval (a line a cell), the printed errors (hollow, a little to the right)
      and those of a constant (grey). Errors far above all others leave the panel.
    * The median of the mean squared validation error by step.
    * What the encoder says for each digit. With one output: its mean over the images of a digit, moved and stretched to
      fit the digits best, for every seed of the cells that accumulate it. With ten outputs: the mean of what one image
      adds to each count, W_z z, for one network; W_z are the weights on z of a cell that has them.
    * The distance of the recurrent weight from 1 by step, for every seed of the cells that have one.

    Args:
        measured: runs, curves, the arrays `encoder_mean` and the weights of the cell.
        errors: the mean absolute errors of a report as in `table.csv`, with the column `length`.

    Returns: the figure, and the numbers drawn in it.
    """
    operations = list(dict.fromkeys(errors["operation"]))
    figure, axes = style.new_figure(12.4, 2.9 * len(operations), rows=len(operations), columns=4)
    drawn: list[pd.DataFrame] = []
    for line, operation in zip(axes, operations, strict=True):
        runs = measured.runs[measured.runs["operation"] == operation]
        mine = errors[errors["operation"] == operation]
        name = style.operation_label(mine["task"].iloc[0], str(operation))
        drawing = (_training, _encoders, _weights)
        parts = [
            _errors(line[0], mine),
            *(draw(axis, measured, runs) for axis, draw in zip(line[1:], drawing, strict=True)),
        ]
        drawn += [part.assign(operation=operation) for part in parts]
        for axis, title in zip(line, TITLES, strict=True):
            axis.set_title(f"{name}: {axis.get_title() or title}")
    entries = style.entries(*axes.flat)
    style.legend(figure, entries, columns=len(entries), title=HOLLOW)
    return figure, pd.concat(drawn, ignore_index=True)[["panel", "operation", "model", "seed", "x", "y", "low", "high"]]


def _errors(axis: "style.Axes", table: pd.DataFrame) -> pd.DataFrame:
    """Medians with their intervals, printed errors as hollow symbols of the same colour, a constant in grey."""
    frames = []
    for model, rows in table.groupby("model", sort=False):
        lengths = rows["length"].to_numpy()
        look = CONSTANT if model == series_constant.MODEL else style.drawing(str(model))
        axis.plot(lengths, rows["ours"], markersize=4, label=series_tables.label(str(model)), **look)
        axis.fill_between(lengths, rows["ours_low"], rows["ours_high"], color=look["color"], alpha=0.15, linewidth=0)
        ours = {"x": lengths, "y": rows["ours"], "low": rows["ours_low"], "high": rows["ours_high"]}
        frames.append(pd.DataFrame(ours).assign(panel="error", model=model, seed=None))
        frames.append(_printed(axis, rows[rows["printed"] != ""], look).assign(model=model, seed=None))
    axis.set(xscale="log", yscale="log", xlabel="Length of the series", ylabel="Mean absolute error")
    end = FARTHEST * table.groupby("model")["ours"].max().min()
    axis.set_ylim(top=min(axis.get_ylim()[1], end))
    return pd.concat(frames, ignore_index=True)


def _printed(axis: "style.Axes", rows: pd.DataFrame, look: Mapping[str, Any]) -> pd.DataFrame:
    """Printed errors, a little to the right of ours."""
    lengths, printed = rows["length"].to_numpy(), rows["printed"].astype(float).to_numpy()
    symbol = {"marker": look.get("marker", ""), "color": look["color"], "markersize": 4.5, "fillstyle": "none"}
    axis.plot(ASIDE * lengths, printed, linestyle="", **symbol)
    return pd.DataFrame({"x": lengths, "y": printed, "low": np.nan, "high": np.nan}).assign(panel="printed")


def _training(axis: "style.Axes", measured: Measured, runs: pd.DataFrame) -> pd.DataFrame:
    frames = []
    curves = measured.curves.merge(runs[["cell", "seed", "model"]], on=["cell", "seed"])
    for model, found in curves.groupby("model", sort=False):
        median = found.groupby("step")["validation_mse"].median()
        look = style.drawing(str(model)) | {"marker": "", "linewidth": 1.2}
        axis.plot(median.index, median, **look)
        frames.append(pd.DataFrame({"x": median.index, "y": median.to_numpy(), "model": model, "seed": None}))
    axis.set(yscale="log", xlabel="Training step", ylabel="Squared validation error")
    return _panel(frames, "training")


def _encoders(axis: "style.Axes", measured: Measured, runs: pd.DataFrame) -> pd.DataFrame:
    """The encoder's means of the cells with a recurrent weight, and of the reference."""
    accumulating = runs[(runs["role"] != "cell") | _recurrent(runs)]
    frames = []
    for run in records(accumulating):
        model, seed, kept = str(run["model"]), int(run["seed"]), measured.arrays(run["cell"], run["seed"])
        if ENCODED_MEAN not in kept:
            continue
        mean = kept[ENCODED_MEAN]
        outputs = mean.shape[1]
        if outputs > 1:
            on_z = kept[CELL_WEIGHTS][:, :outputs] if CELL_WEIGHTS in kept else np.eye(outputs)
            return _matrix(axis, model, seed, mean @ on_z.T)
        digits = np.arange(len(mean))
        slope, offset = np.polyfit(digits, mean[:, 0], 1)
        fitted = (mean[:, 0] - offset) / slope
        look = style.drawing(model) | {"linewidth": 0.8, "markersize": 3, "alpha": 0.7}
        axis.plot(digits, fitted, **look)
        frames.append(pd.DataFrame({"x": digits, "y": fitted, "model": model, "seed": seed}))
    axis.plot([0, 9], [0, 9], color="black", linewidth=0.6, zorder=0)
    axis.set(xlabel="Digit", ylabel="Mean, moved and stretched", xticks=range(10), ylim=ENCODED)
    return _panel(frames, "encoder")


def _matrix(axis: "style.Axes", model: str, seed: int, added: Any) -> pd.DataFrame:
    """What one image of each digit adds to the ten counts of one network."""
    axis.grid(False)
    image = axis.imshow(added, cmap="viridis", aspect="auto")
    axis.figure.colorbar(image, ax=axis)
    axis.set(
        xlabel="Count", ylabel="Digit of one image", xticks=range(added.shape[1]), yticks=range(len(added)),
        title=f"$W_z z$ of {style.label(model)}, seed {seed}",
    )  # fmt: skip
    digits, outputs = np.indices(added.shape).reshape(2, -1)
    names = [f"{model} count {output}" for output in outputs]
    return _panel([pd.DataFrame({"x": digits, "y": added.reshape(-1), "model": names, "seed": seed})], "encoder")


def _weights(axis: "style.Axes", measured: Measured, runs: pd.DataFrame) -> pd.DataFrame:
    accumulating = runs[_recurrent(runs)]
    if accumulating.empty:
        axis.set_axis_off()
        axis.text(0.5, 0.5, "no cell has one", ha="center", transform=axis.transAxes)
        return _panel([], "recurrent weight")
    frames = []
    curves = measured.curves.merge(accumulating[["cell", "seed", "model"]], on=["cell", "seed"])
    for (model, seed), curve in curves.groupby(["model", "seed"], sort=False):
        look = style.drawing(str(model))
        away = np.maximum((1 - curve["recurrent_weight"]).abs(), SATURATED)
        axis.plot(curve["step"], away, color=look["color"], linestyle=look["linestyle"], linewidth=0.9, alpha=0.8)
        frames.append(pd.DataFrame({"x": curve["step"], "y": away, "model": model, "seed": seed}))
    axis.set(yscale="log", xlabel="Training step", ylabel="|1 − mean weight|")
    return _panel(frames, "recurrent weight")


def _recurrent(runs: pd.DataFrame) -> "pd.Series[bool]":
    """Which runs have a recurrent weight."""
    if "recurrent_weight" not in runs:
        return pd.Series(False, runs.index)
    return runs["recurrent_weight"].notna()


def _panel(frames: list[pd.DataFrame], name: str) -> pd.DataFrame:
    """The numbers of one panel; none if nothing is drawn."""
    columns = ["x", "y", "model", "seed"]
    joined = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)
    return joined.assign(panel=name, low=np.nan, high=np.nan)
