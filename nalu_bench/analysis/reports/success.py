"""Success rate, speed of convergence and sparsity, as in the tables of Madsen & Johansen 2020."""

import functools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.measure.solved import passing, solved_ones
from nalu_bench.analysis.printed.seeds import read_seeds
from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.solved_curves import solved_by_step
from nalu_bench.analysis.reports.criterion import ByCriterion
from nalu_bench.analysis.reports.kind import Kind, Settings, against_rate, at_full_length, row_of
from nalu_bench.analysis.reports.rate_claims import RateClaim, claim_rows
from nalu_bench.analysis.stats.compare import compare_medians, compare_rates
from nalu_bench.analysis.stats.intervals import (
    beta_mean_interval,
    gamma_mean_interval,
    likelihood_note,
    median_interval,
    range_note,
    student_mean,
    wilson_interval,
)
from nalu_bench.analysis.stats.ranges import ERRORS, Span
from nalu_bench.analysis.stats.samples import compare_times, compare_values, paired
from nalu_bench.analysis.stats.verdicts import Comparison, not_comparable, same_seeds
from nalu_bench.analysis.table.claim import CLAIM
from nalu_bench.analysis.table.claims import claims_table, parted
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.formats import Format, percent, scientific, steps
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Shown, Table, Theirs
from nalu_bench.analysis.table.line import Line, Printed, Row, Value, by_metric, grouped
from nalu_bench.analysis.table.place import RECOMPUTED, Place
from nalu_bench.errors import unknown
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

METRICS: dict[str, tuple[str, Format]] = {
    "success_rate": ("Success rate", percent),
    "solved_at_median": ("Solved at step, median", steps),
    "solved_at_mean": ("Solved at step, mean", steps),
    "sparsity_error_mean": ("Sparsity error, mean", scientific),
}

BELOW = "share_below_"
"""Start of the names of further metrics: the share of all runs whose error is below a limit."""

ORDERED, AXES = ("operation", "model"), ("linear", "log")

SAMPLES = {"solved_at_mean": "solved_at", "sparsity_error_mean": "sparsity_error"}
"""Metric -> the column of the runs that it is the mean of."""


@dataclass
class SuccessSettings(Settings):
    """See `Success`."""

    criterion: str
    not_comparable: dict[str, str] = field(default_factory=dict)
    layout: dict[str, list[str]] = field(default_factory=dict)
    step_axis: str = "linear"
    below: dict[str, float] = field(default_factory=dict)
    same_seeds: dict[str, str] = field(default_factory=dict)
    claims: dict[str, RateClaim] = field(default_factory=dict)
    split: str = field(default="extrapolation", kw_only=True)


@register("success", version=1)
class Success(ByCriterion):
    """Rows are models, or a model and a setting; columns are the four statistics over seeds.

    * success rate: solved seeds over seeds asked for, Wilson interval;
    * solved at step: median with a bootstrap interval, mean of a gamma distribution with its profile interval,
      over solved seeds;
    * sparsity error: mean of a beta distribution on [0, 1/2] with its profile interval, over solved seeds, at the
      selected step.

    If a printed mean is known to be miscomputed and its recomputed value is known (see `recomputed.py`), a row
    `<metric>_recomputed` holds our plain sample mean with its Student interval against it. Where every seed of the
    source is known (see `seeds.py`), this row compares the samples: solved steps by the log-rank test with unsolved
    seeds censored, sparsity errors of solved seeds by the Mann-Whitney test.

    Settings: `criterion`, the task's threshold to use; `not_comparable`, metric -> reason, declared beforehand;
    `layout`, the order of `operation` and `model` in tables and figures; `step_axis`, linear (default) or log; `below`,
    column of the runs -> limit, such as {extrapolation_mse: 1.0e-6}: the share of runs below this limit at the selected
    step has a column of its own, as `share_below_1e-06`; `same_seeds`, the words of the setting, such as {streams:
    stable_nalu}, by which a cell has the source's own seeds: its numbers have the verdict `same seeds`; `claims`, see
    `RateClaim`; `split`, the one that judges the tasks, extrapolation by default.
    """

    apart: ClassVar[tuple[str, ...]] = ("operation", "setting", "model")
    settings: type[Settings] = SuccessSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {
        "success_rate": (0, 1), "solved_at_median": (0, math.inf), "solved_at_mean": (0, math.inf),
        "sparsity_error_mean": (0, math.inf), BELOW + "*": (0, 1), CLAIM + "*": None,
    }  # fmt: skip

    named: ClassVar[Mapping[str, str]] = dict(Kind.named) | {
        "solved_at_median": "Step at which a seed is solved, median of the solved",
        "solved_at_mean": "Step at which a seed is solved, mean of the solved",
        "sparsity_error_mean": "Sparsity error, mean of the solved seeds",
    }

    report: SuccessSettings
    of_failures = True

    @property
    def further(self) -> dict[str, tuple[str, float]]:
        """Metric -> column and limit of the shares that the settings ask for."""
        return {f"{BELOW}{limit:g}": (column, limit) for column, limit in self.report.below.items()}

    @functools.cached_property
    def seeds(self) -> dict[Place, pd.DataFrame]:
        """The seeds of the source, cell by cell, if they are published."""
        return read_seeds(self.experiment.seeds)

    def needs(self) -> Sequence[str]:
        return [*self.report.below]

    def check(self, cells: Sequence[Wanted]) -> None:
        for word in self.report.layout:
            if word not in ORDERED:
                raise unknown(f"word of layout in the report of {self.experiment.name}", word, ORDERED)
        if self.report.step_axis not in AXES:
            raise unknown(f"step_axis in the report of {self.experiment.name}", self.report.step_axis, AXES)
        super().check(cells)

    def check_printed(self, everything: Sequence[Wanted]) -> None:
        super().check_printed(everything)
        where, known = f"in the report of {self.experiment.name}", self.words(everything)
        for column, word in ((column, word) for column, order in self.report.layout.items() for word in order):
            if word not in known[column]:
                raise unknown(f"{column} of layout {where}", word, known[column])
        for metric in self.report.not_comparable:
            if not any(fnmatchcase(metric, pattern) for pattern in self.metrics):
                raise unknown(f"metric of not_comparable {where}", metric, self.metrics)

    def rows(self, measured: Measured) -> list[Row]:
        cells = sorted(by_cell(_complete(measured.runs)), key=lambda cell: self._rank(cell[0]))
        rows = [row for place, runs in cells for row in self._rows(place, runs)]
        return [*rows, *claim_rows(self.report.claims, cells, self.report.split)]

    def _rows(self, place: Place, runs: pd.DataFrame) -> list[Row]:
        solved = runs[runs["solved"]]
        at = solved["solved_at"].to_numpy(float)
        sparsity, clipped = _quietly(partial(beta_mean_interval, solved["sparsity_error"].dropna().to_numpy(float)))
        statistics = {
            "success_rate": (len(solved) / len(runs), *wilson_interval(len(solved), len(runs))),
            "solved_at_median": median_interval(at),
            "solved_at_mean": gamma_mean_interval(at),
            "sparsity_error_mean": sparsity,
        }
        for metric, column in SAMPLES.items():
            if any(other.metric == metric + RECOMPUTED for other in self.published):
                statistics[metric + RECOMPUTED] = student_mean(solved[column].to_numpy(float), span=ERRORS)
        for metric, limit in self.further.items():
            below = int(passing(runs, *limit).sum())
            statistics[metric] = (below / len(runs), *wilson_interval(below, len(runs)))
        few = likelihood_note(len(at), len(runs))
        notes = {
            "solved_at_median": range_note(len(at), len(runs)), "solved_at_mean": few,
            "sparsity_error_mean": "; ".join(filter(None, [clipped, few])),
        }  # fmt: skip
        return [
            row_of(place.at(split=self.report.split, metric=metric), Value(*values), runs, notes.get(metric, ""),
                compare=at_full_length(self.experiment, runs, partial(self._compare, place, metric, runs)))
            for metric, values in statistics.items()
        ]  # fmt: skip

    def _compare(self, place: Place, metric: str, runs: pd.DataFrame, printed: Printed) -> Comparison:
        """Our runs against one printed number, or the reason why they are not compared."""
        if self.report.same_seeds and self.report.same_seeds.items() <= place.setting.items():
            return self._on_same_seeds(place, metric, runs)
        if metric in self.report.not_comparable:
            return not_comparable(self.report.not_comparable[metric])
        if metric in self.further and printed.n_seeds:
            return against_rate(int(passing(runs, *self.further[metric]).sum()), len(runs))(printed)
        if metric.endswith(RECOMPUTED):
            behind = self.seeds.get(place)
            if behind is None:
                return not_comparable("not every seed of the source is known")
            return _compare_samples(metric, runs, behind)
        solved = runs[runs["solved"]]
        rate = self.published.get(place.at(split=self.report.split, metric="success_rate"))
        if rate is None or not rate.text or not printed.n_seeds:
            missing = "number of seeds" if rate and rate.text else "success rate"
            return not_comparable(f"no {missing} is printed, so the number of solved seeds is not known")
        printed_solved = round(rate.number() * printed.n_seeds)
        if metric == "success_rate":
            return compare_rates(len(solved), len(runs), printed_solved, printed.n_seeds)
        if metric == "solved_at_median":
            at = solved["solved_at"].to_numpy(float)
            return compare_medians(at, printed.number(), printed_solved, int(runs["log_every"].iloc[0]))
        return not_comparable("an interval of a mean is not held against a printed one")

    def _on_same_seeds(self, place: Place, metric: str, runs: pd.DataFrame) -> Comparison:
        """What our runs on the source's own seeds show: outcomes in pairs, where every seed of the source is known."""
        others = {word: value for word, value in place.setting.items() if word not in self.report.same_seeds}
        theirs = self.seeds.get(place.at(setting=Setting(others)))
        if theirs is None or metric != "success_rate":
            return same_seeds("ours are trained on the seeds behind the printed number")
        both = runs.merge(theirs, on="seed", suffixes=("", "_theirs"))
        return same_seeds("", paired(both["solved"].to_numpy(bool), both["solved_at_theirs"].notna().to_numpy()))

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        claims, lines = parted(self._in_order(lines))
        several = len({line.place.operation for line in lines}) > 1
        columns = self.columns()
        compared, rows = any(line.printed_text for line in lines), list[list[Shown]]()
        for operation, part in grouped(lines, lambda line: line.place.operation).items():
            above = [style.operation_label(part[0].place.task, operation)] if several else []
            for cell, group in grouped(part, lambda line: line.place.cell()).items():
                names = [*above, ", ".join(filter(None, [style.label(cell.model), str(cell.setting)]))]
                for texts in _texts(by_metric(group), columns, compared):
                    rows.append([*names, *texts])
                    names = [""] * len(names)
                above = [""] * len(above)
        header = [*(["Operation"] if several else []), "Model", "", *(name for name, _ in columns.values())]
        said = claims_table(self.experiment.title, claims, _under, lambda _: percent)
        return [*said, Table(self.experiment.heading, header, rows)]

    def columns(self) -> dict[str, tuple[str, Format]]:
        """Metric -> its column in the table, and its format."""
        return METRICS | {metric: (f"Error below {limit:g}", percent) for metric, (_, limit) in self.further.items()}

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """Share of seeds solved by each step, one panel an operation."""
        return solved_by_step(_complete(measured.runs), frame(parted(self._in_order(lines))[1]), self.report.step_axis)

    def _in_order(self, lines: Sequence[Line]) -> list[Line]:
        """The lines in the order of `layout`."""
        return sorted(lines, key=lambda line: self._rank(line.place))

    def _rank(self, place: Place) -> list[int]:
        """Where a place stands in the order of `layout`; words that are not in it come last."""
        words = place.words()
        return [
            order.index(words[name]) if words[name] in order else len(order)
            for name, order in self.report.layout.items()
        ]


def _under(claim: Line) -> str:
    """The words of which a test of a claim is one."""
    place = claim.place
    operation = style.operation_label(place.task, place.operation) if place.operation else ""
    return ", ".join(filter(None, [operation, place.setting.told()]))


def _complete(runs: pd.DataFrame) -> pd.DataFrame:
    """Fill in missing facts: a run that failed has none and is not solved."""
    missing = {name: np.nan for name in ("solved_at", "sparsity_error") if name not in runs}
    return runs.assign(**missing, solved=solved_ones(runs))


def _quietly(statistic: Callable[[], tuple[float, float, float]]) -> tuple[tuple[float, float, float], str]:
    """A statistic, and its warnings as text for the note."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = statistic()
    return values, "; ".join(sorted({str(warning.message) for warning in caught}))


def _compare_samples(metric: str, runs: pd.DataFrame, theirs: pd.DataFrame) -> Comparison:
    """Compare the seeds behind our mean with those behind the recomputed one."""
    ours, column = runs[runs["solved"]], SAMPLES[metric.removesuffix(RECOMPUTED)]
    if column == "solved_at":
        ends = float(runs["steps"].iloc[0]), float(theirs["steps"].iloc[0])
        return compare_times(runs[column].to_numpy(float, na_value=np.nan), theirs[column], *ends)
    solved = theirs[theirs["solved_at"].notna()]
    return compare_values(ours[column].dropna(), solved[column].dropna())


def _texts(
    cells: Mapping[str, Line], columns: Mapping[str, tuple[str, Format]], compared: bool
) -> Iterator[list[Shown]]:
    """The lines of one cell in the table: each has a name and one entry per metric, the `columns`.

    Printed numbers and verdicts have lines if there are any in the table, so that it is `compared`. Recomputed means
    have a verdict of their own.
    """
    seeds = max(line.n_seeds for line in cells.values())
    renewed = {metric: cells[metric + RECOMPUTED] for metric in columns if metric + RECOMPUTED in cells}

    def entries(name: str, show: Callable[[Line, Format], Shown], cells: Mapping[str, Line]) -> list[Shown]:
        return [name, *(show(cells[metric], form) if metric in cells else EMPTY
                        for metric, (_, form) in columns.items())]  # fmt: skip

    yield entries(f"ours ({seeds} seeds)" if seeds else "ours (no seeds yet)", Ours, cells)
    if not compared:
        return
    yield entries("printed", Theirs, cells)
    yield entries("verdict", lambda line, _: Judged(line), cells)
    if renewed:
        yield entries("ours, plain mean", Ours, renewed)
        yield entries("theirs, plain mean", Theirs, renewed)
        yield entries("verdict on seeds, not means", lambda line, _: Judged(line), renewed)
