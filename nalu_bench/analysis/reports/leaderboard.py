"""Units ranked over the cells of an experiment: success, speed, sparsity, cost, and which differences are real."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.measure.solved import solved_facts, solved_ones
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings, row_of
from nalu_bench.analysis.stats.compare import compare_rates
from nalu_bench.analysis.stats.intervals import median_interval, range_note, wilson_interval
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.stats.verdicts import Verdict, settle
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.formats import percent, scientific, steps, three_digits
from nalu_bench.analysis.table.layout import EMPTY, Ours, Shown, Table
from nalu_bench.analysis.table.line import Line, Row, Value
from nalu_bench.analysis.table.place import Place
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.criteria import needed
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SPLIT = "extrapolation"


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
    report: LeaderboardSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {"success_rate": (0, 1)}

    bounds = False

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        for want in cells:
            self.criteria(want.cell, pd.DataFrame())

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
        return solved_facts(runs, curves, self.criteria(cell, others)["threshold"], cell.task)

    def criteria(self, cell: Cell, others: pd.DataFrame) -> dict[str, Any]:
        return needed(cell, self.report.criterion, "a leaderboard")

    def rows(self, measured: Measured) -> list[Row]:
        cells = [(place, _judged(runs)) for place, runs in by_cell(measured.runs)]
        wins, losses = _real_differences({place: runs["solved"] for place, runs in cells})
        rows = [self._cell(place, runs) for place, runs in cells]
        for model in dict.fromkeys(place.model for place, _ in cells):
            runs = pd.concat([runs for place, runs in cells if place.model == model])
            cost = float(np.median([measured.cost(cell) for cell in runs["cell"].unique()]))
            rows += self._model(model, runs, {"wins": wins[model], "losses": losses[model], "cost": 1e6 * cost})
        return rows

    def _cell(self, place: Place, runs: pd.DataFrame) -> Row:
        rate = Value(float(runs["solved"].mean()), *wilson_interval(int(runs["solved"].sum()), len(runs)))
        return row_of(place.at(split=SPLIT, metric="success_rate"), rate, runs)

    def _model(self, model: str, runs: pd.DataFrame, others: Mapping[str, float]) -> list[Row]:
        place, count, solved = Place(split=SPLIT, model=model), len(runs), runs[runs["solved"]]
        at, sparsity = (solved[name].dropna().to_numpy(float) for name in ("solved_at", "sparsity_error"))
        numbers = {
            "success_rate": Value(float(runs["solved"].mean())),  # cells are not a sample: most are 0 or 100 %
            "solved_at_median": Value(*median_interval(at)),
            "sparsity_error_median": Value(*median_interval(sparsity)),
        } | {name: Value(value) for name, value in others.items()}
        steps, few = int(runs["steps"].max()), range_note(at.size, count)
        notes = {"solved_at_median": few, "sparsity_error_median": few}
        return [
            Row(place.at(metric=name), value, count, steps, notes=tuple(filter(None, [notes.get(name, "")])))
            for name, value in numbers.items()
        ]

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        ranked = _ranked(lines)
        return [self._ranking(lines, ranked), self._rates(_cells(lines), ranked)]

    def _ranking(self, lines: Sequence[Line], ranked: Sequence[str]) -> Table:
        found = {(line.place.model, line.place.metric): line for line in lines if not line.place.task}
        shown = {
            "wins": steps, "losses": steps, "success_rate": percent, "solved_at_median": steps,
            "sparsity_error_median": scientific, "cost": three_digits,
        }  # fmt: skip
        rows: list[list[Shown]] = []
        for rank, model in enumerate(ranked, 1):
            numbers = [Ours(found[model, name], form) for name, form in shown.items()]
            rows.append([f"{rank}", style.label(model), *numbers])
        header = ["", "Model", "wins", "losses", "Solved", "Solved at step, median", "Sparsity error, median",
                  "µs a step of a seed"]  # fmt: skip
        return Table(f"Ranking. {self.experiment.title}", header, rows)

    def _rates(self, lines: Sequence[Line], ranked: Sequence[str]) -> Table:
        found = {(line.place.model, _learned(line.place)): line for line in lines}
        places = list(dict.fromkeys(place for _, place in found))
        rows: list[list[Shown]] = [
            [style.operation_label(place.task, place.operation), ", ".join(place.setting.values()),
             *(Ours(found[model, place], percent, alone=True) if (model, place) in found else EMPTY
               for model in ranked)]
            for place in places
        ]  # fmt: skip
        words = ", ".join(places[0].setting) if places else ""
        return Table("Share of seeds solved", ["", words, *(style.label(model) for model in ranked)], rows)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[Figure, pd.DataFrame]":
        """The share of solved seeds of every model on every cell, the best model on top."""
        cells, ranked = _cells(lines), _ranked(lines)
        shares = {(line.place.model, _learned(line.place)): line.ours.value for line in cells}
        places = list(dict.fromkeys(place for _, place in shares))
        grid = np.array([[shares.get((model, place), np.nan) for place in places] for model in ranked])
        figure, axes = style.new_figure(2.2 + 0.42 * len(places), 1.6 + 0.3 * len(ranked))
        axis = axes[0][0]
        image = axis.imshow(grid, cmap="cividis", vmin=0, vmax=1, aspect="auto")
        for row, column in np.argwhere(np.isfinite(grid)):
            color = "white" if grid[row, column] < 0.6 else "black"
            axis.text(column, row, f"{100 * grid[row, column]:.0f}", ha="center", va="center", color=color, fontsize=6)
        names = [f"{style.operation_label(place.task, place.operation)}, {', '.join(place.setting.values())}"
                 for place in places]  # fmt: skip
        axis.set_xticks(range(len(places)), names, rotation=60, ha="right", fontsize=7)
        axis.set_yticks(range(len(ranked)), [style.label(model) for model in ranked])
        axis.grid(visible=False)
        figure.colorbar(image, ax=axis, label="Share of seeds solved")
        return figure, frame(cells)[["task", "setting", "operation", "model", "ours", "ours_low", "ours_high"]]


def _judged(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs; one that failed is not solved."""
    return runs.assign(solved=solved_ones(runs))


def _learned(place: Place) -> Place:
    """What a unit has to learn: task, setting and operation."""
    return place.cell().at(model="")


def _cells(lines: Sequence[Line]) -> list[Line]:
    """The lines on single cells; those of a model as a whole name no task."""
    return [line for line in lines if line.place.task]


def _real_differences(solved: "Mapping[Place, pd.Series[bool]]") -> tuple[Counter[str], Counter[str]]:
    """Wins and losses of every model: differences of success rates on one cell that remain after Holm's correction."""
    pairs = [pair for pair in combinations(solved, 2) if _learned(pair[0]) == _learned(pair[1])]
    compared = [
        compare_rates(int(solved[first].sum()), len(solved[first]), int(solved[second].sum()), len(solved[second]))
        for first, second in pairs
    ]
    wins, losses = Counter[str](), Counter[str]()
    for (first, second), found in zip(pairs, settle(compared), strict=True):
        if found.verdict is Verdict.DIFFERS:
            better, worse = (first, second) if found.difference > 0 else (second, first)
            wins[better.model] += 1
            losses[worse.model] += 1
    return wins, losses


def _ranked(lines: Sequence[Line]) -> list[str]:
    """The models, the best first: by wins minus losses, then by success rate."""
    found = {(line.place.model, line.place.metric): line.ours.value for line in lines if not line.place.task}
    models = list(dict.fromkeys(model for model, _ in found))
    return sorted(
        models,
        key=lambda model: (found[model, "losses"] - found[model, "wins"], -found[model, "success_rate"], model),
    )
