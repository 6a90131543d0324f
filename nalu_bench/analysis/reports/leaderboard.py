"""Units ranked over the cells of an experiment: success, speed, sparsity, cost, and which differences are real."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note, records, values_of
from nalu_bench.analysis.measure.solved import solved_facts
from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.tables import Table, ours, percent, scientific, steps, three_digits
from nalu_bench.analysis.reports.kind import Kind, Row, Settings
from nalu_bench.analysis.stats.compare import compare_rates
from nalu_bench.analysis.stats.intervals import median_interval, wilson_interval
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.stats.verdicts import Verdict, settle
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.criteria import threshold
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING = (float("nan"), float("nan"))

Place = tuple[str, str, str]
"""Task, setting and operation: what a unit has to learn."""


@dataclass
class LeaderboardSettings(Settings):
    """See `Leaderboard`."""

    criterion: str = "task"


@register("leaderboard", version=1)
class Leaderboard(Kind):
    """Rows are models, the best first; then a table of success rates, columns operations and settings.

    * success rate: solved seeds over seeds asked for, with Wilson's interval; that of a model is over all its cells;
    * solved at step: median over the solved seeds of all cells, with a bootstrap interval;
    * sparsity error: median over the solved seeds of all cells;
    * cost: seconds of one core for a step of one seed, in a compiled block, median over its cells;
    * wins, losses: pairs with another model on one cell whose success rates differ by Newcombe's interval after Holm's
      correction over all pairs and cells of the leaderboard.

    Models are ordered by wins minus losses, then by success rate. Settings: `criterion`, the task's threshold to use.
    """

    apart: ClassVar[tuple[str, ...]] = ()
    settings = LeaderboardSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {"success_rate": (0, 1)}

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
        return solved_facts(runs, curves, self.criteria(cell, others)["threshold"], cell.task)

    def criteria(self, cell: Cell, others: pd.DataFrame) -> dict[str, Any]:
        limit = threshold(cell, self.report["criterion"])
        if limit is None:
            raise UsageError(f"a leaderboard needs tasks with a threshold, and {cell.task.name} has none.")
        return {"criterion": self.report["criterion"], "threshold": limit}

    def rows(self, measured: Measured) -> list[Row]:
        cells = [(words, _judged(runs)) for words, runs in by_cell(measured.runs)]
        solved = {(_place(words), words["model"]): runs["solved"] for words, runs in cells}
        wins, losses = _real_differences(solved)
        rows = [self._cell(words, runs) for words, runs in cells]
        for model in dict.fromkeys(words["model"] for words, _ in cells):
            runs = pd.concat([runs for words, runs in cells if words["model"] == model])
            cost = float(np.median([measured.cost(cell) for cell in runs["cell"].unique()]))
            rows += self._model(model, runs, {"wins": wins[model], "losses": losses[model], "cost": 1e6 * cost})
        return rows

    def _cell(self, words: dict[str, str], runs: pd.DataFrame) -> Row:
        count, trained = len(runs), int(runs["steps"].iloc[0])
        rate = (float(runs["solved"].mean()), *wilson_interval(int(runs["solved"].sum()), count))
        return Row(words | {"split": "extrapolation", "metric": "success_rate"}, *rate, count, trained, None,
                   count_note(runs))  # fmt: skip

    def _model(self, model: str, runs: pd.DataFrame, others: Mapping[str, float]) -> list[Row]:
        keys = {"task": "", "setting": "", "operation": "", "split": "extrapolation", "model": model}
        count, trained, solved = len(runs), int(runs["steps"].max()), runs[runs["solved"]]
        at, sparsity = (solved[name].dropna().to_numpy(float) for name in ("solved_at", "sparsity_error"))
        numbers = {
            "success_rate": (float(runs["solved"].mean()), *wilson_interval(len(solved), count)),
            "solved_at_median": median_interval(at),
            "sparsity_error_median": median_interval(sparsity),
        } | {name: (value, *NOTHING) for name, value in others.items()}
        return [Row(keys | {"metric": name}, *each, count, trained, None) for name, each in numbers.items()]

    def tables(self, table: pd.DataFrame) -> list[Table]:
        ranked = _ranked(table)
        return [self._ranking(table, ranked), self._rates(table[table["task"] != ""], ranked)]

    def _ranking(self, table: pd.DataFrame, ranked: Sequence[str]) -> Table:
        lines = {(line["model"], line["metric"]): line for line in records(table[table["task"] == ""])}
        shown = {
            "wins": steps, "losses": steps, "success_rate": percent, "solved_at_median": steps,
            "sparsity_error_median": scientific, "cost": three_digits,
        }  # fmt: skip
        rows = []
        for place, model in enumerate(ranked, 1):
            numbers = [ours(lines[model, name], form) for name, form in shown.items()]
            rows.append([f"{place}", style.label(model), *numbers])
        header = ["", "Model", "wins", "losses", "Solved", "Solved at step, median", "Sparsity error, median",
                  "µs a step of a seed"]  # fmt: skip
        return Table(f"Ranking. {self.experiment.title}", header, rows)

    def _rates(self, table: pd.DataFrame, ranked: Sequence[str]) -> Table:
        places = list(dict.fromkeys(_place(line) for line in records(table)))
        lines = {(line["model"], _place(line)): line for line in records(table)}
        rows = [
            [style.operation_label(place[0], place[2]), ", ".join(values_of(place[1]).values()),
             *(percent(lines[model, place]["ours"]) if (model, place) in lines else "–" for model in ranked)]
            for place in places
        ]  # fmt: skip
        words = ", ".join(values_of(places[0][1])) if places else ""
        return Table("Share of seeds solved", ["", words, *(style.label(model) for model in ranked)], rows)

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """The share of solved seeds of every model on every cell, the best model on top."""
        cells, ranked = table[table["task"] != ""], _ranked(table)
        places = list(dict.fromkeys(_place(line) for line in records(cells)))
        shares = {(line["model"], _place(line)): line["ours"] for line in records(cells)}
        grid = np.array([[shares.get((model, place), np.nan) for place in places] for model in ranked])
        figure, axes = style.new_figure(2.2 + 0.42 * len(places), 1.6 + 0.3 * len(ranked))
        axis = axes[0][0]
        image = axis.imshow(grid, cmap="cividis", vmin=0, vmax=1, aspect="auto")
        for row, column in np.argwhere(np.isfinite(grid)):
            color = "white" if grid[row, column] < 0.6 else "black"
            axis.text(column, row, f"{100 * grid[row, column]:.0f}", ha="center", va="center", color=color, fontsize=6)
        names = [f"{style.operation_label(task, operation)}, {', '.join(values_of(setting).values())}"
                 for task, setting, operation in places]  # fmt: skip
        axis.set_xticks(range(len(places)), names, rotation=60, ha="right", fontsize=7)
        axis.set_yticks(range(len(ranked)), [style.label(model) for model in ranked])
        axis.grid(visible=False)
        figure.colorbar(image, ax=axis, label="Share of seeds solved")
        return figure, cells[["task", "setting", "operation", "model", "ours", "ours_low", "ours_high"]]


def _judged(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs; one that failed is not solved."""
    return runs.assign(solved=runs["solved"].astype("boolean").fillna(False).astype(bool))


def _place(words: Mapping[str, Any]) -> Place:
    return str(words["task"]), str(words["setting"]), str(words["operation"])


def _real_differences(solved: "Mapping[tuple[Place, str], pd.Series[bool]]") -> tuple[Counter[str], Counter[str]]:
    """Wins and losses of every model: differences of success rates on one cell that remain after Holm's correction."""
    pairs = [
        (first, second)
        for first, second in combinations(solved, 2)
        if first[0] == second[0]
    ]  # fmt: skip
    compared = [
        compare_rates(int(solved[first].sum()), len(solved[first]), int(solved[second].sum()), len(solved[second]))
        for first, second in pairs
    ]
    wins, losses = Counter[str](), Counter[str]()
    for (first, second), found in zip(pairs, settle(compared), strict=True):
        if found.verdict is Verdict.DIFFERS:
            better, worse = (first, second) if found.difference > 0 else (second, first)
            wins[better[1]] += 1
            losses[worse[1]] += 1
    return wins, losses


def _ranked(table: pd.DataFrame) -> list[str]:
    """The models, the best first: by wins minus losses, then by success rate."""
    lines = {(line["model"], line["metric"]): line["ours"] for line in records(table[table["task"] == ""])}
    models = list(dict.fromkeys(model for model, _ in lines))
    return sorted(
        models,
        key=lambda model: (lines[model, "losses"] - lines[model, "wins"], -lines[model, "success_rate"], model),
    )
