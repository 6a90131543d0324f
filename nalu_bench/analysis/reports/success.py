"""Success rate, speed of convergence and sparsity, as in the tables of Madsen & Johansen 2020."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note, records
from nalu_bench.analysis.measure.solved import passing, solved_facts
from nalu_bench.analysis.printed.published import KEYS
from nalu_bench.analysis.printed.recomputed import SUFFIX
from nalu_bench.analysis.render import style, tables
from nalu_bench.analysis.render.solved_curves import solved_by_step
from nalu_bench.analysis.render.tables import Format, Table, percent, scientific, steps
from nalu_bench.analysis.reports.kind import Kind, Row, Settings
from nalu_bench.analysis.stats.compare import compare_means, compare_medians, compare_rates
from nalu_bench.analysis.stats.intervals import (
    beta_mean_interval,
    gamma_mean_interval,
    mean_interval,
    median_interval,
    wilson_interval,
)
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.stats.verdicts import NOTHING_PRINTED, Comparison, not_comparable, other_length
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.criteria import threshold
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METRICS: dict[str, tuple[str, Format]] = {
    "success_rate": ("Success rate", percent),
    "solved_at_median": ("Solved at step, median", steps),
    "solved_at_mean": ("Solved at step, mean", steps),
    "sparsity_error_mean": ("Sparsity error, mean", scientific),
}

BELOW = "share_below_"
"""Start of the names of further metrics: the share of all runs whose error is below a limit."""

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


@register("success", version=1)
class Success(Kind):
    """Rows are models, or a model and a setting; columns are the four statistics over seeds.

    * success rate: solved seeds over seeds asked for, Wilson interval;
    * solved at step: median with a bootstrap interval, mean of a gamma distribution with its profile interval,
      over solved seeds;
    * sparsity error: mean of a beta distribution on [0, 1/2] with its profile interval, over solved seeds, at the
      selected step.

    If a printed mean is known to be miscomputed and its recomputed value is known (see `recomputed.py`), a row
    `<metric>_recomputed` compares this value with our plain sample mean and its Student interval.

    Settings: `criterion`, the task's threshold to use; `not_comparable`, metric -> reason, declared beforehand;
    `layout`, the order of `operation` and `model` in tables and figures; `step_axis`, linear (default) or log; `below`,
    column of the runs -> limit, such as {extrapolation_mse: 1.0e-6}: the share of runs below this limit at the selected
    step has a column of its own, as `share_below_1e-06`.
    """

    apart: ClassVar[tuple[str, ...]] = ("operation", "setting", "model")
    split: ClassVar[str] = "extrapolation"
    settings: type[Settings] = SuccessSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {
        "success_rate": (0, 1), "solved_at_median": (0, math.inf), "solved_at_mean": (0, math.inf),
        "sparsity_error_mean": (0, math.inf), BELOW + "*": (0, 1),
    }  # fmt: skip

    @property
    def further(self) -> dict[str, tuple[str, float]]:
        """Metric -> column and limit of the shares that the settings ask for."""
        below: dict[str, float] = self.report["below"]
        return {f"{BELOW}{limit:g}": (column, limit) for column, limit in below.items()}

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        for want in cells:
            self.criteria(want.cell, pd.DataFrame())

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
        return solved_facts(runs, curves, self.criteria(cell, others)["threshold"], cell.task)

    def criteria(self, cell: Cell, others: pd.DataFrame) -> dict[str, Any]:
        limit = threshold(cell, self.report["criterion"])
        if limit is None:
            raise UsageError(f"a report of successes needs a task with a threshold, and {cell.task.name} has none.")
        return {"criterion": self.report["criterion"], "threshold": limit}

    def rows(self, measured: Measured) -> list[Row]:
        return [
            row for words, group in by_cell(_complete(self._ordered(measured.runs))) for row in self._rows(words, group)
        ]

    def _rows(self, words: dict[str, str], runs: pd.DataFrame) -> list[Row]:
        solved = runs[runs["solved"]]
        at = solved["solved_at"].to_numpy(float)
        rate = (len(solved) / len(runs), *wilson_interval(len(solved), len(runs)))
        sparsity, clipped = _quietly(partial(beta_mean_interval, solved["sparsity_error"].dropna().to_numpy(float)))
        statistics = {
            "success_rate": rate,
            "solved_at_median": median_interval(at),
            "solved_at_mean": gamma_mean_interval(at),
            "sparsity_error_mean": sparsity,
        } | {
            metric + SUFFIX: mean_interval(solved[column].to_numpy(float))
            for metric, column in SAMPLES.items()
            if (self.published["metric"] == metric + SUFFIX).any()
        }
        for metric, limit in self.further.items():
            below = int(passing(runs, *limit).sum())
            statistics[metric] = (below / len(runs), *wilson_interval(below, len(runs)))
        trained, unfinished = int(runs["steps"].iloc[0]), count_note(runs)
        notes = dict.fromkeys(statistics, unfinished) | {
            "sparsity_error_mean": "; ".join(filter(None, [unfinished, clipped]))
        }
        return [
            Row(
                {**words, "split": self.split, "metric": metric}, *values, len(runs), trained,
                partial(self._compare, metric, runs), notes[metric],
            )
            for metric, values in statistics.items()
        ]  # fmt: skip

    def _compare(self, metric: str, runs: pd.DataFrame, printed: dict[str, str]) -> Comparison:
        """Our runs against one printed number, or the reason why they are not compared."""
        trained, printed_steps = int(runs["steps"].iloc[0]), self.experiment.printed_steps
        declared = self.report["not_comparable"].get(metric)
        if not printed["printed"] and not metric.endswith(SUFFIX):
            return not_comparable(NOTHING_PRINTED)
        if declared:
            return not_comparable(declared)
        if trained != printed_steps:
            return other_length(trained, printed_steps)
        if metric in self.further and printed["n_seeds"]:
            below, seeds = passing(runs, *self.further[metric]), int(printed["n_seeds"])
            return compare_rates(int(below.sum()), len(runs), round(float(printed["printed"]) * seeds), seeds)
        solved = runs[runs["solved"]]
        if metric.endswith(SUFFIX):
            return _compare_recomputed(solved[SAMPLES[metric.removesuffix(SUFFIX)]].to_numpy(float), printed)
        printed_rate = self._printed_rate(printed)
        if printed_rate is None or not printed["n_seeds"]:
            missing = "success rate" if printed_rate is None else "number of seeds"
            return not_comparable(f"no {missing} is printed, so the number of solved seeds is not known")
        seeds = int(printed["n_seeds"])
        printed_solved = round(printed_rate * seeds)
        if metric == "success_rate":
            return compare_rates(len(solved), len(runs), printed_solved, seeds)
        if metric == "solved_at_median":
            at = solved["solved_at"].to_numpy(float)
            return compare_medians(at, float(printed["printed"]), printed_solved, int(runs["log_every"].iloc[0]))
        return not_comparable("an interval of a mean is not held against a printed one")

    def _printed_rate(self, printed: dict[str, str]) -> float | None:
        """The printed success rate of the same model on the same task."""
        same = {key: printed[key] for key in KEYS} | {"metric": "success_rate"}
        for row in records(self.published):
            if row["printed"] and all(row[key] == value for key, value in same.items()):
                return float(row["printed"])
        return None

    def tables(self, table: pd.DataFrame) -> list[Table]:
        table = self._ordered(table)
        several = table["operation"].nunique() > 1
        columns = METRICS | {metric: (f"Error below {limit:g}", percent) for metric, (_, limit) in self.further.items()}
        compared, rows = bool((table["printed"] != "").any()), list[list[str]]()
        for operation, part in table.groupby("operation", sort=False):
            above = [style.operation_label(part["task"].iloc[0], str(operation))] if several else []
            for (model, setting), group in part.groupby(["model", "setting"], sort=False):
                names = [*above, ", ".join(filter(None, [style.label(str(model)), str(setting)]))]
                for line in _lines(group, columns, compared):
                    rows.append([*names, *line])
                    names = [""] * len(names)
                above = [""] * len(above)
        header = [*(["Operation"] if several else []), "Model", "", *(name for name, _ in columns.values())]
        return [Table(f"{self.experiment.title} ({self.experiment.source})", header, rows)]

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """Share of seeds solved by each step, one panel an operation."""
        return solved_by_step(_complete(measured.runs), self._ordered(table), self.report["step_axis"])

    def _ordered(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The rows in the order of `layout`; words that are not in it come last."""
        layout: dict[str, list[str]] = self.report["layout"]
        places = pd.DataFrame(
            {name: frame[name].map({word: place for place, word in enumerate(words)}) for name, words in layout.items()}
        )
        return frame.loc[places.sort_values([*layout], kind="stable").index] if layout else frame


def _complete(runs: pd.DataFrame) -> pd.DataFrame:
    """Fill in missing facts: a run that failed has none and is not solved."""
    missing = {name: np.nan for name in ("solved_at", "sparsity_error") if name not in runs}
    solved = runs["solved"] if "solved" in runs else pd.Series(False, index=runs.index)
    return runs.assign(**missing, solved=solved.astype("boolean").fillna(False).astype(bool))


def _quietly(statistic: Callable[[], tuple[float, float, float]]) -> tuple[tuple[float, float, float], str]:
    """A statistic, and its warnings as text for the note."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = statistic()
    return values, "; ".join(sorted({str(warning.message) for warning in caught}))


def _compare_recomputed(values: np.ndarray, recomputed: dict[str, str]) -> Comparison:
    """Compare our sample with a recomputed mean."""
    seeds = int(recomputed["n_seeds"])
    if seeds < 2:
        return not_comparable(f"a mean needs 2 solved seeds, the recomputed one has {seeds}")
    if not recomputed["deviation"]:
        return not_comparable("the spread over the authors' seeds is not published")
    return compare_means(values, float(recomputed["printed"]), float(recomputed["deviation"]), seeds)


def _lines(group: pd.DataFrame, columns: Mapping[str, tuple[str, Format]], compared: bool) -> Iterator[list[str]]:
    """The lines of one cell in the table: each has a name and one text per metric, the `columns`.

    Printed numbers and verdicts have lines if there are any in the table, so that it is `compared`.
    """
    cells = {line["metric"]: line for line in records(group)}
    seeds = max(line["n_seeds"] for line in cells.values())
    renewed = {metric: cells[metric + SUFFIX] for metric in columns if metric + SUFFIX in cells}

    def line(name: str, show: Callable[[dict[str, Any], Format], str], cells: dict[str, dict[str, Any]]) -> list[str]:
        return [name, *(show(cells[metric], form) if metric in cells else "–" for metric, (_, form) in columns.items())]

    yield line(f"ours ({seeds} seeds)" if seeds else "ours (no seeds yet)", tables.ours, cells)
    if not compared:
        return
    yield line("printed", tables.printed, cells)
    if renewed:
        yield line("ours, plain mean", tables.ours, renewed)
        yield line("recomputed", tables.printed, renewed)
    yield line("verdict", tables.verdict, cells | renewed)
