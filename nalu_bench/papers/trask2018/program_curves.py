"""Shares of matching digits by step, beside printed curves: Figures 4 and 6 of Trask et al. 2018."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.intervals import student_mean
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.stats.ranges import ERRORS, Span
from nalu_bench.analysis.stats.verdicts import not_comparable
from nalu_bench.analysis.table.claim import CLAIM
from nalu_bench.analysis.table.layout import Table
from nalu_bench.analysis.table.line import NOTHING, Compare, Line, Row, Value, chosen_by
from nalu_bench.analysis.table.place import Place
from nalu_bench.papers.trask2018 import program_claims, program_panels, program_tables
from nalu_bench.papers.trask2018.numbers_claims import Sentence
from nalu_bench.papers.trask2018.program_claims import SHARES, shares
from nalu_bench.papers.trask2018.program_printed import against_curve
from nalu_bench.papers.trask2018.program_tables import DIGITS, FURTHER, LAST, REACHED, STEP
from nalu_bench.plan.cell import Wanted
from nalu_bench.registry import register


@dataclass
class ProgramCurvesSettings(Settings):
    """See `ProgramCurves`."""

    splits: dict[str, str]
    read_off: float
    reached: float
    fitted: list[str] = field(default_factory=list)
    claims: dict[str, Sentence] = field(default_factory=dict)


@register("program_curves", version=1)
class ProgramCurves(Kind):
    """Rows are models, columns steps: the percentage of matching digits, for every split.

        digits(step)   mean over seeds with Student's interval within [0, 100], at the printed steps and at the last one
        further        means of other figures at the selected step: other alignments, exact matches, sign errors
        reached        the first evaluation at which a seed has `reached` of its digits; the median over seeds, infinite
                       for a seed that never has

    A seed without a finite prediction has no matching digits. Printed points are means over ten runs, read off the
    figure; see `program_printed.against_curve` for the comparison. The last points are compared if our last step is
    theirs. The printed step at which a curve reaches `reached` stands beside ours and is not compared: it is that of a
    mean, ours of the seeds. Claims in words are tested on the means at the selected step, at the figure's full length.

    Source: Trask et al. 2018, section 4.4 and Figures 4 and 6. Deviations: none known.

    Settings: `splits`, {split: name}; `read_off`, by how many points a printed number may be off; `reached`, a share;
    `fitted`, the models that were chosen by their printed numbers; `claims`, see `numbers_claims.Sentence`.
    """

    settings = ProgramCurvesSettings
    report: ProgramCurvesSettings
    shows_notes = True
    own_words = (STEP,)
    metrics: ClassVar[Mapping[str, Span | None]] = {DIGITS: SHARES, REACHED: ERRORS, f"{CLAIM}*": None}
    named: ClassVar[Mapping[str, str]] = {
        DIGITS: "Percentage of matching digits",
        REACHED: "Step at which enough digits match",
    }

    def words(self, cells: Sequence[Wanted]) -> dict[str, set[str]]:
        return {column: words for column, words in super().words(cells).items() if column != "operation"}

    def needs(self) -> Sequence[str]:
        return [f"{split}_{metric}" for split in self.report.splits for metric in (DIGITS, *FURTHER)]

    def rows(self, measured: Measured) -> list[Row]:
        cells = list(by_cell(measured.runs))
        rows = list(self._claims(cells))
        for place, runs in cells:
            curves = measured.curves[measured.curves["cell"] == runs["cell"].iloc[0]]
            for split in self.report.splits:
                rows += self._rows(place.at(split=split), runs, curves)
        return rows

    def _rows(self, place: Place, runs: pd.DataFrame, curves: pd.DataFrame) -> Iterator[Row]:
        column, last = f"{place.split}_{DIGITS}", int(runs["steps"].iloc[0])
        for step in self._steps():
            at = last if step == LAST else int(step)
            there = runs[["seed"]].merge(curves[curves["step"] == at], on="seed", how="left")
            where = place.at(metric=DIGITS, setting=place.setting | {STEP: step})
            measured = at in set(curves["step"])
            samples = shares(there, column) if measured else np.array([])
            ours = Value(*student_mean(samples, span=SHARES)) if measured else NOTHING
            compare = self._compare(where, last, samples)
            compare = chosen_by(compare) if place.model in self.report.fitted else compare
            yield row_of(where, ours, runs, compare=compare)
        for metric in FURTHER:
            ours = Value(*student_mean(shares(runs, f"{place.split}_{metric}"), span=SHARES))
            yield row_of(place.at(metric=metric), ours, runs)
        yield row_of(place.at(metric=REACHED), Value(*medians.limits_of(self._reached(runs, curves, column))), runs)

    def _steps(self) -> list[str]:
        """The steps at which something is printed, in order, and the last."""
        found = {place.setting[STEP] for place in self.published if STEP in place.setting} - {LAST}
        return [*sorted(found, key=int), LAST]

    def _compare(self, where: Place, last: int, samples: Array) -> Compare:
        printed_last = self.experiment.printed_steps
        if where.setting[STEP] == LAST and last != printed_last:
            return lambda _: not_comparable(f"our last step is not that of the figure, about {printed_last:,}")
        if not samples.size:
            return lambda _: not_comparable("not measured at this step")
        ending = self.published.get(where.at(setting=where.setting | {STEP: LAST}))
        return against_curve(samples, self.report.read_off, ending)

    def _reached(self, runs: pd.DataFrame, curves: pd.DataFrame, column: str) -> Array:
        """The first evaluation of each seed at which so many digits match; infinite if there is none."""
        enough = curves[curves[column] >= self.report.reached].groupby("seed")["step"].min()
        return np.asarray(runs["seed"].map(enough).astype(float).fillna(np.inf), float)

    def _claims(self, cells: Sequence[tuple[Place, pd.DataFrame]]) -> Iterator[Row]:
        where = Place(self._task())
        for name, said in self.report.claims.items():
            claim, behind = program_claims.tested(said, where, dict(cells))
            claim = replace(claim, untested=claim.untested or self._unfinished(where.task, behind))
            yield claim.row(where.at(metric=f"{CLAIM}{name}"), behind, *map(count_note, behind))

    def _unfinished(self, task: str, behind: Sequence[pd.DataFrame]) -> str:
        """Why the networks that are trained on the task are not judged, if their steps are others than printed."""
        steps = {int(runs["steps"].iloc[0]) for runs in behind if runs["task"].iloc[0] == task}
        others = sorted(steps - {self.experiment.printed_steps})
        return f"trained for {others[0]:,} of the figure's {self.experiment.printed_steps:,} steps" if others else ""

    def _task(self) -> str:
        """The task whose numbers are printed."""
        return next((place.task for place in self.published), "")

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        return program_tables.tables(self.experiment.heading, lines, self.report.splits, self.report.reached)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """A column for every split of the task whose curves are printed; printed points as symbols."""
        ends = self.experiment.printed_steps
        return program_panels.draw(measured, lines, self.report.splits, self._task(), ends)
