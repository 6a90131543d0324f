"""Table 2 of an invented paper: models side by side, and what the text says of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings, against_printed, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.table.claim import CLAIM, Claim, furthest_from_true
from nalu_bench.analysis.table.claims import claims_table, parted
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.formats import three_digits
from nalu_bench.analysis.table.layout import Ours, Table, Theirs
from nalu_bench.analysis.table.line import Line, Row, Value
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class OrderedSettings(Settings):
    """See `Ordered`."""

    small: float


@register("ordered", version=1)
class Ordered(Kind):
    """Columns are models: the median over seeds of the squared error outside, with its bootstrap interval.

    The claim that every model is good holds if all medians are at most `small`. Source: My paper 2026, Table 2.
    """

    settings = OrderedSettings
    report: OrderedSettings
    shows_notes = True

    def rows(self, measured: Measured) -> list[Row]:
        rows, claims, place = [], [], None
        for place, runs in by_cell(measured.runs):
            errors = medians.finite_or_worst(runs["extrapolation_mse"])
            median, quantity = partial(medians.exact_of, errors), f"error of {style.label(place.model)}"
            rows.append(row_of(place.at(metric="error"), Value(*median()), runs, compare=against_printed(errors)))
            claims.append(Claim.estimated(quantity, median, self.report.small, above=False))
        assert place is not None
        return [*rows, furthest_from_true(claims).row(place.at(model="", metric=f"{CLAIM}good"), [measured.runs])]

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        claims, errors = parted([line for line in lines if line.n_seeds])
        shown = [["ours", *(Ours(line, three_digits) for line in errors)], ["printed", *map(Theirs, errors)]]
        return [
            Table(self.experiment.title, ["", *(style.label(line.place.model) for line in errors)], shown),
            *claims_table(self.experiment.title, claims, under=lambda _: ""),
        ]

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[Figure, pd.DataFrame]":
        figure, axes = style.new_figure(3.0, 2.4)
        for line in lines:
            if line.place.model:
                axes[0][0].plot([style.label(line.place.model)], [line.ours.value], "o")
        return figure, frame(lines)
