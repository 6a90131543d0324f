"""The contract of a kind of report: facts of runs, rows beside the printed numbers, tables and a figure."""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.measure.measured import Measured, both_called, count_note
from nalu_bench.analysis.measure.record import POINTS
from nalu_bench.analysis.measure.solved import solved_facts
from nalu_bench.analysis.printed.published import check_metrics, check_words, line, read, typed
from nalu_bench.analysis.printed.recomputed import add_recomputed
from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats.compare import compare_rates
from nalu_bench.analysis.stats.intervals import wilson_interval
from nalu_bench.analysis.stats.ranges import ERRORS, Span, compare_single
from nalu_bench.analysis.stats.verdicts import NO_SEEDS, Comparison, not_comparable, other_length
from nalu_bench.analysis.stats.words import Better
from nalu_bench.analysis.table.claim import CLAIM, Said
from nalu_bench.analysis.table.compared import compared
from nalu_bench.analysis.table.layout import Table
from nalu_bench.analysis.table.line import Compare, Line, Printed, Row, Value, chosen_by
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError, unknown
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.experiment import Experiment
from nalu_bench.plan.schemas import filled
from nalu_bench.plan.setting import Setting
from nalu_bench.tasks.task import Task


@dataclass
class Settings:
    """The settings that every report has; a kind's own are those of a subclass."""

    kind: str


class Kind:
    """A kind of report: functions of the measurements and the printed numbers.

    Args:
        experiment: the experiment; its `report` block holds the settings.

    Attributes:
        settings: the schema of the `report` block, a dataclass.
        metrics: the metrics that may be printed: name or pattern -> lowest and highest value, or None for any text.
        named: metric or pattern -> what it measures, in the words that titles of pages begin with; split -> its words.
        brackets: what the limits beside its numbers are.
        apart: the words (task, setting, operation, model) by which the tables tell cells apart; empty if the kind
            checks this itself.
        points: a curve of at least twice as many evaluations is thinned to at least so many, see `kept_points`.
        own_words: words of settings that its rows have beside those of the cells, such as `length`.
        bounds: whether a printed number may be a bound, such as >999; otherwise it must be a number.
        of_failures: whether it can report runs of which none could be trained.
        shows_notes: whether the tables show the notes of the verdicts; otherwise the notes are listed below them.
        report: the settings, with their defaults.

    Raises:
        UsageError for a setting that is missing, unknown or of another type, and for a claim without one limit.
    """

    settings: type[Settings] = Settings
    metrics: ClassVar[Mapping[str, Span | None]] = {"*": None}
    named: ClassVar[Mapping[str, str]] = {
        "success_rate": "Share of seeds that are solved",
        "mse": "Mean squared error",
        "mae": "Mean absolute error",
        "accuracy": "Share of right answers",
    }
    brackets: ClassVar[str] = "95 % intervals of our statistic"
    apart: ClassVar[tuple[str, ...]] = ()
    points: ClassVar[int] = POINTS
    own_words: ClassVar[tuple[str, ...]] = ()
    bounds: ClassVar[bool] = False
    of_failures: ClassVar[bool] = False
    shows_notes: ClassVar[bool] = False
    report: Any  # of the class `settings`

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self.report = filled(self.settings, experiment.report, f"the report of {experiment.name}")
        for name, said in self._said():
            said.check(name)

    def _said(self) -> Iterator[tuple[str, Said]]:
        """The claims in the settings, by name."""
        for name, value in vars(self.report).items():
            for key, one in (value if isinstance(value, dict) else {name: value}).items():
                if isinstance(one, Said):
                    yield key, one

    @functools.cached_property
    def published(self) -> dict[Place, Printed]:
        """The printed numbers, and recomputed ones where the printed ones are known to be wrong.

        Raises:
            UsageError for a file with wrong columns, metrics or numbers.
        """
        return typed(self._file)

    @functools.cached_property
    def _file(self) -> pd.DataFrame:
        printed = read(self.experiment.published)
        check_metrics(printed, self.experiment.published, "printed", self.metrics)
        return add_recomputed(printed, self.experiment.recomputed)

    def words(self, cells: Sequence[Wanted]) -> dict[str, set[str]]:
        """Column of the printed numbers, or what a claim names besides -> the words that the experiment has there."""
        places = [place_of(want) for want in cells]
        found = {key: {getattr(place, key) for place in places} for key in ("task", "operation", "model")}
        return found | {"split": {one for want in cells for one in (*want.cell.task.evaluated, *want.cell.task.tested)}}

    def check(self, cells: Sequence[Wanted]) -> None:
        """Raise UsageError if these cells cannot be reported. This is called before they are trained."""
        seen: dict[tuple[Any, ...], Wanted] = {}
        for want in cells:
            place = place_of(want)
            words: list[Any] = [str(getattr(place, column)) for column in self.apart] or [place]
            other = seen.setdefault((want.role, *words), want)
            if other is want:
                continue
            if not self.apart:
                raise both_called(place)
            raise UsageError(
                f"a report of kind {self.report.kind} tells cells apart by {' and '.join(self.apart)}, and "
                f"{self.experiment.name} has both {other.label()} and {want.label()}."
            )
        for want in cells:
            self._check_columns(want)

    def needs(self) -> Sequence[str]:
        """The columns that it reads of every run, such as `validation_mse`; those of a kind's own facts are none."""
        return ()

    def _check_columns(self, want: Wanted) -> None:
        """Raise UsageError if the runs of a cell will not have the columns that are needed, as far as this is known."""
        if (known := columns_of(want.cell.task)) is None:
            return
        for column in self.needs():
            if column not in known:
                raise unknown(f"column of the runs of {want.label()}, which a report of kind {self.report.kind} reads,",
                              column, known)  # fmt: skip

    def check_printed(self, everything: Sequence[Wanted]) -> None:
        """Raise UsageError if a printed number, or a claim, has words that none of the experiment's cells has."""
        words, settings = self.words(everything), _settings(everything)
        check_words(self._file, self.experiment.published, words)
        self._check_settings(settings)
        self._check_claims(words | settings)
        self._check_plain()
        for number, text in self._file["printed"].items() if not self.bounds else ():
            if text.startswith(("<", ">")):
                where = line(self.experiment.published, number)
                raise UsageError(
                    f"{where}: printed must be a number for a report of kind {self.report.kind}, got {text}."
                )

    def _check_claims(self, known: Mapping[str, set[str]]) -> None:
        """Raise UsageError for a claim on what none of the experiment's cells is or has."""
        for claim, said in self._said():
            check_named(f"of the claim {claim} of {self.experiment.name}", said.names(), known)

    def _check_settings(self, known: Mapping[str, set[str]]) -> None:
        """Raise UsageError if the setting of a printed number is none of the experiment's cells."""
        for number, text in self._file["setting"].items():
            where = line(self.experiment.published, number)
            for word, value in Setting.parse(text).items():
                if word not in self.own_words and word not in known:
                    raise unknown(f"word of the setting in {where}", word, {*known, *self.own_words})
                if word not in self.own_words and value not in known[word]:
                    raise unknown(f"{word} in {where}", value, known[word])

    def _check_plain(self) -> None:
        """Raise UsageError for plain words of a claim that is not printed."""
        printed = [(place, one) for place, one in self.published.items() if one.in_words]
        known = {name for place, _ in printed for name in (place.metric, f"{place.metric} {place.split}")}
        for name in self.experiment.plain:
            if name not in known:
                raise unknown(f"claim in plain of {self.experiment.name}", name, {place.metric for place, _ in printed})

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
        """`runs` of one cell with further columns of facts, found in its whole curves.

        `others` are all runs of roles other than "cell", such as references to judge by. Their `task`, `setting` and
        `operation` tell what they refer to. Runs of such a role are judged first, and with no `others`. The facts are
        those of `solved_facts`, if the criteria have a threshold.
        """
        found = self.criteria(cell, others)
        return solved_facts(runs, curves, found["threshold"], cell.task) if "threshold" in found else runs

    def criteria(self, cell: Cell, others: pd.DataFrame) -> dict[str, Any]:
        """The criteria by which the facts of a cell were judged, for the manifest. `others` as in `facts`."""
        return {}

    def require(self, measured: Measured) -> None:
        """Raise UsageError if a report cannot be made of these measurements yet. Nothing is written then."""

    def rows(self, measured: Measured) -> list[Row]:
        """Our numbers, before they have verdicts."""
        raise NotImplementedError

    def lines(self, measured: Measured, incomparable: str = "") -> list[Line]:
        """Our numbers beside the printed ones, see `compared`; a claim that holds where it is `fitted` says nothing."""
        chosen = {f"{CLAIM}{name}" for name, said in self._said() if said.fitted}
        return compared(
            [
                replace(row, compare=chosen_by(row.compare)) if row.compare and row.place.metric in chosen else row
                for row in self.rows(measured)
            ],
            self.published,
            incomparable,
        )

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        """Tables in the layout of the paper, from the lines with their verdicts."""
        raise NotImplementedError

    def answers(self, lines: Sequence[Line]) -> list[str]:
        """What came out, as `about: answer`, beside claims and printed numbers; none by default."""
        return []

    @property
    def asked(self) -> str:
        """What its answers tell, as a heading."""
        return ""

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """A picture of the result, and the numbers drawn in it."""
        raise NotImplementedError

    def pictures(self, measured: Measured) -> dict[str, bytes]:
        """Further pictures by file name, made of what was recorded; none by default."""
        return {}


def _settings(cells: Sequence[Wanted]) -> dict[str, set[str]]:
    """Word of a setting -> the values that cells have for it."""
    known: dict[str, set[str]] = {}
    for word, value in (pair for want in cells for pair in want.words().items()):
        known.setdefault(word, set()).add(value)
    return known


def columns_of(task: Task) -> list[str] | None:
    """The columns of a task's errors; None for one that measures in a way of its own."""
    kind = type(task)
    if (kind.measure, kind.test) != (Task.measure, Task.test):
        return None
    splits = dict.fromkeys((*kind.evaluated, *kind.tested))
    return [f"{split}_{measure.name}" for split in splits for measure in kind.measures]


def check_named(where: str, named: Iterable[tuple[str, str | None]], known: Mapping[str, set[str]]) -> None:
    """Raise UsageError for a word, or a value of a word, that is not known; every value holds for None."""
    for word, value in named:
        if word not in known:
            raise unknown(f"word {where}", word, known)
        if value is not None and value not in known[word]:
            raise unknown(f"{word} {where}", value, known[word])


def check_lengths(kind: str, cells: Sequence[Wanted]) -> None:
    """Raise UsageError for cells whose task has no test of its own, as on series of several lengths."""
    for want in cells:
        if type(want.cell.task).test is Task.test:
            raise UsageError(
                f"a report of kind {kind} needs a task that tests series of several lengths, as digit_series, got "
                f"{want.label()}."
            )


def check_one(name: str, cells: Sequence[Wanted], role: str, *apart: str) -> None:
    """Raise UsageError for two cells of a role, such as reference, with the same words, such as operation."""
    seen: dict[tuple[Any, ...], Wanted] = {}
    for want in (want for want in cells if want.role == role):
        other = seen.setdefault(tuple(getattr(place_of(want), word) for word in apart), want)
        if other is not want:
            each = f" for each {' and '.join(apart)}" if apart else ""
            raise UsageError(
                f"{name} must have one cell of the role {role}{each}, got {other.label()} and {want.label()}; leave "
                "one of them out."
            )


def place_of(want: Wanted) -> Place:
    """The place of a cell."""
    operation = str(want.setting().get("operation", ""))
    return Place(want.cell.task.name, want.words(), operation, model=want.cell.model.name)


def at_full_length(experiment: Experiment, runs: pd.DataFrame, compare: Compare) -> Compare:
    """The comparison, or why there is none if the runs of a cell are trained for other steps than printed ones."""
    trained, printed = int(runs["steps"].iloc[0]), experiment.printed_steps
    return compare if trained in experiment.printed_lengths else lambda _: other_length(trained, printed)


def against_printed(
    samples: NDArray[np.float64], span: Span = ERRORS, better: Better = Better.LOWER, off: float | None = None
) -> Compare:
    """The comparison of the range of our seeds with a printed number, see `compare_single`."""
    return lambda printed: compare_single(samples, printed.text, span, better, off)


def against_rate(solved: int, asked: int) -> Compare:
    """The comparison of our rate with a printed one, see `compare_rates`; that many seeds are solved of those asked."""

    def compare(printed: Printed) -> Comparison:
        if not printed.n_seeds:
            return not_comparable(NO_SEEDS)
        return compare_rates(solved, asked, round(printed.number() * printed.n_seeds), printed.n_seeds)

    return compare


def rate_row(experiment: Experiment, place: Place, count: int, runs: pd.DataFrame) -> Row:
    """The row of the share of a cell's runs that so many are, with Wilson's interval, held against a printed one."""
    rate = Value(count / len(runs), *wilson_interval(count, len(runs)))
    return row_of(place, rate, runs, compare=at_full_length(experiment, runs, against_rate(count, len(runs))))


def row_of(place: Place, ours: Value, runs: pd.DataFrame, *notes: str, compare: Compare | None = None) -> Row:
    """A row on the runs of one cell; an unfinished cell is noted."""
    told = tuple(filter(None, [count_note(runs), *notes]))
    return Row(place, ours, len(runs), int(runs["steps"].iloc[0]), compare, told)
