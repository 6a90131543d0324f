"""Squared errors in percent of an untrained model's, under several hypotheses: Trask et al. 2018, Tables 6 to 9."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note
from nalu_bench.analysis.render import median_panel, style
from nalu_bench.analysis.reports.kind import Kind, Settings, against_printed, check_one, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.stats.verdicts import not_comparable
from nalu_bench.analysis.stats.words import Better
from nalu_bench.analysis.table.claim import CLAIM
from nalu_bench.analysis.table.claims import claims_table, parted
from nalu_bench.analysis.table.formats import Format, four_digits, score, span
from nalu_bench.analysis.table.layout import Judged, Ours, Show, Shown, Table, Theirs, stacked
from nalu_bench.analysis.table.line import Compare, Line, Row, Value, chosen_by, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import relative_claims
from nalu_bench.papers.trask2018.relative_claims import BASELINE, Errors, Sentence
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

SPLITS = {"validation": "Interpolation", "extrapolation": "Extrapolation"}
HALVES = {"subsections": "static", "recurrent_subsections": "recurrent"}
"""The halves of Table 1."""
RELATIVE, RAW, UNTRAINED = "relative", "mse", "untrained"
HIGHEST = 1000.0
"""Larger percentages are drawn at this height."""


@dataclass
class RelativeErrorsSettings(Settings):
    """See `RelativeErrors`."""

    chosen: dict[str, str]
    fitted: list[str] = field(default_factory=list)
    impossible: dict[str, list[str]] = field(default_factory=dict)
    claims: dict[str, Sentence] = field(default_factory=dict)


@register("relative_errors", version=1)
class RelativeErrors(Kind):
    """Rows are models, columns operations, once for each split; other hypotheses about the inputs have further tables.

        relative = 100 · MSE at the selected step / MSE of the untrained model of role `baseline` with the same seed

    on the same task and split. The sums of a seed have lengths of their own, so that errors are compared within a seed.
    Tables give medians over seeds with their bootstrap intervals; the raw mean squared errors stand in tables of their
    own where some are printed. A run that failed or diverged before any evaluation counts as infinitely bad.

    The claims come first, each under every hypothesis. Runs of a role other than `baseline`, such as constants, are
    rows as models are; a claim may hold models against them.

    Source: Trask et al. 2018, Tables 6 to 9. Deviations: one untrained model for each seed, where the paper has one in
    all.

    Settings: `chosen`, the words of the setting that is held against the printed numbers; `fitted`, the models by whose
    printed numbers it was chosen; `impossible`, task -> operations of which the task cannot give the printed error of
    the untrained model: raw errors in interpolation are compared in place of percentages; `claims`, see
    `relative_claims.Sentence`.
    """

    bounds = True
    apart = ("task", "setting", "operation", "model")
    settings = RelativeErrorsSettings
    report: RelativeErrorsSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {
        RELATIVE: (0, math.inf), RAW: (0, math.inf), UNTRAINED: (0, math.inf), f"{CLAIM}*": None,
    }  # fmt: skip
    named: ClassVar[Mapping[str, str]] = dict(Kind.named) | {
        RELATIVE: "Squared error in % of an untrained model's",
        UNTRAINED: "Mean squared error of an untrained model",
        "validation": "interpolation",
    }
    shows_notes = True

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        check_one(self.experiment.name, cells, BASELINE, *KEYS)

    def needs(self) -> Sequence[str]:
        return [f"{split}_{RAW}" for split in SPLITS]

    def require(self, measured: Measured) -> None:
        base = _of_role(measured, BASELINE)
        for words, _ in measured.runs.groupby(["task", "setting", "operation"], sort=False):
            if not _same(base, words).any():
                raise UsageError(
                    f"the untrained models for {' '.join(map(str, words))} are not there: run the experiment first."
                )

        if not any(self._is_chosen(place.setting) for place, _ in self._cells(measured)):
            chosen = ", ".join(f"{word} {value}" for word, value in self.report.chosen.items())
            name = self.experiment.name
            raise UsageError(f"there are no runs of {name} with {chosen}, which it draws; first: nalu-bench run {name}")

    def words(self, cells: Sequence[Wanted]) -> dict[str, set[str]]:
        return super().words(cells) | {"role": {want.role for want in cells}}

    def _cells(self, measured: Measured) -> list[tuple[Place, pd.DataFrame]]:
        """The trained models with their runs."""
        return list(by_cell(measured.runs[measured.runs["role"] != BASELINE]))

    def rows(self, measured: Measured) -> list[Row]:
        base = _of_role(measured, BASELINE)
        cells = self._cells(measured)
        relative = {(place, split): _relative(group, base, split) for place, group in cells for split in SPLITS}
        rows = [
            row for place, group in cells for split in SPLITS
            for row in self._rows(place.at(split=split), group, relative[place, split])
        ]  # fmt: skip
        untrained = [
            self._row(place.at(split=split, metric=UNTRAINED), medians.finite_or_worst(group[f"{split}_{RAW}"]), group)
            for place, group in by_cell(base) for split in SPLITS
        ]  # fmt: skip
        return [*self._claims(measured, cells), *rows, *untrained]

    def _rows(self, place: Place, runs: pd.DataFrame, relative: NDArray[np.float64]) -> Iterator[Row]:
        yield self._row(place.at(metric=RELATIVE), relative, runs)
        yield self._row(place.at(metric=RAW), medians.finite_or_worst(runs[f"{place.split}_{RAW}"]), runs)

    def _row(self, place: Place, samples: NDArray[np.float64], runs: pd.DataFrame) -> Row:
        return row_of(place, Value(*medians.limits_of(samples)), runs, compare=self._compare(place, samples))

    def _compare(self, place: Place, samples: NDArray[np.float64]) -> Compare | None:
        compare = against_printed(samples, better=Better.NEITHER if place.metric == UNTRAINED else Better.LOWER)
        if place.operation in self.report.impossible.get(place.task, ()):
            if place.metric != RAW:
                return lambda _: not_comparable("the task cannot give the printed error of the untrained model")
            if place.split != "validation":
                return lambda _: not_comparable("the printed ones are alike for every operation")
        elif place.metric == RAW:
            return None  # its percentage is compared: a number counts once
        return chosen_by(compare) if place.model in self.report.fitted else compare

    def _claims(self, measured: Measured, cells: Sequence[tuple[Place, pd.DataFrame]]) -> Iterator[Row]:
        for task, setting in dict.fromkeys((place.task, place.setting) for place, _ in cells):
            mine = {place: runs for place, runs in cells if (place.task, place.setting) == (task, setting)}
            where = Place(task, setting)
            behind = list(mine.values())
            notes = tuple(dict.fromkeys(filter(None, map(count_note, behind))))
            roles = dict.fromkeys(said.of for said in self.report.claims.values())
            errors = {role: _errors(mine, _of_role(measured, role)) for role in roles}
            for name, said in self.report.claims.items():
                if said.task in ("", task):
                    claim = relative_claims.tested(said, task, errors[said.of])
                    yield claim.row(where.at(metric=f"{CLAIM}{name}"), behind, *notes)

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        claims, _ = parted(lines)
        claims.sort(key=lambda line: not self._is_chosen(line.place.setting))
        errors = [line for line in lines if line.place.metric == RELATIVE and line.n_seeds]
        raw = [line for line in lines if line.place.metric in (RAW, UNTRAINED) and line.n_seeds and line.printed_text]
        return [
            *claims_table(self.experiment.heading, claims, lambda line: _inputs(line.place)),
            *self._split_tables(errors, "error in % of the untrained model's", score),
            *self._split_tables(raw, "mean squared error", four_digits),
        ]

    def _split_tables(self, lines: Sequence[Line], quantity: str, form: Format) -> list[Table]:
        """A table for each hypothesis, the chosen one first, and each split."""
        by_law = grouped(lines, lambda line: (line.place.task, line.place.setting))
        laws = sorted(by_law, key=lambda law: not self._is_chosen(law[1]))
        by_split = [
            (split, [line for line in by_law[law] if line.place.split == split]) for law in laws for split in SPLITS
        ]
        return [self._table(group, f"{SPLITS[split]}, {quantity}", form) for split, group in by_split if group]

    def _is_chosen(self, setting: Setting) -> bool:
        return self.report.chosen.items() <= setting.items()

    def _table(self, lines: Sequence[Line], quantity: str, form: Format) -> Table:
        """Models with their percentages, and the printed ones with verdicts where some are printed."""
        operations = list(dict.fromkeys(line.place.operation for line in lines))
        printed = any(line.printed_text for line in lines)
        rows: list[list[Shown]] = []
        for model, group in grouped(lines, _name).items():
            found = {line.place.operation: line for line in group}
            seeds = span(line.n_seeds for line in group)
            ways: dict[str, Show] = {f"ours, {seeds} seeds": lambda line: Ours(line, form)}
            ways |= {"printed": Theirs} if printed else {}
            ways |= {"verdict": Judged} if any(line.verdict for line in group) else {}
            told = stacked([model], ways, found, operations)
            rows += told if printed else [[name, *numbers] for name, _, *numbers in told]
        labels = [style.operation_label(lines[0].place.task, each) for each in operations]
        title = f"{quantity}, {_inputs(lines[0].place)}. {self.experiment.heading}"
        return Table(title, ["", *([""] if printed else []), *labels], rows)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """Median and middle 95 % of the seeds' percentages under the chosen hypothesis, printed numbers hollow."""
        base = _of_role(measured, BASELINE)
        cells = [(place, group) for place, group in self._cells(measured) if self._is_chosen(place.setting)]
        panels = [(task, split) for task in dict.fromkeys(place.task for place, _ in cells) for split in SPLITS]
        operations = list(dict.fromkeys(place.operation for place, _ in cells))
        printed = {line.place: line.printed.text for line in lines if line.printed}
        figure, axes = style.new_figure(
            7.2, 1 + 2.1 * len(panels), rows=len(panels), columns=len(operations), sharey=True, sharex="row"
        )
        drawn: list[dict[str, Any]] = []
        for row, (task, split) in zip(axes, panels, strict=True):
            most = 0
            row[0].set_ylabel(f"{HALVES.get(task, task)}, {SPLITS[split].lower()}\nerror, % of untrained")
            for axis, operation in zip(row, operations, strict=True):
                mine = [(place, group) for place, group in cells if (place.task, place.operation) == (task, operation)]
                samples = {place.model: _relative(group, base, split) for place, group in mine}
                texts = {place.model: printed.get(place.at(split=split, metric=RELATIVE), "") for place, _ in mine}
                axis.set_yscale("symlog", linthresh=1.0)
                axis.set_ylim(-0.2, 1.6 * HIGHEST)
                if (task, split) == panels[0]:
                    axis.set_title(style.operation_label(task, operation))
                where = {"task": task, "split": split, "operation": operation}
                drawn += [where | line for line in median_panel.draw(axis, samples, texts, HIGHEST)]
                most = max(most, len(samples))
            row[0].set_xlim(median_panel.span(most))  # and of the others of the row
        told = f"{median_panel.heading(any(printed.values()))}.  At the top: {HIGHEST:,.0f} % and more"
        figure.suptitle(told, fontsize=8)
        median_panel.add_legend(figure, axes.flat, columns=6)
        return figure, pd.DataFrame(drawn)


def _of_role(measured: Measured, role: str) -> pd.DataFrame:
    return measured.runs[measured.runs["role"] == role]


def _errors(mine: Mapping[Place, pd.DataFrame], base: pd.DataFrame) -> Errors:
    """The errors of models in percent of those runs, unless some of their seeds are not among these."""
    found = {
        (place.model, place.operation, split): _relative(runs, base, split)
        for place, runs in mine.items() for split in SPLITS
    }  # fmt: skip
    return {key: samples for key, samples in found.items() if not np.isnan(samples).any()}


def _same(base: pd.DataFrame, words: Sequence[Any]) -> NDArray[np.bool_]:
    """Which untrained models have this task, setting and operation."""
    equal = [(base[key] == word).to_numpy(bool) for key, word in zip(KEYS, words, strict=True)]
    return np.asarray(np.logical_and.reduce(equal))


KEYS = ["task", "setting", "operation"]


def _relative(runs: pd.DataFrame, base: pd.DataFrame, split: str) -> NDArray[np.float64]:
    """The error of every run in percent of that of the same seed in `base`, if it is there; equal ones are 100 %."""
    same = base[_same(base, runs[KEYS].iloc[0].tolist())].set_index("seed")[f"{split}_{RAW}"]
    whole: NDArray[np.float64] = same.reindex(runs["seed"]).to_numpy(float)
    errors = medians.finite_or_worst(runs[f"{split}_{RAW}"])
    with np.errstate(divide="ignore", invalid="ignore"):  # where both sums are the same, every quotient is 1
        return np.where(errors == whole, 100.0, 100 * errors / whole)


def _name(line: Line) -> str:
    return "Untrained" if line.place.metric == UNTRAINED else style.label(line.place.model)


def _inputs(place: Place) -> str:
    """`static, x in [0, 1.75], lengths [1, 20]`."""
    low_high, lengths = place.setting.get("range", ""), place.setting.get("lengths", "")
    return ", ".join(filter(None, [HALVES.get(place.task, place.task), f"x in {low_high}", f"lengths {lengths}"]))
