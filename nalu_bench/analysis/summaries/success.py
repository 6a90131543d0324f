"""Success rate, speed of convergence and sparsity, as in the tables of Madsen & Johansen 2020."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from nalu_bench.analysis import style
from nalu_bench.analysis.compare import Comparison, compare_medians, compare_rates, not_comparable
from nalu_bench.analysis.intervals import (
    beta_mean_interval,
    gamma_mean_interval,
    median_interval,
    wilson_interval,
)
from nalu_bench.analysis.published import KEYS
from nalu_bench.analysis.success import solved_facts
from nalu_bench.analysis.summary import Row, Summary, by_cell, count_note, records
from nalu_bench.analysis.tables import Format, Table, interval, percent, scientific, steps
from nalu_bench.cell import Cell
from nalu_bench.errors import UsageError
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METRICS: dict[str, tuple[str, Format]] = {
    "success_rate": ("Success rate", percent),
    "solved_at_median": ("Solved at step, median", steps),
    "solved_at_mean": ("Solved at step, mean", steps),
    "sparsity_error_mean": ("Sparsity error, mean", scientific),
}


@register("success", version=1)
class Success(Summary):
    """Rows are models, columns the four statistics over seeds.

    * success rate: solved seeds over seeds asked for, Wilson interval;
    * solved at step: median with a bootstrap interval, mean of a gamma distribution with its profile interval,
      over solved seeds;
    * sparsity error: mean of a beta distribution on [0, 1/2] with its profile interval, over solved seeds, at the
      selected step.

    Settings: `criterion`, the task's threshold to use; `not_comparable`, metric -> reason, declared beforehand.
    """

    required = frozenset({"kind", "criterion"})
    optional = frozenset({"not_comparable"})

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
        return solved_facts(runs, curves, self.criteria(cell)["threshold"], f"{cell.task.evaluated[-1]}_mse")

    def criteria(self, cell: Cell) -> dict[str, Any]:
        criterion = self.report["criterion"]
        threshold = cell.task.threshold(criterion)
        if threshold is None:
            raise UsageError(f"a report of successes needs a task with a threshold, and {cell.task.name} has none.")
        return {"criterion": criterion, "threshold": float(f"{threshold:.10g}")}

    def rows(self, runs: pd.DataFrame) -> list[Row]:
        return [row for words, group in by_cell(_complete(runs)) for row in self._rows(words, group)]

    def _rows(self, words: dict[str, str], runs: pd.DataFrame) -> list[Row]:
        solved = runs[runs["solved"]]
        at = solved["solved_at"].to_numpy(float)
        rate = (len(solved) / len(runs), *wilson_interval(len(solved), len(runs)))
        sparsity, clipped = _quietly(partial(beta_mean_interval, solved["sparsity_error"].to_numpy(float)))
        statistics = {
            "success_rate": rate,
            "solved_at_median": median_interval(at),
            "solved_at_mean": gamma_mean_interval(at),
            "sparsity_error_mean": sparsity,
        }
        trained, unfinished = int(runs["steps"].iloc[0]), count_note(runs)
        notes = dict.fromkeys(statistics, unfinished) | {
            "sparsity_error_mean": "; ".join(filter(None, [unfinished, clipped]))
        }
        return [
            Row(
                {**words, "split": "extrapolation", "metric": metric}, *values, len(runs), trained,
                partial(self._compare, metric, runs), notes[metric],
            )
            for metric, values in statistics.items()
        ]  # fmt: skip

    def _compare(self, metric: str, runs: pd.DataFrame, printed: dict[str, str]) -> Comparison:
        """Our runs against one printed number, or the reason why they are not compared."""
        trained, printed_steps = int(runs["steps"].iloc[0]), self.experiment.budgets["paper"]["steps"]
        declared = self.report.get("not_comparable", {}).get(metric)
        if declared:
            return not_comparable(declared)
        if trained != printed_steps:
            return not_comparable(f"trained for {trained:,} steps, printed for {printed_steps:,}")
        printed_rate = self._printed_rate(printed)
        if printed_rate is None:
            return not_comparable("no success rate is printed, so the number of solved seeds is not known")
        seeds = int(printed["n_seeds"])
        printed_solved = round(printed_rate * seeds)
        if metric == "success_rate":
            return compare_rates(int(runs["solved"].sum()), len(runs), printed_solved, seeds)
        if metric == "solved_at_median":
            at = runs["solved_at"][runs["solved"]].to_numpy(float)
            return compare_medians(at, float(printed["printed"]), printed_solved, int(runs["log_every"].iloc[0]))
        return not_comparable("an interval of a mean is not held against a printed one")

    def _printed_rate(self, printed: dict[str, str]) -> float | None:
        """The printed success rate of the same model on the same task."""
        same = {key: printed[key] for key in KEYS} | {"metric": "success_rate"}
        for row in records(self.published):
            if all(row[key] == value for key, value in same.items()):
                return float(row["printed"])
        return None

    def tables(self, table: pd.DataFrame) -> list[Table]:
        rows = []
        for model, group in table.groupby("model", sort=False):
            cells = {line["metric"]: line for line in records(group)}
            seeds = max(line["n_seeds"] for line in cells.values())
            lines = {f"ours ({seeds} seeds)": _ours, "printed": _printed, "verdict": _verdict}
            for number, (name, show) in enumerate(lines.items()):
                texts = [show(cells[metric], form) if metric in cells else "–" for metric, (_, form) in METRICS.items()]
                rows.append([style.label(str(model)) if number == 0 else "", name, *texts])
        header = ["Model", "", *(name for name, _ in METRICS.values())]
        return [Table(f"{self.experiment.title} ({self.experiment.source})", header, rows)]

    def figure(self, runs: pd.DataFrame, curves: pd.DataFrame, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """Share of seeds solved by each step, with its Wilson band; the printed rate and median as a cross."""
        figure, axes = style.new_figure(5.6, 3.4)
        axis = axes[0][0]
        drawn = []
        last = int(runs["steps"].max())
        for words, group in by_cell(_complete(runs)):
            model = words["model"]
            share = _share_solved(group, last, int(group["log_every"].iloc[0]))
            look = style.drawing(model)
            line = {"color": look["color"], "linestyle": look["linestyle"]}
            axis.plot(share["step"], share["share"], label=style.label(model), **line)
            axis.fill_between(share["step"], share["low"], share["high"], color=look["color"], alpha=0.15, linewidth=0)
            drawn.append(share.assign(series="ours", model=model))
            printed = table[table["model"] == model].set_index("metric")["printed"].to_dict()
            if printed.get("success_rate"):
                rate = float(printed["success_rate"])
                median = float(printed.get("solved_at_median") or "nan")
                axis.plot([median], [rate / 2], color=look["color"], marker="x", markersize=7, markeredgewidth=1.8)
                axis.plot([last], [rate], color=look["color"], marker=look["marker"], clip_on=False, fillstyle="none")
                drawn.append(
                    pd.DataFrame(
                        {"series": "printed", "model": model, "step": [median, last], "share": [rate / 2, rate]}
                    )
                )
        axis.set(xlabel="Training step", ylabel="Share of seeds solved", ylim=(0, 1), xlim=(0, last))
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        title = "Lines: ours with 95 % Wilson band.  Hollow: printed rate.\n×: printed median, at half the printed rate"
        axis.set_title(title, fontsize=8, loc="left")
        axis.locator_params(axis="x", nbins=5)
        axis.legend(loc="center right", bbox_to_anchor=(1.0, 0.58))
        return figure, pd.concat(drawn, ignore_index=True)[["series", "model", "step", "share", "low", "high"]]


def _complete(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs that failed, or are all there is, have no facts: they are not solved."""
    missing = {name: np.nan for name in ("solved_at", "sparsity_error") if name not in runs}
    solved = runs["solved"] if "solved" in runs else pd.Series(False, index=runs.index)
    return runs.assign(**missing, solved=solved.astype("boolean").fillna(False).astype(bool))


def _quietly(statistic: Callable[[], tuple[float, float, float]]) -> tuple[tuple[float, float, float], str]:
    """A statistic, and what it warned of, for the note."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = statistic()
    return values, "; ".join(sorted({str(warning.message) for warning in caught}))


def _share_solved(runs: pd.DataFrame, last: int, every: int) -> pd.DataFrame:
    """The share of all seeds that are solved and had been below the threshold by each evaluation."""
    grid = np.arange(0, last + 1, every)
    grid = grid[:: max(1, len(grid) // 500)]
    at = np.sort(runs["solved_at"].dropna().to_numpy(float))
    counts = np.searchsorted(at, grid, side="right")
    bounds = [wilson_interval(int(count), len(runs)) for count in counts]
    low, high = np.array(bounds).T
    return pd.DataFrame({"step": grid, "share": counts / len(runs), "low": low, "high": high})


def _ours(line: dict[str, Any], form: Format) -> str:
    return interval(line["ours"], line["ours_low"], line["ours_high"], form)


def _verdict(line: dict[str, Any], form: Format) -> str:
    return str(line["verdict"]) or "–"


def _printed(line: dict[str, Any], form: Format) -> str:
    numbers = [float(line[key] or "nan") for key in ("printed", "printed_low", "printed_high")]
    return interval(numbers[0], numbers[1], numbers[2], form)
