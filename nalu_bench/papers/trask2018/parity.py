"""Shares of right counts of one network with several last layers, as in Table 4 of Trask et al. 2018."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings, against_printed, at_full_length, row_of
from nalu_bench.analysis.stats.intervals import student_mean
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.stats.words import Better
from nalu_bench.analysis.table.claim import CLAIM, Claim, Limit
from nalu_bench.analysis.table.claims import claims_table, parted
from nalu_bench.analysis.table.formats import one_decimal
from nalu_bench.analysis.table.layout import Judged, Ours, Shown, Table, Theirs
from nalu_bench.analysis.table.line import Line, Row, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.registry import register

ACCURACY, RIGHT = "accuracy", "test_correct"
SHARES: Span = (0, 100)
FEWEST = 2
"""Seeds that both sides of a difference must have."""


@dataclass
class Contrast(Limit):
    """A claim on a difference of accuracies, in points: the mean of some models less the mean of others.

    Attributes:
        of, than: their names. relative: whether it is the share of the error of `than` that is gone, in percent.
    """

    of: list[str]
    than: list[str]
    relative: bool = False

    def check(self, name: str) -> None:
        """Raise UsageError for a claim without one limit, and for one that is not on two sides."""
        super().check(name)
        if not (self.of and self.than):
            raise UsageError(f"the claim {name} must name models in of and in than.")

    def names(self) -> Iterator[tuple[str, str]]:
        return (("model", model) for model in (*self.of, *self.than))


@dataclass
class ParitySettings(Settings):
    """See `Parity`."""

    claims: dict[str, Contrast] = field(default_factory=dict)


@register("parity", version=1)
class Parity(Kind):
    """Rows are last layers: the share of test canvases whose count is right, in percent.

        ours       mean over seeds with Student's interval
        contrast   mean over seeds of  mean_of a - mean_than a,  or of  100 (1 - (100 - a_of) / (100 - a_than))

    A printed accuracy is that of one network, and is held against the range of our seeds, see `ranges.compare_single`.
    A contrast is paired: networks with one seed have the same canvases in the same order, and the same convolutions at
    the start.

    Source: Trask et al. 2018, Table 4. Settings: `claims`, {name: {of, than, relative, at_least or at_most}}.
    """

    apart = ("model",)
    settings = ParitySettings
    report: ParitySettings
    metrics: ClassVar[Mapping[str, Span | None]] = {ACCURACY: SHARES, f"{CLAIM}*": None}
    named: ClassVar[Mapping[str, str]] = {ACCURACY: "Canvases counted right, %"}

    def needs(self) -> Sequence[str]:
        return (RIGHT,)

    def rows(self, measured: Measured) -> list[Row]:
        cells = list(by_cell(measured.runs))
        rows = [self._row(place.at(split="test", metric=ACCURACY), runs) for place, runs in cells]
        seeds = {place.model: _by_seed(runs) for place, runs in cells}
        behind = [runs for _, runs in cells]
        place = Place(cells[0][0].task) if cells else Place()
        claims = [
            _claim(contrast, seeds).row(place.at(split="test", metric=f"{CLAIM}{name}"), behind)
            for name, contrast in self.report.claims.items()
        ]
        return [*claims, *rows]

    def _row(self, place: Place, runs: pd.DataFrame) -> Row:
        shares = 100 * runs[RIGHT].fillna(0).to_numpy(np.float64)
        value = Value(*student_mean(shares, span=SHARES))
        compare = at_full_length(self.experiment, runs, against_printed(shares, SHARES, Better.HIGHER))
        return row_of(place, value, runs, compare=compare)

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        claims, numbers = parted(lines)
        rows: list[list[Shown]] = [
            [style.label(line.place.model), Ours(line, one_decimal), Theirs(line), Judged(line)] for line in numbers
        ]
        header = ["Last layer", "ours, mean [95 %]", "printed", "verdict"]
        title = f"{self.experiment.title} ({self.experiment.source})"
        return [*claims_table(self.experiment.title, claims, lambda _: ""), Table(title, header, rows)]

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """Every seed, the mean with its interval, and the printed accuracy as a black diamond."""
        _, numbers = parted(lines)
        seeds = {place.model: _by_seed(runs) for place, runs in by_cell(measured.runs)}
        figure, axes = style.new_figure(6.4, 0.9 + 0.32 * len(numbers))
        axis, drawn = axes[0][0], []
        for place, line in enumerate(numbers):
            found = seeds[line.place.model].to_numpy()
            axis.plot(found, [place] * len(found), "|", color="#0072B2", markersize=9, label="one seed")
            axis.plot(line.ours.value, place, "o", color="#0072B2", markersize=5, label="mean")
            axis.plot([line.ours.low, line.ours.high], [place] * 2, color="#0072B2", linewidth=1)
            printed = line.printed.number() if line.printed else np.nan
            axis.plot(printed, place, "d", color="black", fillstyle="none", markersize=6, label="printed")
            drawn.append({"model": line.place.model, "mean": line.ours.value, "low": line.ours.low,
                          "high": line.ours.high, "printed": printed})  # fmt: skip
        axis.set_yticks(range(len(numbers)), [style.label(line.place.model) for line in numbers])
        axis.invert_yaxis()
        axis.set_xlabel("right counts, % of test canvases")
        style.legend(figure, style.entries(axis), columns=3, place=style.ABOVE)
        return figure, pd.DataFrame(drawn)


def _by_seed(runs: pd.DataFrame) -> "pd.Series[float]":
    """Seed -> its accuracy in percent; 0 for a network without finite predictions."""
    return 100 * runs.set_index("seed")[RIGHT].astype(float).fillna(0)


def _claim(contrast: Contrast, seeds: "Mapping[str, pd.Series[float]]") -> Claim:
    """The claim on a contrast, over the seeds that all of its models have."""
    sides = [pd.DataFrame({model: seeds[model] for model in names if model in seeds}).dropna()
             for names in (contrast.of, contrast.than)]  # fmt: skip
    both = sides[0].index.intersection(sides[1].index)
    missing = [model for model in (*contrast.of, *contrast.than) if model not in seeds]
    if missing or len(both) < FEWEST:
        return Claim.missing(f"fewer than {FEWEST} seeds that all of its models have")
    of, than = (side.loc[both].mean(axis=1).to_numpy() for side in sides)
    found: Array = 100 * (1 - (100 - of) / np.maximum(100 - than, 1e-9)) if contrast.relative else of - than
    what = "share of the error that is gone, in percent" if contrast.relative else "difference of accuracies, in points"
    names = [", ".join(map(style.label, models)) for models in (contrast.of, contrast.than)]
    limit, above = contrast.limit
    return Claim.estimated(f"{what}: {names[0]} against {names[1]}", partial(student_mean, found), limit, above)
