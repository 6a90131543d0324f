"""Hypotheses about a protocol, ranked by how well they explain a printed table."""

import functools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, count_note, records
from nalu_bench.analysis.protocols import controls, explain, static_scores
from nalu_bench.analysis.protocols.explain import Explained, Gain, Hypothesis, Judge, Place
from nalu_bench.analysis.protocols.misfit import SPLITS
from nalu_bench.analysis.protocols.predictions import Array, Choice, Predictions, Scoring
from nalu_bench.analysis.render import median_panel, style
from nalu_bench.analysis.render.tables import Table, facts
from nalu_bench.analysis.reports import elsewhere
from nalu_bench.analysis.reports.kind import Kind, Row, Settings
from nalu_bench.analysis.reports.scores import HIGHEST, prepare, score_table
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.intervals import middle_range, wilson_interval
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.stats.verdicts import Comparison, fitted
from nalu_bench.errors import UsageError, unknown
from nalu_bench.plan.cell import Wanted
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING = (math.nan, math.nan)
FITTED = "fitted"
HELD_OUT = "held out"
DESCRIBED = " (described)"
PREDICTED = "predicted [its middle 95 %]"
UNCLEAR = "not clearly better than the described one"
OTHERWISE = "gain_held_out_{}"
"""The metric of the gain under another discrepancy."""
SHOWN = 12
"""Number of hypotheses in the table; table.csv has all."""


@dataclass
class Score:
    """How a printed number is made of runs, see `predictions.Choice`."""

    metric: str
    denominator: str
    selection: str
    statistic: str
    linear: str = ""
    steps: int = 0

    def choice(self) -> Choice:
        scoring = Scoring(self.metric, self.denominator, self.selection, self.linear, self.steps)
        return Choice(scoring, self.statistic)


@dataclass
class ForensicsSettings(Settings):
    """See `Forensics`."""

    printed: str
    task: str
    models: list[str]
    fitting: list[str]
    linear: list[str]
    steps: list[int] = field(default_factory=lambda: [0])
    tables: int = 100
    scores: list[Score] = field(default_factory=list)


@dataclass(frozen=True)
class Found:
    """The ranking of all hypotheses, the described one, and their judge."""

    judge: Judge
    ranked: Sequence[Explained]
    described: Explained

    @property
    def best(self) -> Explained:
        """The hypothesis that explains the fitting cells best."""
        return self.ranked[0]

    @property
    def among(self) -> list[Hypothesis]:
        """All hypotheses, the best one first."""
        return [one.hypothesis for one in self.ranked]

    @property
    def gain(self) -> Gain:
        """How much better the best one explains the cells held out than the described one."""
        return explain.gain(self.best, self.described, self.judge)

    def samples(self, operation: str, model: str, split: str) -> Array:
        """Numbers that the best hypothesis would print in a cell."""
        return self.judge.predictions.samples_of(self.best.rows[operation], self.best.choice, model, split)


@register("forensics", version=1)
class Forensics(Kind):
    """Hypotheses about a protocol, the best first; then the best one beside the printed table, and two controls.

    A hypothesis is a protocol (law and ranges of the inputs, hidden size) with terms for each operation. From the runs
    of its cells a score is predicted under every `predictions.Choice`: metric, denominator, statistic, selected step,
    and which model stands for the printed Linear. Its misfit is the sum of `misfit.misfit` over printed numbers. Terms
    and choice are those that suit the cells of the models in `fitting`; the other models are held out.

    The best hypothesis explains the table if it does two things on the cells held out: it is clearly better than the
    described one (Student's 95 % interval of the mean difference lies above 0), and better than by chance (p at most
    5 % if the printed numbers change places). The described protocol is that of the first cell. The discrepancy that
    all hypotheses are granted is the one of `explain.DISCREPANCIES` that suits the best hypothesis best; the table
    shows what the first of these two would be under each of them, and whether a larger one would suit better.

    Source: ours. Settings: `printed`, the experiment whose printed numbers are explained, and `task` there; its
    `models`; `fitting`; `linear`, the models that may stand for "linear"; `steps`, after which training may be cut off;
    `tables`, of each control; `scores`, one for each hypothesis in the order of the cells, where other seeds have
    chosen them.
    """

    apart = ("task", "setting", "operation", "model")
    keeps_weights = False  # of thousands of networks
    searches = True
    settings: type[Settings] = ForensicsSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {"score": (0, math.inf)}

    _last: tuple[Measured, Found] | None = None

    @functools.cached_property
    def published(self) -> pd.DataFrame:
        return elsewhere.rows(self.report["printed"], self.report["task"], "score")

    def words(self, cells: Sequence[Wanted]) -> dict[str, set[str]]:
        """Those of the printed table: it belongs to another experiment, which checks them."""
        return {}

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        for name in self.report.get("fitting", []):
            if name not in self.report["models"]:
                raise unknown("model in fitting", name, self.report["models"])

    def require(self, measured: Measured) -> None:
        counted = measured.runs.groupby("cell")["seed"].nunique()
        if counted.empty or counted.min() < 2:
            raise UsageError(f"{self.experiment.name} needs at least 2 seeds of every cell; run it first.")

    def predictions(self, measured: Measured) -> Predictions:
        """What the runs predict for the printed numbers."""
        return static_scores.predictions(measured, self.report["models"], self.report["linear"], self.report["steps"])

    def fitting(self) -> Collection[Place]:
        """The printed numbers that choose; the others are held out."""
        return {place for place in self._printed() if place[1] in self.report["fitting"]}

    def _printed(self) -> dict[tuple[str, str, str], str]:
        return elsewhere.by_place(self.published)

    def _found(self, measured: Measured) -> Found:
        """The ranking, made once for the same measurements: the table and the figure both show it."""
        if self._last is None or self._last[0] is not measured:
            self._last = measured, self._search(measured)
        return self._last[1]

    def _search(self, measured: Measured) -> Found:
        predictions = self.predictions(measured)
        among = self._among(predictions)
        return self._ranked(explain.suited(predictions, self.fitting(), self._printed(), among), among)

    def _among(self, predictions: Predictions) -> list[Hypothesis]:
        """All hypotheses, each with the score that the settings give it, if they do."""
        found = explain.hypotheses(predictions)
        choices = [Score(**score).choice() for score in self.report["scores"]]
        if not choices:
            return found
        if len(choices) != len(found):
            raise UsageError(
                f"scores of {self.experiment.name} must have one for each of its {len(found)} hypotheses "
                f"({', '.join(one.name for one in found)}), got {len(choices)}."
            )
        return [one.with_choice(choice, predictions) for one, choice in zip(found, choices, strict=True)]

    def _ranked(self, judge: Judge, among: Sequence[Hypothesis]) -> Found:
        ranked = judge.ranked(self._printed(), among)
        return Found(judge, ranked, next(one for one in ranked if one.hypothesis is among[0]))

    def rows(self, measured: Measured) -> list[Row]:
        found = self._found(measured)
        seeds, trained = found.judge.predictions.freedom + 1, int(measured.runs["steps"].max())
        row = partial(self._row, count=seeds, trained=trained)
        ranking = [
            row(_name(one, found), metric, (value, *NOTHING), note=one.choice.told())
            for one in found.ranked
            for metric, value in (("misfit_fitted", one.fitted), ("misfit_held_out", one.held_out))
        ]
        wider = explain.without_limit(found.judge, self._printed(), found.among)
        judged = [
            row("", "discrepancy", (found.judge.discrepancy, *NOTHING)),
            row("", "discrepancy_without_limit", (wider, *NOTHING)),
            row("", "gain_held_out", found.gain, note="" if found.gain.clear else UNCLEAR),
            *self._with_other_discrepancies(found, row),
            *(
                row("", metric, (explain.by_chance(one, found.judge, self._printed()), *NOTHING))
                for metric, one in (("chance", found.best), ("chance_described", found.described))
            ),
        ]
        return [*self._cells(found, trained, count_note(measured.runs)), *ranking, *judged, *self._controls(found, row)]

    def _row(
        self, setting: str, metric: str, numbers: tuple[float, float, float], count: int, trained: int, note: str = ""
    ) -> Row:
        keys = {"task": self.report["task"], "setting": setting, "operation": "", "split": "", "model": ""}
        return Row(keys | {"metric": metric}, *numbers, count, trained, None, note)

    def _with_other_discrepancies(self, found: Found, row: Callable[..., Row]) -> list[Row]:
        """What the same rule gives under each discrepancy, which may have another best hypothesis."""
        among = [found.described.hypothesis, *(one.hypothesis for one in found.ranked if one is not found.described)]
        judges = {OTHERWISE.format(term): replace(found.judge, discrepancy=term) for term in explain.DISCREPANCIES}
        others = {metric: self._ranked(judge, among) for metric, judge in judges.items()}
        return [row("", metric, one.gain, note="" if one.gain.clear else UNCLEAR) for metric, one in others.items()]

    def _controls(self, found: Found, row: Callable[..., Row]) -> list[Row]:
        made = controls.recovered(found.judge, found.among, self.report["tables"])
        shuffled = controls.permuted(
            found.judge, found.described.hypothesis, found.among, self._printed(), self.report["tables"]
        )
        return [
            row("", name, (one.happened / one.tables, *wilson_interval(one.happened, one.tables)), note=note)
            for name, one, note in (
                ("control_recovered", made, "share of tables made by a known protocol that the search finds"),
                ("control_permuted", shuffled, "share of permuted tables with a winner"),
            )
        ]

    def _cells(self, found: Found, trained: int, unfinished: str) -> list[Row]:
        """The best hypothesis beside every printed number."""
        rows = []
        for operation, model, split in self._printed():
            scores = found.samples(operation, model, split)
            compare = partial(_compared, scores, chosen=(operation, model, split) in self.fitting())
            keys = {"task": self.report["task"], "setting": "", "operation": operation, "split": split}
            keys |= {"model": model, "metric": "score"}
            numbers = float(np.median(scores)), *middle_range(scores)
            rows.append(Row(keys, *numbers, found.judge.predictions.freedom + 1, trained, compare, unfinished))
        return rows

    def tables(self, table: pd.DataFrame) -> list[Table]:
        cells = table[table["metric"] == "score"]
        titles = {"validation": "Interpolation", "extrapolation": "Extrapolation"}
        return [
            self._ranking(table),
            *(
                score_table(cells[cells["split"] == split], f"The best hypothesis, {title.lower()}", title, PREDICTED)
                for split, title in titles.items()
            ),
            _judgement(table),
        ]

    def _ranking(self, table: pd.DataFrame) -> Table:
        lines = {(line["setting"], line["metric"]): line for line in records(table[table["setting"] != ""])}
        names = list(dict.fromkeys(name for name, _ in lines))
        rows = []
        for place, name in enumerate(names, 1):
            if place <= SHOWN or name.endswith(DESCRIBED):
                fitted, held = (lines[name, f"misfit_{which}"] for which in ("fitted", "held_out"))
                rows.append([f"{place}", name, fitted["note"], f"{fitted['ours']:.1f}", f"{held['ours']:.1f}"])
        header = ["", "Protocol", "Score", "Misfit, fitted", "Misfit, held out"]
        return Table(f"{self.experiment.title} ({self.experiment.source})", header, rows)

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """The best hypothesis beside the printed numbers: cells that chose it above, cells held out below."""
        found = self._found(measured)
        operations = list(found.best.rows)
        fitting = self.fitting()
        places = [(split, kind) for kind in (FITTED, HELD_OUT) for split in SPLITS]
        figure, axes = style.new_figure(
            7.2, 2.0 * len(places), rows=len(places), columns=len(operations), sharey=True, sharex="row"
        )
        printed, drawn = self._printed(), []
        for axis, operation in zip(axes[0], operations, strict=True):
            axis.set_title(style.operation_label(self.report["task"], operation))
        for line, (split, kind) in zip(axes, places, strict=True):
            line[0].set_ylabel(f"{'interpolation' if split == 'validation' else split}, {kind}\nscore, %")
            counts = []
            for axis, operation in zip(line, operations, strict=True):
                prepare(axis)
                scores = {
                    model: found.samples(operation, model, split)
                    for model in self.report["models"]
                    if ((operation, model, split) in fitting) == (kind == FITTED)
                }
                texts = {model: printed.get((operation, model, split), "") for model in scores}
                where = {"cells": kind, "split": split, "operation": operation}
                counts.append(len(scores))
                drawn += [where | one for one in median_panel.draw(axis, scores, texts, HIGHEST)]
            line[0].set_xlim(median_panel.span(max(counts)))
        told = "Symbols: what the best hypothesis would print.  Bars: its middle 95 %.  Hollow: printed"
        figure.suptitle(told, fontsize=8)
        median_panel.add_legend(figure, axes[:: len(SPLITS), 0], columns=5)
        return figure, pd.DataFrame(drawn)


def _compared(scores: Array, printed: dict[str, str], *, chosen: bool) -> Comparison:
    """What a protocol would print against what is printed, which has chosen the protocol or not."""
    found = medians.against_printed(scores, printed)
    return fitted(found) if chosen else found


def _name(one: Explained, found: Found) -> str:
    return one.hypothesis.name + (DESCRIBED if one is found.described else "")


def _judgement(table: pd.DataFrame) -> Table:
    lines = {line["metric"]: line for line in records(table)}
    shown = {
        "gain_held_out": "Misfit of a cell held out: described less best, mean over operations [95 %]",
        **{OTHERWISE.format(term): f"The same under a discrepancy of {term}" for term in explain.DISCREPANCIES},
        "chance": "Probability that permuted numbers held out fit the best as well",
        "chance_described": "The same of the described one",
        "control_recovered": "Control: tables of a known protocol whose protocol is found",
        "control_permuted": "Control: permuted tables with a winner",
        "discrepancy": f"Discrepancy granted to all, of a log score, {max(explain.DISCREPANCIES)} at most",
        "discrepancy_without_limit": "Discrepancy that would suit best without that limit",
    }
    return facts("How far to trust the ranking", shown, lines)
