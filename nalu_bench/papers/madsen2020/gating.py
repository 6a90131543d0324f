"""Where gates end: beside success, the share of seeds whose gate chose the right path, and a histogram of all gates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import rate_row
from nalu_bench.analysis.reports.rate_claims import share
from nalu_bench.analysis.reports.success import Success, SuccessSettings
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.table.claim import CLAIM, Claim, Limit
from nalu_bench.analysis.table.formats import Format, percent
from nalu_bench.analysis.table.line import Line, Row
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import unknown
from nalu_bench.registry import register

RIGHT = "right_gate"

ADDS = {"add": 1.0, "sub": 1.0, "mul": 0.0, "div": 0.0}
"""Operation -> the gate that chooses its path: 1 adds, 0 multiplies."""

BINS = 25
"""Of the printed histogram: centred on 0, 1/24, ..., 1."""


@dataclass
class GatingSettings(SuccessSettings):
    """See `Gating`."""

    gate: str = field(kw_only=True)
    consistent: Limit = field(kw_only=True)


@register("gating", version=1)
class Gating(Success):
    """`success` for models with a gate, with a column for the share of seeds whose gate chose the right path.

    The gate of a run is its mean over the validation examples at the selected step; right is above 1/2 for sums and
    differences, below for products and quotients. The figure is a histogram of the gates, solved and unsolved seeds
    apart, beside the printed one.

    Source: Madsen & Johansen 2020, appendix, gating; the claim: their slides, analysis of issues. Deviations: none.

    Settings, beyond those of `success`: `gate`, the name of the gate, such as layers.1.g; `consistent`, the limit of
    the share of right gates by which the claim is tested.
    """

    settings = GatingSettings
    of_failures = False
    report: GatingSettings
    metrics: ClassVar[Mapping[str, Span | None]] = dict(Success.metrics) | {RIGHT: (0, 1)}

    def columns(self) -> dict[str, tuple[str, Format]]:
        return super().columns() | {RIGHT: ("Gate on the right side", percent)}

    def rows(self, measured: Measured) -> list[Row]:
        gated = self.gates(measured)
        rows = super().rows(measured)
        for place, runs in by_cell(gated[gated["operation"].isin(ADDS)]):
            right = (runs["gate"] > 0.5) == (ADDS[place.operation] > 0.5)
            count = int((right & runs["gate"].notna()).sum())
            rows.append(rate_row(self.experiment, place.at(split=self.report.split, metric=RIGHT), count, runs))
            rows.append(self._claim(place, runs, count))
        return rows

    def _claim(self, place: Place, runs: pd.DataFrame, count: int) -> Row:
        quantity = f"share of seeds whose gate is on the right side, {style.label(place.model)}"
        return Claim.estimated(quantity, partial(share, [(count, len(runs))]), *self.report.consistent.limit).row(
            place.at(split=self.report.split, metric=f"{CLAIM}{RIGHT}"), [runs]
        )

    def gates(self, measured: Measured) -> pd.DataFrame:
        """The runs with their mean gate; nan where none is kept, as of a run that failed."""
        kept = measured.weights[measured.weights["name"] == self.report.gate]
        if kept.empty and len(measured.weights):
            names = {*measured.weights["name"]}
            raise unknown(f"gate in the report of {self.experiment.name}", self.report.gate, names)
        means = kept.assign(gate=[float(np.mean(values)) for values in kept["values"]])[["cell", "seed", "gate"]]
        return measured.runs.merge(means, on=["cell", "seed"], how="left")

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """Counts of seeds by gate, a row of panels for each operation; the printed counts are outlined."""
        drawn = pd.concat([_counts(place, runs) for place, runs in by_cell(self.gates(measured))], ignore_index=True)
        printed = self._printed()
        operations, models = (list(dict.fromkeys(drawn[name])) for name in ("operation", "model"))
        figure, axes = style.new_figure(
            1.9 * len(models) + 0.7, 1.6 * len(operations) + 0.7, len(operations), len(models), sharex=True, sharey=True
        )
        for line, operation in zip(axes, operations, strict=True):
            for axis, model in zip(line, models, strict=True):
                _draw(axis, *(_of(rows, operation, model) for rows in (drawn, printed)))
                axis.set_title(f"{style.label(model)}, {style.operation_label('arithmetic', operation)}", fontsize=8)
        axes[0][-1].legend(fontsize=6)
        figure.supxlabel("mean gate at the selected step: 0 multiplies, 1 adds", fontsize=9)
        figure.supylabel("share of seeds", fontsize=9)
        return figure, drawn

    def _printed(self) -> pd.DataFrame:
        """The printed histogram beside the experiment, if there is one; rows as those of `_counts`."""
        path = self.experiment.folder / f"{self.experiment.artifact}.histogram.csv"
        columns = ["operation", "model", "bin", "solved", "count", "n_seeds"]
        return pd.read_csv(path) if path.exists() else pd.DataFrame(columns=columns)


def _counts(place: Place, runs: pd.DataFrame) -> pd.DataFrame:
    """Seeds of a cell by bin and whether they are solved: operation, model, bin, solved, count, n_seeds (of all)."""
    known = runs[runs["gate"].notna()]
    bins = np.rint(known["gate"].to_numpy(float) * (BINS - 1)).astype(int)
    solved = known["solved"].astype("boolean").fillna(False).astype(bool).to_numpy()
    found = pd.DataFrame({"bin": bins, "solved": solved}).value_counts(sort=False)
    every = pd.MultiIndex.from_product([range(BINS), [False, True]], names=["bin", "solved"])
    ordered = found.reindex(every, fill_value=0).rename("count").reset_index()
    return ordered.assign(operation=place.operation, model=place.model, n_seeds=len(runs))


def _of(rows: pd.DataFrame, operation: str, model: str) -> pd.DataFrame:
    return rows[(rows["operation"] == operation) & (rows["model"] == model)]


def _draw(axis: Any, ours: pd.DataFrame, printed: pd.DataFrame) -> None:
    width = 1 / (BINS - 1)
    colors = {True: "#0072B2", False: "#D55E00"}
    below = np.zeros(BINS)
    for solved, color in colors.items():
        heights = _heights(ours[ours["solved"] == solved])
        told = "solved" if solved else "not solved"
        axis.bar(np.arange(BINS) * width, heights, width, bottom=below, color=color, label=told)
        below = below + heights
    if len(printed):
        axis.stairs(_heights(printed), (np.arange(BINS + 1) - 0.5) * width, color="black", lw=0.8, label="printed, all")
    axis.set_ylim(0, 1)


def _heights(rows: pd.DataFrame) -> Any:
    heights = np.zeros(BINS)
    for bin_, count, total in rows[["bin", "count", "n_seeds"]].itertuples(index=False, name=None):
        heights[int(bin_)] += count / total
    return heights
