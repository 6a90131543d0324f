"""Units ranked for every operation: success over the ranges, speed, sparsity, cost, and which differences are real."""

import functools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.measure.solved import solved_ones
from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.heat_map import heat_maps
from nalu_bench.analysis.reports.advice import RELIABLE, Rates, told
from nalu_bench.analysis.reports.criterion import ByCriterion
from nalu_bench.analysis.reports.kind import Kind, Settings, rate_row
from nalu_bench.analysis.stats.compare import compare_rates
from nalu_bench.analysis.stats.intervals import median_interval, range_note
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.stats.verdicts import Verdict, settle
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.formats import Format, percent, scientific, steps, three_digits
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Shown, Table, Theirs
from nalu_bench.analysis.table.line import Line, Row, Value, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

SPLIT = "extrapolation"

RATE = "success_rate"

TOTALS: Mapping[str, tuple[str, Format]] = {
    "share": ("all ranges", percent), "worst": ("worst range", percent), "wins": ("wins", steps),
    "losses": ("losses", steps), "solved_at_median": ("solved at step, median", steps),
    "sparsity_error_median": ("sparsity error, median", scientific), "cost": ("µs a step", three_digits),
}  # fmt: skip
"""Metric of a unit over all ranges of an operation -> its column and format."""


@dataclass
class LeaderboardSettings(Settings):
    """See `Leaderboard`."""

    criterion: str = "task"
    also: list[str] = field(default_factory=list)
    axis: str = "range"
    like: list[str] = field(default_factory=list)
    headings: dict[str, str] = field(default_factory=dict)


@register("leaderboard", version=1)
class Leaderboard(ByCriterion):
    """A heat map for every operation, rows units, the best first, columns ranges; and what to take for which operation.

    * success rate: solved seeds over seeds asked for, with Wilson's interval; a printed rate stands beside the one by
      its own criterion: `success_rate`, or `success_rate_<criterion>` for one of `also`;
    * all ranges, worst range: the mean and the smallest of a unit's success rates on an operation;
    * solved at step, sparsity error: medians over the solved seeds of all ranges, with bootstrap intervals;
    * cost: microseconds of one core for a step of one seed, in a compiled block, median over its cells. Cells that
      were trained on one draw share their time, so that it does not tell their units apart;
    * wins, losses: pairs with another unit on one cell whose success rates differ by Newcombe's interval after Holm's
      correction over all pairs and cells of the leaderboard.

    Units are ordered by wins minus losses on an operation, then by success, then by the median step. Source: ours.

    Settings: `criterion`, the task's threshold to use; `also`, further ones, whose success rates stand beside; `axis`,
    the word of the setting that varies within an operation; `like`, units: a further unit is trained on the cells, and
    by the recipe, of theirs; `headings`, settings such as `inputs=10`, or the criterion, and the words for them in
    headings.
    """

    settings = LeaderboardSettings
    report: LeaderboardSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {RATE: (0, 1), f"{RATE}_*": (0, 1)}
    named: ClassVar[Mapping[str, str]] = dict(Kind.named) | {
        f"{RATE}_mse_1e-5": "Share of seeds whose mean squared error is at most 1e-5"
    }
    points: ClassVar[int] = 10

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        tasks = dict.fromkeys(want.cell.task.name for want in cells)
        if len(tasks) > 1:
            raise UsageError(
                f"a leaderboard must be on one task, because it ranks units by operation, and {self.experiment.name} "
                f"is on {' and '.join(tasks)}; give each task an experiment of its own."
            )

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
        further = {
            f"solved_{name}": cell.task.solves(runs[cell.task.judges], self.needed(cell, name)["threshold"])
            for name in self.report.also
        }
        return super().facts(cell, runs, curves, others).assign(**further)

    def criteria(self, cell: Cell, others: pd.DataFrame) -> dict[str, Any]:
        further = {f"threshold_{name}": self.needed(cell, name)["threshold"] for name in self.report.also}
        return super().criteria(cell, others) | further

    def rows(self, measured: Measured) -> list[Row]:
        cells = [(place, runs.assign(solved=solved_ones(runs))) for place, runs in by_cell(measured.runs)]
        wins, losses = _real_differences({place: runs["solved"] for place, runs in cells})
        rows = [row for place, runs in cells for row in self._cell(place, runs)]
        for unit, mine in grouped(cells, lambda cell: self._over_ranges(cell[0])).items():
            won, lost = (sum(count[place] for place, _ in mine) for count in (wins, losses))
            rows += self._unit(unit, [runs for _, runs in mine], won, lost, measured)
        return rows

    def _over_ranges(self, place: Place) -> Place:
        """The place of a unit and an operation, over all ranges."""
        return place.at(
            setting=Setting({word: text for word, text in place.setting.items() if word != self.report.axis})
        )

    def _cell(self, place: Place, runs: pd.DataFrame) -> list[Row]:
        further = {
            f"{RATE}_{name}": runs[f"solved_{name}"].astype("boolean").fillna(False) for name in self.report.also
        }
        return [
            rate_row(self.experiment, place.at(split=SPLIT, metric=metric), int(solved.sum()), runs)
            for metric, solved in {RATE: runs["solved"], **further}.items()
        ]

    def _unit(
        self, unit: Place, cells: Sequence[pd.DataFrame], wins: int, losses: int, measured: Measured
    ) -> list[Row]:
        runs = pd.concat(cells)
        solved = runs[runs["solved"]]
        at, sparsity = (solved[name].dropna().to_numpy(float) for name in ("solved_at", "sparsity_error"))
        shares = [float(each["solved"].mean()) for each in cells]
        cost = float(np.median([measured.cost(cell) for cell in runs["cell"].unique()]))
        numbers = {
            "share": Value(float(np.mean(shares))), "worst": Value(min(shares)),  # ranges are no sample
            "wins": Value(wins), "losses": Value(losses), "cost": Value(1e6 * cost),
            "solved_at_median": Value(*median_interval(at)), "sparsity_error_median": Value(*median_interval(sparsity)),
        }  # fmt: skip
        few = range_note(at.size, len(runs))
        notes = {"solved_at_median": few, "sparsity_error_median": few}
        return [
            Row(unit.at(metric=metric), value, len(runs), int(runs["steps"].max()),
                notes=tuple(filter(None, [notes.get(metric, "")])))
            for metric, value in numbers.items()
        ]  # fmt: skip

    @property
    def asked(self) -> str:
        solve = f"units that solve at least {percent(RELIABLE)} of our seeds"
        return f"{solve}{self._threshold}; of other seeds it may be fewer"

    @property
    def _threshold(self) -> str:
        """The words for its criterion, in brackets; empty if its experiment has none."""
        words = self.report.headings.get(self.report.criterion, "")
        return f" ({words})" if words else ""

    def answers(self, lines: Sequence[Line]) -> list[str]:
        return [f"{name}: {advice}" for name, advice in self._advice(lines)]

    def _advice(self, lines: Sequence[Line]) -> list[tuple[str, str]]:
        """Operation -> which unit to take."""
        return [(name, told(_rates(part, self.report.axis))) for name, part in self._by_operation(lines).items()]

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        parts = self._by_operation(lines)
        advised: list[list[Shown]] = [[name, advice] for name, advice in self._advice(lines)]
        title = f"Which unit for which operation? {self.experiment.title}"
        tables = [Table(title, ["operation", self.asked], advised)]
        for name, part in parts.items():
            tables += [self._success(name, part), self._totals(name, part)]
        printed = [line for line in lines if line.printed]
        return [*tables, self._printed(printed, lines)] if printed else tables

    def _by_operation(self, lines: Sequence[Line]) -> dict[str, list[Line]]:
        """Heading of an operation -> its lines, in order of appearance."""

        def heading(line: Line) -> str:
            place = self._over_ranges(line.place)
            setting = place.setting.told()
            told = self.report.headings.get(setting, setting)
            return ", ".join(filter(None, [style.operation_label(place.task, place.operation), told]))

        measured = [line for line in lines if line.n_seeds]
        return grouped(measured, heading)

    def _success(self, name: str, lines: Sequence[Line]) -> Table:
        found = {(line.place.model, line.place.setting.get(self.report.axis)): line for line in lines
                 if line.place.metric == RATE}  # fmt: skip
        ranges = list(dict.fromkeys(at for _, at in found))
        rows: list[list[Shown]] = [
            [style.label(model), *(Ours(found[model, at], percent, alone=True) if (model, at) in found else EMPTY
                                   for at in ranges)]
            for model in _ranked(lines)
        ]  # fmt: skip
        title = f"{name}: share of seeds solved, by {self.report.axis}{self._threshold}"
        return Table(title, ["", *map(str, ranges)], rows)

    def _totals(self, name: str, lines: Sequence[Line]) -> Table:
        found = {(line.place.model, line.place.metric): line for line in lines if line.place.metric in TOTALS}
        rows: list[list[Shown]] = [
            [f"{rank}", style.label(model), *(Ours(found[model, metric], form) for metric, (_, form) in TOTALS.items())]
            for rank, model in enumerate(_ranked(lines), 1)
        ]
        return Table(f"{name}: ranking", ["", "Unit", *(column for column, _ in TOTALS.values())], rows)

    def _printed(self, printed: Sequence[Line], lines: Sequence[Line]) -> Table:
        """A line a printed number: ours by every criterion, and the verdict on the one by which it was printed."""
        criteria = {RATE: self.report.criterion} | {f"{RATE}_{name}": name for name in self.report.also}
        found = {line.place: line for line in lines}
        rows: list[list[Shown]] = []
        for line in printed:
            place = line.place
            where = [style.operation_label(place.task, place.operation), place.setting.get(self.report.axis, "")]
            mine = [found.get(place.at(metric=metric)) for metric in criteria]
            shares = [Ours(one, percent, alone=True) if one else EMPTY for one in mine]
            rows.append([*where, style.label(place.model), criteria[place.metric], Theirs(line, percent, alone=True),
                         Judged(line), *shares])  # fmt: skip
        header = ["", self.report.axis, "Unit", "printed by", "printed", "verdict", *criteria.values()]
        return Table(f"Share of seeds solved beside the printed one ({self.experiment.source})", header, rows)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """The share of solved seeds of every unit on every range, a map for each operation, the best unit on top."""
        maps = {}
        for name, part in self._by_operation(lines).items():
            rates = _rates(part, self.report.axis)
            maps[name] = pd.DataFrame({style.label(model): rates[model] for model in _ranked(part)}).T
        drawn = [line for line in lines if line.place.metric == RATE and line.n_seeds]
        columns = ["task", "setting", "operation", "model", "ours", "ours_low", "ours_high"]
        return heat_maps(maps, "Share of seeds solved"), frame(drawn)[columns]


def _rates(lines: Sequence[Line], axis: str) -> Rates:
    """Unit -> range -> its share of solved seeds, for the lines of one operation; the best unit first."""
    found: Rates = {model: {} for model in _ranked(lines)}
    for line in lines:
        if line.place.metric == RATE and line.place.model in found:
            found[line.place.model][line.place.setting.get(axis, "")] = line.ours.value
    return found


def _real_differences(solved: "Mapping[Place, pd.Series[bool]]") -> tuple[Counter[Place], Counter[Place]]:
    """Wins and losses of every unit on every cell: differences that remain after Holm's correction over all pairs."""
    pairs = [pair for pair in combinations(solved, 2) if pair[0].at(model="") == pair[1].at(model="")]
    counts = {place: (int(seeds.sum()), len(seeds)) for place, seeds in solved.items()}
    compared = [_compared(*counts[first], *counts[second]) for first, second in pairs]
    wins, losses = Counter[Place](), Counter[Place]()
    for (first, second), found in zip(pairs, settle(compared), strict=True):
        if found.verdict is Verdict.DIFFERS:
            better, worse = (first, second) if found.difference > 0 else (second, first)
            wins[better] += 1
            losses[worse] += 1
    return wins, losses


_compared = functools.cache(compare_rates)  # many pairs have the same counts


def _ranked(lines: Sequence[Line]) -> list[str]:
    """The units of an operation, the best first: by wins minus losses, then by success, then by the median step."""
    found = {(line.place.model, line.place.metric): line.ours.value for line in lines}
    models = dict.fromkeys(line.place.model for line in lines if line.place.metric == "share")

    def rank(model: str) -> tuple[float, float, float, str]:
        at = found[model, "solved_at_median"]
        least = math.inf if math.isnan(at) else at
        return found[model, "losses"] - found[model, "wins"], -found[model, "share"], least, model

    return sorted(models, key=rank)
