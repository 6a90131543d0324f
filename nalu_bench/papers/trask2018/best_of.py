"""The best of several networks of each of several settings, as in Tables 3 and 11 of Trask et al. 2018."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings, against_printed
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.intervals import middle_range
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.stats.ranges import ERRORS, Span
from nalu_bench.analysis.stats.verdicts import Comparison, Verdict, not_comparable
from nalu_bench.analysis.stats.words import Better
from nalu_bench.analysis.table.claim import CLAIM
from nalu_bench.analysis.table.claims import claims_table, parted
from nalu_bench.analysis.table.formats import percent, three_digits
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Shown, Table, Theirs, beside, ours, stacked
from nalu_bench.analysis.table.line import NOTHING, Compare, Line, Printed, Row, Value, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import best_claims, best_panels
from nalu_bench.papers.trask2018.best_claims import Groups
from nalu_bench.papers.trask2018.best_draws import ENOUGH, Best
from nalu_bench.papers.trask2018.numbers_claims import Sentence
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

PREDICTION, MEASURE = "prediction", "mae"
SELECTS = "validation_mse"
"""The validation loss, by which the paper selects."""

NUMBERS: Span = (0, 1000)
"""The range of the numbers that are read."""

NUMBER, TOKEN = "number", "token"


@dataclass
class BestOfSettings(Settings):
    """See `BestOf`."""

    count: int
    over: dict[str, list[str]]
    splits: dict[str, str]
    claims: dict[str, Sentence] = field(default_factory=dict)


@register("best_of", version=1)
class BestOf(Kind):
    """Rows are models, columns splits: the mean absolute error of the best of several networks.

        draw       `count` runs of every setting in `over`, see `redrawn`
        best       the run of the draw with the smallest mean squared validation error at its selected step
        error      median over all draws of the best run's mean absolute error, with the middle 95 % of the draws

    A printed number is one such draw. It is compared with the middle 95 %, as one number with that of seeds is.
    The draws are from the runs that are there. A new draw of k networks has one that is better than all n of them with
    probability k / (k + n). So a printed number that is better than all of ours differs only if it is further from the
    range, as a ratio, than the range is wide (our choice). A group with fewer than `count` runs of a setting is not
    compared, and neither is one with too few for several draws.

    A second table has the predictions of the best network after every token of some texts, as the paper's Figure 3.

    Source: Trask et al. 2018, Tables 3 and 11, Figure 3. Deviations: none known.

    Settings: `count`; `over`, {word: values} of the settings among which the best is chosen; `splits`, {split: name};
    `claims`, see `numbers_claims.Sentence`. A claim is tested under every setting at which it is printed.
    """

    apart = ("task", "setting", "operation", "model")
    own_words = (NUMBER, TOKEN)
    settings = BestOfSettings
    report: BestOfSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {MEASURE: ERRORS, PREDICTION: NUMBERS, f"{CLAIM}*": None}
    named: ClassVar[Mapping[str, str]] = {
        MEASURE: "Mean absolute error of the best network",
        PREDICTION: "Prediction of the best network after a word",
    }
    shows_notes = True

    def words(self, cells: Sequence[Wanted]) -> dict[str, set[str]]:
        return {column: words for column, words in super().words(cells).items() if column != "operation"}

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        if self.report.count < 1:
            raise UsageError(
                f"count of the report of {self.experiment.name} must be at least 1, got {self.report.count}."
            )

    def needs(self) -> Sequence[str]:
        return SELECTS, *(f"{split}_{MEASURE}" for split in self.report.splits)

    def rows(self, measured: Measured) -> list[Row]:
        cells, groups = self._cells(measured), self._groups(measured)
        task = str(measured.runs["task"].iloc[0])
        rows = list(self._claims(Place(task), groups))
        for place, best in groups.items():
            runs = pd.concat(cells[place].values())
            rows += [self._row(place.at(split=split, metric=MEASURE), best, runs) for split in self.report.splits]
            if not place.setting:
                rows += _predictions(place.at(split="test", metric=PREDICTION), best, runs, measured.predictions)
        return rows

    def _cells(self, measured: Measured) -> dict[Place, dict[Setting, pd.DataFrame]]:
        """Place without the words of `over` -> these words -> runs."""
        found: dict[Place, dict[Setting, pd.DataFrame]] = {}
        for place, runs in by_cell(measured.runs):
            chosen = Setting({word: place.setting[word] for word in self.report.over if word in place.setting})
            rest = Setting({word: value for word, value in place.setting.items() if word not in chosen})
            found.setdefault(place.at(setting=rest), {})[chosen] = runs
        return found

    def _groups(self, measured: Measured) -> Groups:
        return {place: self._drawn(place, cells) for place, cells in self._cells(measured).items()}

    def _drawn(self, place: Place, cells: Mapping[Setting, pd.DataFrame]) -> Best | str:
        """The draws of a group, or why there are none."""
        over, count = self.report.over, self.report.count
        wanted = [Setting(dict(zip(over, values, strict=True))) for values in product(*over.values())]
        fewest = min(wanted, key=lambda setting: len(cells.get(setting, ())))
        runs = len(cells.get(fewest, ()))
        if runs < count:
            return f"a draw takes {count} runs of each setting, and the fewest are {runs} ({fewest.told()})"
        return Best.of([cells[setting] for setting in wanted], count, SELECTS, f"{place.model} {place.setting}")

    def _row(self, place: Place, best: Best | str, runs: pd.DataFrame) -> Row:
        steps = int(runs["steps"].iloc[0])
        if isinstance(best, str):
            return Row(place, NOTHING, len(runs), steps, lambda _: not_comparable(best), (best,))
        column = f"{place.split}_{place.metric}"
        compare = _one_of(best, best.of_winners(column), ERRORS, medians.finite_or_worst(best.runs[column]))
        return Row(place, _value(best.of_winners(column)), len(runs), steps, compare, (best.told(),))

    def _claims(self, where: Place, groups: Groups) -> Iterator[Row]:
        for name, said in self.report.claims.items():
            metric = f"{CLAIM}{name}"
            for setting in [place.setting for place in self.published if place.metric == metric] or [Setting()]:
                claim, behind = best_claims.tested(said, where.at(setting=setting), groups, MEASURE)
                yield claim.row(where.at(setting=setting, metric=metric), behind)

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        claims, _ = parted(lines)
        errors = grouped([line for line in lines if line.place.metric == MEASURE], lambda line: line.place.setting)
        predictions = [line for line in lines if line.place.metric == PREDICTION]
        return [
            *claims_table(self.experiment.heading, claims, lambda line: line.place.setting.told()),
            *(self._errors_table(setting, group) for setting, group in errors.items()),
            *([self._predictions_table(predictions)] if predictions else []),
        ]

    def _errors_table(self, setting: Setting, lines: Sequence[Line]) -> Table:
        """Three lines a model: ours, the printed number, the verdict."""
        ways = beside("ours, median of the draws [95 % of them]", lambda line: Ours(line, three_digits), lines)
        rows: list[list[Shown]] = []
        for model, group in grouped(lines, lambda line: line.place.model).items():
            found = {line.place.split: line for line in group}
            rows += stacked([style.label(model), group[0].notes[0]], ways, found, [*self.report.splits])
        under = f"{setting.told()}. " if setting else ""
        return Table(f"{under}{self.experiment.heading}", ["", "runs", "", *self.report.splits.values()], rows)

    def _predictions_table(self, lines: Sequence[Line]) -> Table:
        models = list(dict.fromkeys(line.place.model for line in lines))
        rows: list[list[Shown]] = []
        for (setting, token), group in grouped(lines, lambda line: (line.place.setting, line.place.operation)).items():
            found = {line.place.model: line for line in group}
            judged = next((line for line in group if line.printed_text), None)
            theirs: list[Shown] = [Theirs(judged), Judged(judged)] if judged else [EMPTY, EMPTY]
            number = setting[NUMBER] if setting[TOKEN] == "1" else ""
            rows.append([number, token, *(ours(found.get(model), three_digits) for model in models), *theirs])
        header = ["Number", "after the token", *(style.label(model) for model in models), "printed (NALU)", "verdict"]
        return Table(f"Predictions of the best network. {self.experiment.source}", header, rows)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """Errors of the best network by setting and split, then its predictions after every token; hollow: printed."""
        drawn = {place: best for place, best in self._groups(measured).items() if isinstance(best, Best)}
        samples = {
            setting: {
                split: {
                    place.model: best.of_winners(f"{split}_{MEASURE}")
                    for place, best in drawn.items()
                    if place.setting == setting
                }
                for split in self.report.splits
            }
            for setting in dict.fromkeys(place.setting for place in drawn)
        }
        return best_panels.draw(samples, self.report.splits, lines)


def _value(samples: Array) -> Value:
    return Value(float(np.median(samples)), *middle_range(samples)) if samples.size > 1 else Value(float(samples[0]))


def _one_of(best: Best, samples: Array, span: Span, every: Array | None = None) -> Compare:
    """The comparison of the draws' range with a printed number. `every`: of all runs, where smaller is better."""
    if best.alone:
        few = f"{len(best.runs)} runs are too few for a range of draws of {best.size}"
        reason = f"{few}: every setting needs {ENOUGH} times as many as a draw takes"
        return lambda _: not_comparable(reason)
    compare = against_printed(samples, span, Better.NEITHER if every is None else Better.LOWER)

    def told(printed: Printed) -> Comparison:
        found = compare(printed)
        if every is None or printed.number() >= every.min():
            return found
        chance = best.size / (best.size + len(best.runs))
        note = f"better than all of ours; a new draw has a better network than all with probability {percent(chance)}"
        low, high = middle_range(samples)
        near = found.verdict is Verdict.DIFFERS and printed.number() * high > low**2
        found = replace(found, verdict=Verdict.INCONCLUSIVE, by="") if near else found
        return replace(found, notes=(*found.notes, note))

    return told


def _predictions(place: Place, best: Best | str, runs: pd.DataFrame, predictions: pd.DataFrame) -> Iterator[Row]:
    """The best network's prediction after every token of every probed text."""
    mine = runs[["cell", "seed"]].merge(numbered(predictions), on=["cell", "seed"])
    for (_, token, label, target), group in mine.groupby(["text", TOKEN, "label", "target"]):
        setting = place.setting | {NUMBER: f"{target:g}", TOKEN: token}
        where = place.at(setting=setting, operation=str(label))
        value, compare = _predicted(best, group.set_index(["cell", "seed"])["prediction"])
        yield Row(where, value, len(runs), int(runs["steps"].iloc[0]), compare)


def _predicted(best: Best | str, predictions: "pd.Series[float]") -> tuple[Value, Compare]:
    """The best network's prediction at one probe, given that of every run by its cell and seed."""
    if isinstance(best, str):
        return NOTHING, lambda _: not_comparable(best)
    every = predictions.reindex(pd.MultiIndex.from_frame(best.runs[["cell", "seed"]]))
    samples = medians.finite_or_worst(every)[best.winners]
    return _value(samples), _one_of(best, samples, NUMBERS)


def numbered(predictions: pd.DataFrame) -> pd.DataFrame:
    """Add `text` and `token`, both counted from 1. The probes of one text are consecutive and share its target."""
    if predictions.empty:
        return predictions.reindex(columns=["cell", "seed", "text", TOKEN, "label", "target", "prediction"])
    probes = predictions.drop_duplicates("probe").sort_values("probe")
    text = (probes["target"] != probes["target"].shift()).cumsum()
    token = text.groupby(text).cumcount() + 1
    known = pd.DataFrame({"text": text.to_numpy(), TOKEN: token.to_numpy()}, index=probes["probe"])
    return predictions.join(known, on="probe")
