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
from nalu_bench.analysis.success import solved_facts
from nalu_bench.analysis.summary import Row, Summary, grouped, records
from nalu_bench.analysis.tables import Format, Table, interval, percent, scientific, steps
from nalu_bench.cell import Cell
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

    settings = frozenset({"kind", "criterion", "not_comparable"})

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
        return solved_facts(runs, curves, self.criteria(cell)["threshold"], f"{cell.task.evaluated[-1]}_mse")

    def criteria(self, cell: Cell) -> dict[str, Any]:
        criterion = self.report["criterion"]
        return {"criterion": criterion, "threshold": cell.task.threshold(criterion)}

    def rows(self, runs: pd.DataFrame) -> list[Row]:
        groups = grouped(runs, ["task", "setting", "operation", "model"])
        return [row for keys, group in groups for row in self._rows(keys, group)]

    def _rows(self, keys: tuple[str, ...], runs: pd.DataFrame) -> list[Row]:
        task, setting, operation, model = keys
        where = {"task": task, "setting": setting, "operation": operation, "split": "extrapolation", "model": model}
        solved = runs[runs["solved"]]
        at = solved["solved_at"].to_numpy(float)
        trained = int(runs["steps"].iloc[0])
        resolution = int(runs["log_every"].iloc[0])
        rate = (len(solved) / len(runs), *wilson_interval(len(solved), len(runs)))
        sparsity, clipped = _quietly(partial(beta_mean_interval, solved["sparsity_error"].to_numpy(float)))
        statistics: dict[str, tuple[tuple[float, float, float], Any, str]] = {
            "success_rate": (rate, partial(_rate, len(solved), len(runs)), ""),
            "solved_at_median": (median_interval(at), partial(_median, at, resolution), ""),
            "solved_at_mean": (gamma_mean_interval(at), None, ""),
            "sparsity_error_mean": (sparsity, None, clipped),
        }
        return [
            Row({**where, "metric": metric}, *values, len(runs), trained, self._unless(metric, trained, compare), note)
            for metric, (values, compare, note) in statistics.items()
        ]

    def _unless(self, metric: str, trained: int, compare: Any) -> Callable[[dict[str, str]], Comparison]:
        """The comparison, or the reason why there is none."""
        printed_steps = self.experiment.budgets["paper"]["steps"]
        reason = self.report.get("not_comparable", {}).get(metric)
        if reason is None and trained != printed_steps:
            reason = f"trained for {trained:,} steps, printed for {printed_steps:,}"
        if reason is None:
            return partial(self._compare, compare)
        return lambda _: not_comparable(reason)

    def _compare(self, compare: Any, printed: dict[str, str]) -> Comparison:
        comparison: Comparison = compare(printed, int(printed["n_seeds"]), self._printed_rate(printed))
        return comparison

    def _printed_rate(self, printed: dict[str, str]) -> float:
        """The printed success rate of the same model on the same task: it gives k0, the printed solved seeds."""
        from nalu_bench.analysis.published import KEYS, read

        published = read(self.experiment.published)
        same = {key: printed[key] for key in KEYS} | {"metric": "success_rate"}
        match = published[np.logical_and.reduce([published[key] == value for key, value in same.items()])]
        return float(match["printed"].iloc[0])

    def tables(self, table: pd.DataFrame) -> list[Table]:
        rows = []
        for (model,), group in grouped(table, ["model"]):
            cells = {line["metric"]: line for line in records(group)}
            seeds = max(line["n_seeds"] for line in cells.values())
            ours = [_ours(cells[metric], form) for metric, (_, form) in METRICS.items()]
            rows += [
                [style.label(model), f"ours ({seeds} seeds)", *ours],
                ["", "printed", *(_printed(cells[metric], METRICS[metric][1]) for metric in METRICS)],
                ["", "verdict", *(cells[metric]["verdict"] or "–" for metric in METRICS)],
            ]
        header = ["Model", "", *(name for name, _ in METRICS.values())]
        return [Table(f"{self.experiment.title} ({self.experiment.source})", header, rows)]

    def figure(self, runs: pd.DataFrame, curves: pd.DataFrame, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """Share of seeds solved by each step, with its Wilson band; the printed rate and median as a cross."""
        figure, axes = style.new_figure(5.6, 3.4)
        axis = axes[0][0]
        drawn = []
        last = int(runs["steps"].max())
        for (model,), group in grouped(runs, ["model"]):
            share = _share_solved(group, last, int(group["log_every"].iloc[0]))
            look = style.drawing(model)
            line = {"color": look["color"], "linestyle": look["linestyle"]}
            axis.plot(share["step"], share["share"], label=style.label(model), **line)
            axis.fill_between(share["step"], share["low"], share["high"], color=look["color"], alpha=0.15, linewidth=0)
            drawn.append(share.assign(series="ours", model=model))
            printed = table[table["model"] == model].set_index("metric")["printed"].to_dict()
            if printed.get("success_rate"):
                rate = float(printed["success_rate"])
                median = float(printed["solved_at_median"] or "nan")
                axis.plot([median], [rate / 2], color=look["color"], marker="x", markersize=7, markeredgewidth=1.8)
                axis.plot([last], [rate], color=look["color"], marker=look["marker"], clip_on=False, fillstyle="none")
                drawn.append(
                    pd.DataFrame(
                        {"series": "printed", "model": model, "step": [median, last], "share": [rate / 2, rate]}
                    )
                )
        axis.set(xlabel="Training step", ylabel="Share of seeds solved", ylim=(0, 1), xlim=(0, last))
        axis.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axis.set_title(
            "Lines: ours, 95 % Wilson band.  Hollow: printed rate.  ×: printed median", fontsize=8, loc="left"
        )
        axis.locator_params(axis="x", nbins=5)
        axis.legend(loc="center right", bbox_to_anchor=(1.0, 0.58))
        return figure, pd.concat(drawn, ignore_index=True)[["series", "model", "step", "share", "low", "high"]]


def _rate(solved: int, trials: int, printed: dict[str, str], seeds: int, rate: float) -> Comparison:
    return compare_rates(solved, trials, round(rate * seeds), seeds)


def _median(at: np.ndarray, resolution: int, printed: dict[str, str], seeds: int, rate: float) -> Comparison:
    median = float(printed["printed"] or "nan")
    return compare_medians(at, median, round(rate * seeds), resolution)


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


def _printed(line: dict[str, Any], form: Format) -> str:
    numbers = [float(line[key] or "nan") for key in ("printed", "printed_low", "printed_high")]
    return interval(numbers[0], numbers[1], numbers[2], form)
