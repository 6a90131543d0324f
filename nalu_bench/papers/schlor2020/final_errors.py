"""Success and final errors in interpolation and extrapolation, as in the results of Schlör, Ring & Hotho 2020."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.heat_map import heat_maps
from nalu_bench.analysis.reports.criterion import ByCriterion
from nalu_bench.analysis.reports.kind import Kind, Settings, rate_row, row_of
from nalu_bench.analysis.reports.rate_claims import RateClaim, claim_rows
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.stats.verdicts import not_comparable
from nalu_bench.analysis.table.claim import CLAIM
from nalu_bench.analysis.table.claims import claims_table, parted
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.formats import percent, three_digits
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Shown, Table, Theirs, ours
from nalu_bench.analysis.table.line import Line, Row, Value, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.registry import register

SPLITS = {"validation": "Interpolation", "extrapolation": "Extrapolation"}

RATE, ERRORS = "success_rate", {"mse_median": "median", "mse_min": "smallest"}

SHARED = "an error depends on the examples of the test, which our seeds share: their spread leaves that out"
"""Why no error is compared."""


@dataclass
class FinalErrorsSettings(Settings):
    """See `FinalErrors`."""

    criterion: str
    columns: str
    headings: dict[str, str] = field(default_factory=dict)
    claims: dict[str, RateClaim] = field(default_factory=dict)


@register("final_errors", version=1)
class FinalErrors(ByCriterion):
    """Rows are cells. Interpolation and extrapolation have success rates side by side, and errors in a second table.

    * success rate: the share of seeds whose final mean squared error is below the task's threshold, with Wilson's
      interval, compared with the printed one by Newcombe's;
    * errors: the median over seeds, with its bootstrap interval, and the smallest. The printed ones stand beside them
      and are not compared: an error depends on the examples of the test, which all our seeds share.
      A run without a finite error counts as infinitely bad.

    The figure has a heat map of success for each split, and each operation if the columns are not operations. Printed
    shares stand below ours, or beside ours if the columns are operations.

    Settings: `criterion`, the task's threshold; `columns`, the word by which the columns of the heat maps differ:
    operation, or a word of the setting such as range; `headings`, settings such as `loss=mse`, and the words for them,
    empty for none; `claims`, see `RateClaim`, on what is solved in interpolation.
    """

    apart: ClassVar[tuple[str, ...]] = ("operation", "setting", "model")
    settings = FinalErrorsSettings
    report: FinalErrorsSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {
        RATE: (0, 1), **dict.fromkeys(ERRORS, (0, math.inf)), f"{CLAIM}*": None
    }  # fmt: skip
    named: ClassVar[Mapping[str, str]] = dict(Kind.named) | {
        "mse_median": "Mean squared error, median of the seeds",
        "mse_min": "Mean squared error, the best seed",
        "validation": "interpolation",
    }

    def needs(self) -> Sequence[str]:
        return [f"{split}_mse" for split in SPLITS]

    def rows(self, measured: Measured) -> list[Row]:
        found, inside = list[Row](), list[tuple[Place, pd.DataFrame]]()
        for place, runs in by_cell(measured.runs):
            limit = measured.manifest["cells"][runs["cell"].iloc[0]]["criteria"]["threshold"]
            for split in SPLITS:
                found += self._rows(place.at(split=split), runs, limit)
            inside.append((place, runs.assign(solved=_errors(runs, "validation") < limit)))
        return [*found, *claim_rows(self.report.claims, inside, "validation")]

    def _rows(self, place: Place, runs: pd.DataFrame, limit: float) -> Iterator[Row]:
        errors = _errors(runs, place.split)
        yield rate_row(self.experiment, place.at(metric=RATE), int((errors < limit).sum()), runs)
        for metric, found in {"mse_median": medians.median_of(errors), "mse_min": (float(errors.min()),)}.items():
            yield row_of(place.at(metric=metric), Value(*found), runs, compare=lambda _: not_comparable(SHARED))

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        about = self.experiment.heading
        claims, lines = parted(lines)
        shares, errors = ["Operation", "Setting", "Model"], ["Operation", "Setting", "Model"]
        for split in SPLITS.values():
            shares += [split, "printed", "verdict"]
            errors += [f"{split}, {name}{more}" for name in ERRORS.values() for more in ("", ", printed")]
        cells = grouped(lines, lambda line: line.place.cell())
        of_shares = [[*self._names(place), *_shares(mine)] for place, mine in cells.items()]
        of_errors = [[*self._names(place), *_both_errors(mine)] for place, mine in cells.items()]
        return [
            *claims_table(self.experiment.title, claims, lambda line: self._names(line.place)[0], lambda _: percent),
            Table(f"Success. {about}", shares, of_shares),
            Table(f"Final errors. {about}", errors, of_errors),
        ]

    def _names(self, place: Place) -> list[str]:
        setting = ", ".join(filter(None, place.setting.in_words(self.report.headings)))
        return [style.operation_label(place.task, place.operation), setting, style.label(place.model)]

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """Heat maps of the success rates, ours above the printed ones."""
        rates = [line for line in lines if line.place.metric == RATE]
        maps = {
            heading: pd.DataFrame(shares).T for heading, shares in self._maps(rates).items()
        }  # a row for each model and setting, a column for each value of `columns`
        return heat_maps(maps, "Share of seeds with a final error below the threshold"), frame(rates)

    def _maps(self, rates: Sequence[Line]) -> dict[str, dict[str, dict[str, float]]]:
        """Heading -> row -> column -> share."""
        by, maps = self.report.columns, dict[str, dict[str, dict[str, float]]]()
        several = len({line.place.model for line in rates}) > 1
        for line in rates:
            place = line.place
            operation = style.operation_label(place.task, place.operation)
            column = operation if by == "operation" else place.setting.get(by, "")
            heading = ", ".join([SPLITS[place.split], *([] if by == "operation" else [operation])])
            words = place.setting.in_words(self.report.headings, but=by)
            name = ", ".join(filter(None, [style.label(place.model) if several else "", *words]))
            rows = maps.setdefault(heading, {})
            rows.setdefault(name, {})[column] = line.ours.value
            if line.printed and line.printed.text:
                row, beside = (name, f"{column}, printed") if by == "operation" else (f"{name}, printed", column)
                rows.setdefault(row, {})[beside] = line.printed.number()
        return maps


def _shares(lines: Sequence[Line]) -> Iterator[Shown]:
    for split in SPLITS:
        line = _of(lines, split, RATE)
        told = line is not None and line.printed is not None
        yield ours(line, percent)
        yield Theirs(line, percent, alone=True) if line and told else EMPTY
        yield Judged(line) if line and told else EMPTY


def _errors(runs: pd.DataFrame, split: str) -> medians.Array:
    """The final errors of runs; infinite where a run has none."""
    column = f"{split}_mse"
    return medians.finite_or_worst(runs[column] if column in runs else pd.Series(math.nan, runs.index))


def _both_errors(lines: Sequence[Line]) -> Iterator[Shown]:
    for split in SPLITS:
        for metric in ERRORS:
            line = _of(lines, split, metric)
            yield Ours(line, three_digits, alone=metric == "mse_min") if line else EMPTY
            yield Theirs(line, three_digits, alone=True) if line and line.printed_text else EMPTY


def _of(lines: Sequence[Line], split: str, metric: str) -> Line | None:
    found = [line for line in lines if (line.place.split, line.place.metric) == (split, metric)]
    return found[0] if found else None
