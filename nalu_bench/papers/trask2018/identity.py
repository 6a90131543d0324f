"""The identity failure: errors of multilayer perceptrons inside and outside their training range."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings, row_of
from nalu_bench.analysis.stats.intervals import student_interval, student_mean, wilson_interval
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.stats.ranges import ERRORS, Span
from nalu_bench.analysis.table.claim import CLAIM
from nalu_bench.analysis.table.claims import claims_table, parted
from nalu_bench.analysis.table.formats import Format, three_digits
from nalu_bench.analysis.table.layout import Ours, Shown, Table
from nalu_bench.analysis.table.line import Line, Row, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import identity_claims
from nalu_bench.papers.trask2018.identity_claims import Errors
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

LINES = ["-", "--", "-."]

Activation = tuple[Place, Errors, pd.DataFrame]
"""One activation: its place, the errors of its seeds by range, its runs."""


@dataclass
class IdentitySettings(Settings):
    """See `Identity`."""

    ranges: dict[str, list[Any]]
    claims: identity_claims.Thresholds


@register("identity", version=1)
class Identity(Kind):
    """Rows are activations: the mean absolute error inside the training range and in test ranges outside of it.

        error of a run in a range = mean |prediction(x) - x| over the probes x of the range
        error of an activation    = mean over its seeds, with Student's interval
        ratio = error outside / error inside,   rank = 1 for the smallest error outside
        failing = share of runs whose error outside is at least `claims.failing` of mean |x| there, or not finite

    Test ranges count only outside the training range. A run without a finite prediction is left out of the means and
    is noted.

    The sources' claims in words get verdicts, see `identity_claims`.

    Source: Trask et al. 2018, Figure 1. Settings: `ranges`, {inside: [low, high], outside: [low, high], ...}; `claims`,
    thresholds and activations of `identity_claims.Thresholds`.
    """

    settings: type[IdentitySettings] = IdentitySettings
    report: IdentitySettings
    metrics: ClassVar[Mapping[str, Span | None]] = {f"{CLAIM}{name}": None for name in identity_claims.NAMES}
    shows_notes = True

    def words(self, cells: Sequence[Wanted]) -> dict[str, set[str]]:
        found = super().words(cells)
        return found | {"split": found["split"] | {*self.report.ranges}}

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        for want in cells:
            if want.cell.task.probes() is None or "activation" not in want.words():
                raise UsageError(
                    f"a report of kind {self.report.kind} needs a task with probes, as identity, and a setting called "
                    f"activation; {want.label()} has not both."
                )
        ranges = self.report.ranges
        for name in {"inside", "outside"} - set(ranges):
            raise UsageError(f"the ranges of {self.experiment.name} must hold {name}.")
        for name, ends in ranges.items():
            if len(ends) != 2 or not all(isinstance(end, int | float) for end in ends) or not ends[0] < ends[1]:
                raise UsageError(f"the range {name} of {self.experiment.name} must be [low, high], got {ends}.")

    def rows(self, measured: Measured) -> list[Row]:
        cells = self._cells(measured)
        means = {name: [_mean_or_worst(errors[name]) for _, errors, _ in cells] for name in self.report.ranges}
        ranks = {name: scipy.stats.rankdata(values, method="min") for name, values in means.items()}
        limits = {name: self.report.claims.failing * self._scale(measured, name) for name in self.report.ranges}
        rows = []
        for number, (place, errors, runs) in enumerate(cells):
            for name, values in errors.items():
                inside, rank = means["inside"][number], ranks[name][number]
                rows += self._rows(place.at(split=name), values, inside, rank, limits[name], runs)
        return rows + self._claims(measured, cells)

    @property
    def _trained(self) -> tuple[float, float]:
        low, high = self.report.ranges["inside"]
        return float(low), float(high)

    def _scale(self, measured: Measured, name: str) -> float:
        """Mean |x| of the probes of a range."""
        x = measured.predictions["target"]
        return float(x[_chosen(x, name, self.report.ranges)].abs().mean())

    def _claims(self, measured: Measured, cells: list[Activation]) -> list[Row]:
        """The tests of the printed claims; none without a finite run of every activation that they are about."""
        found = {activation_of(place): errors for place, errors, _ in cells}
        if not self.report.claims.are_about() <= {name for name, errors in found.items() if errors["inside"].size}:
            return []
        seen = measured.predictions["target"]
        tests = identity_claims.Tests(
            found,
            self.report.claims,
            scale=self._scale(measured, "outside"),
            trained=self._trained,
            tested=(float(seen.min()), float(seen.max())),
            missing={activation_of(place): len(runs) - len(errors["inside"]) for place, errors, runs in cells},
        )
        place, _, runs = cells[0]
        where = place.at(setting=Setting(), split="outside")
        claims = [
            other.metric for other in self.published if other.metric.startswith(CLAIM) and other.split == where.split
        ]
        return [
            getattr(tests, name.removeprefix(CLAIM))().row(where.at(metric=name), [runs], *tests.left_out())
            for name in claims
        ]

    def _rows(
        self, place: Place, errors: Array, inside: float, rank: float, limit: float, runs: pd.DataFrame
    ) -> list[Row]:
        missing = len(runs) - len(errors)
        note = f"{missing} seeds have no finite prediction" if missing else ""
        mean = Value(*student_mean(errors, span=ERRORS))
        numbers = {"mae": mean}
        if place.split != "inside":
            failing, asked = int((errors >= limit).sum()) + missing, len(runs)
            numbers |= {
                "ratio": Value(mean.value / inside),
                "rank": Value(rank),
                "failing": Value(failing / asked, *wilson_interval(failing, asked)),
            }
        rows = [row_of(place.at(metric=name), value, runs, note) for name, value in numbers.items()]
        return [one if one.place.metric == "failing" else replace(one, n_seeds=len(errors)) for one in rows]

    def _cells(self, measured: Measured) -> list[Activation]:
        errors = self._errors(measured.predictions)
        cells = []
        for place, runs in by_cell(measured.runs):
            mine = errors[errors.index.get_level_values("cell") == runs["cell"].iloc[0]]
            cells.append((place, {str(name): values.to_numpy(float) for name, values in mine.items()}, runs))
        return cells

    def _errors(self, predictions: pd.DataFrame) -> pd.DataFrame:
        """The mean absolute error of every run (cell, seed) with finite predictions, in every range."""
        distance = (predictions["prediction"].astype(float) - predictions["target"]).abs()
        keys = [predictions["cell"], predictions["seed"]]
        finite = pd.Series(np.isfinite(distance), distance.index).groupby(keys).all()
        errors = {
            name: distance[_chosen(predictions["target"], name, self.report.ranges)].groupby(keys).mean()
            for name in self.report.ranges
        }
        return pd.DataFrame(errors).loc[finite]

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        claims, errors = parted(lines)
        title = self.experiment.heading
        return [*claims_table(title, claims, lambda _: ""), self._errors_table(errors, title)]

    def _errors_table(self, lines: Sequence[Line], title: str) -> Table:
        found = {(line.place.setting, line.place.split, line.place.metric): line for line in lines}
        header, columns = ["Activation"], list[tuple[str, str, Format]]()
        start, end = self.report.ranges["inside"]
        for name, (low, high) in self.report.ranges.items():
            around = name != "inside" and low <= start and high >= end
            if around:  # a few bad seeds make a mean, so the share comes first
                header.append("failing seeds")
                columns.append((name, "failing", "{:.0%}".format))
            header.append(f"Error in {'the rest of ' if around else ''}[{low:g}, {high:g}]")
            columns.append((name, "mae", three_digits))
            if around:
                header += ["ratio", "rank"]
                columns += [(name, "ratio", three_digits), (name, "rank", "{:.0f}".format)]
        rows: list[list[Shown]] = []
        for line in self._ranked(lines):
            cells = [(found[line.place.setting, name, metric], form) for name, metric, form in columns]
            shown = [Ours(one, form, alone=one.place.metric != "mae") for one, form in cells]
            rows.append([style.activation_label(activation_of(line.place)), *shown])
        return Table(title, header, rows)

    def _ranked(self, lines: Sequence[Line]) -> list[Line]:
        """The lines with the ranks of the activations, in their order."""
        ranks = [line for line in lines if (line.place.split, line.place.metric) == ("outside", "rank")]
        return sorted(ranks, key=lambda line: line.ours.value)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """Mean absolute error against x with its 95 % band, one line an activation, the training range shaded."""
        drawn = _bands(measured)
        ranked = [activation_of(line.place) for line in self._ranked(lines)]
        names = [name for name in ranked if name in set(drawn["activation"])]
        missing = ", ".join(style.activation_label(name) for name in ranked if name not in names)
        figure, axes = style.new_figure(7.0, 4.4)
        axis, (low, high) = axes[0][0], self.report.ranges["inside"]
        x = measured.predictions["target"]
        axis.axvspan(low, high, color="#dddddd", alpha=0.6, linewidth=0)
        ends = {}
        for number, name in enumerate(names):
            line = drawn[drawn["activation"] == name]
            look = {"color": style.gradient(number / len(names)), "linestyle": LINES[number % len(LINES)]}
            axis.plot(line["x"], line["mae"], linewidth=1.4, **look)
            axis.fill_between(line["x"], line["low"], line["high"], color=look["color"], alpha=0.2, linewidth=0)
            ends[name] = (float(line["mae"].iloc[-1]), look)
        told = f"   (without a finite prediction: {missing})" if missing else ""
        axis.set(xlabel=f"Input x{told}", ylabel="Mean absolute error", xlim=(x.min(), x.max()))
        axis.set_ylim(0, 1.03 * drawn["mae"].max() if names else 1)
        axis.set_xticks(sorted({x.min(), low, 0, high, x.max()}))
        axis.text((low + high) / 2, 0.99 * axis.get_ylim()[1], "trained here", ha="center", va="top", fontsize=8)
        _label_ends(axis, ends)
        return figure, drawn


def _chosen(x: "pd.Series[float]", name: str, ranges: Mapping[str, Sequence[float]]) -> "pd.Series[bool]":
    """Whether each x belongs to the range called `name`."""
    low, high = ranges[name]
    start, end = ranges["inside"]
    outside = (x < start) | (x > end)
    return (x >= low) & (x <= high) & (outside | (name == "inside"))


def _mean_or_worst(errors: Array) -> float:
    """The mean; infinite if no run has a finite prediction."""
    return float(errors.mean()) if errors.size else math.inf


def activation_of(place: Place) -> str:
    """The activation of a cell."""
    return place.setting["activation"]


def _bands(measured: Measured) -> pd.DataFrame:
    """The mean absolute error of every activation at every x, with Student's interval over its finite seeds, if any."""
    frames = []
    for place, runs in by_cell(measured.runs):
        mine = measured.predictions[measured.predictions["cell"] == runs["cell"].iloc[0]]
        error = (mine["prediction"].astype(float) - mine["target"]).abs()
        found = error[np.isfinite(error)].groupby(mine["target"]).agg(["mean", "std", "count"])
        if found.empty:
            continue
        limits = [student_interval(mean, spread, int(count)) for mean, spread, count in found.to_numpy()]
        low, high = np.array(limits).T
        frames.append(pd.DataFrame({"x": found.index, "mae": found["mean"].to_numpy(), "low": low, "high": high}))
        frames[-1].insert(0, "activation", activation_of(place))
    return pd.concat(frames or [pd.DataFrame(columns=["activation", "x", "mae", "low", "high"])], ignore_index=True)


def _label_ends(axis: "style.Axes", ends: dict[str, tuple[float, dict[str, Any]]]) -> None:
    """Write names at the right ends of the lines, moved apart where they would touch."""
    bottom, top = axis.get_ylim()
    gap = (top - bottom) / 24
    order = sorted(ends, key=lambda name: ends[name][0])
    places = np.array([ends[name][0] for name in order])
    shifts = gap * np.arange(len(places))
    places = np.maximum.accumulate(places - shifts) + shifts
    places -= places.max(initial=top) - top  # the highest stays inside
    right = axis.get_xlim()[1]
    for name, place in zip(order, places, strict=True):
        end, look = ends[name]
        axis.annotate(
            style.activation_label(name), (right, end), xytext=(1.05, (place - bottom) / (top - bottom)),
            textcoords="axes fraction", va="center", fontsize=8, color=look["color"], annotation_clip=False,
            arrowprops={"arrowstyle": "-", "linewidth": 0.8, "relpos": (0, 0.5), **look},
        )  # fmt: skip
