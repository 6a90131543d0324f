"""Success of agents that must arrive at time T, as in section 4.5 of Trask et al. 2018."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.measure.lengths import lengths
from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.table.claim import tested_by
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.formats import Format, percent
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Shown, Table
from nalu_bench.analysis.table.line import Line, Row, Value, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.environments.grid_world import GRACE, REMAINING
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import timing_claims, timing_film, timing_panels
from nalu_bench.papers.trask2018.timing_claims import Sentence
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPLIT = "test"
DIFFERENCE = "t50_difference"
CLAIM = "claim_"

"""The source of a claim of ours."""

OUTCOMES = ("success", "sampled", "early", "late", "never")

LATE = "late_gain"
"""The fact that tells whether a curve is flat: by how much the validation return grew over the last `FIFTH`."""

FIFTH = 0.2


@dataclass
class TimingSettings(Settings):
    """See `Timing`."""

    trained: list[int]
    mastered: float
    failed: float
    shown: list[int]
    panels: dict[str, list[str]]
    claims: dict[str, Sentence] = field(default_factory=dict)
    differences: list[list[str]] = field(default_factory=list)


@register("timing", version=1)
class Timing(Kind):
    """Rows are agents, columns times; one set of tables for every scale of the time.

        success(T) = share of the test episodes with this T in which action T was the first to enter the target
        T50        = the first T beyond the trained ones with a success below `failed`, of each seed
        late gain  = mean return in validation at the last step − that at four fifths of the steps

    The policy is greedy; `sampled` is the success of the policy that explores. Every share is the median over seeds
    with its interval. If an agent fails at no tested T, its T50 counts as the next one. The difference of two agents
    is that of their mean T50, with Welch's 95 % interval; which of them lasts longer is said after Holm's correction
    over all differences. An agent has *mastered* the trained times with a mean success of at least `mastered`.

    A claim in words is tested at every scale, because the source does not name one, on the agents or the difference
    furthest from true.

    Source: Trask et al. 2018, section 4.5. Deviations: the paper shows a curve without numbers; all limits are ours.

    Settings: `trained`, the shortest and longest T in training; `mastered`, `failed`; `shown`, the T of the tables;
    `claims`, see `timing_claims.Sentence`; `differences`, pairs of models; `panels` of the figure, {title: models}.
    """

    settings = TimingSettings
    report: TimingSettings
    shows_notes = True
    metrics: ClassVar[Mapping[str, Span | None]] = {f"{CLAIM}*": None}

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        for name, said in self.report.claims.items():
            said.check(name)
        for want in cells:
            self._check_times(want.cell)

    def _check_times(self, cell: Cell) -> None:
        trained, tested = (getattr(cell.task, key, None) for key in ("times", "test_times"))
        if trained is None or tested is None:
            raise UsageError(
                f"a report of kind timing needs a task with times and test_times, as grid_world, got {cell.task.name}."
            )
        shortest, longest = self.report.trained
        if list(trained) != [shortest, longest]:
            raise UsageError(
                f"{self.experiment.name} reports training on T = {shortest} to {longest}, got task.times={trained}. "
                "For other times change report.trained in a copy of its file."
            )
        if not tested[0] <= shortest <= longest < tested[1]:
            raise UsageError(
                f"{self.experiment.name} reports the trained times and T50, which is beyond them: task.test_times must "
                f"begin at {shortest} or below and end above {longest}, got {tested}."
            )

    def facts(self, cell: Cell, runs: pd.DataFrame, curves: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
        found = curves.sort_values("step", kind="stable").groupby("seed")
        column = f"validation_{cell.task.selecting}"
        gains = {
            seed: _late_gain(curve["step"].to_numpy(float), curve[column].to_numpy(float)) for seed, curve in found
        }
        return runs.assign(**{LATE: runs["seed"].map(gains).astype(float)})

    def rows(self, measured: Measured) -> list[Row]:
        rows: list[Row] = []
        cells = list(by_cell(measured.runs))
        for place, runs in cells:
            rows += self._rows(place, runs)
        agents: dict[str, dict[str, pd.DataFrame]] = {}
        for place, runs in cells:
            if not _oracle(place):
                agents.setdefault(_scale(place), {})[place.model] = runs
        where = Place(cells[0][0].task, split=SPLIT)
        for scale, mine in agents.items():
            rows += self._claims(where.at(setting=Setting({"scale": scale})), mine)
        return [*rows, *self._differences(where, agents)]

    def _rows(self, place: Place, runs: pd.DataFrame) -> Iterator[Row]:
        def found(metric: str, samples: NDArray[np.float64], **words: int) -> Row:
            where = place.at(setting=place.setting | words, split=SPLIT, metric=metric)
            return row_of(where, Value(*medians.bounds_of(samples)), runs)

        for metric in OUTCOMES:
            for time, column in lengths(runs, metric).items():
                if metric in OUTCOMES[:2] or time in self.report.shown:
                    yield found(metric, _shares(runs, column), T=time)
        yield found("trained", self._mean(runs, self.report.trained))
        yield found("t50", self._t50(runs))
        yield found(LATE, runs[LATE].to_numpy(float))

    def _mean(self, runs: pd.DataFrame, times: Sequence[int]) -> NDArray[np.float64]:
        """Mean success of every seed over the times from the first to the last."""
        shares = [_shares(runs, column) for time, column in _success(runs).items() if times[0] <= time <= times[-1]]
        return np.asarray(np.mean(shares, axis=0), float)

    def _t50(self, runs: pd.DataFrame) -> NDArray[np.float64]:
        longer = {time: column for time, column in _success(runs).items() if time > self.report.trained[1]}
        failed = np.array([_shares(runs, column) < self.report.failed for column in longer.values()])
        first = np.where(failed.any(0), failed.argmax(0), len(failed))
        return np.array([*longer, max(longer) + 1], float)[first]

    def _claims(self, where: Place, agents: Mapping[str, pd.DataFrame]) -> Iterator[Row]:
        for name, said in self.report.claims.items():
            found = timing_claims.tested(said, agents, self._t50, self._mean)
            if found:
                claim, runs = found
                yield claim.row(where.at(metric=f"{CLAIM}{name}"), runs, *map(count_note, runs))

    def _differences(self, where: Place, agents: Mapping[str, Mapping[str, pd.DataFrame]]) -> Iterator[Row]:
        by_scale = {scale: {model: self._t50(runs) for model, runs in mine.items()} for scale, mine in agents.items()}
        for found in timing_claims.differences(self.report.differences, by_scale):
            both = [agents[found.scale][model] for model in found.pair]
            metric = " ".join([DIFFERENCE, *found.pair])
            place = where.at(setting=Setting({"scale": found.scale}), metric=metric)
            smaller = min(both, key=len)
            notes = tuple(filter(None, [found.says, *map(count_note, both)]))
            yield Row(place, found.ours, len(smaller), int(smaller["steps"].iloc[0]), notes=notes)

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        of_agents = [line for line in lines if line.place.model]
        by_scale = grouped(of_agents, lambda line: _scale(line.place))
        found = [self._success_table(mine, scale) for scale, mine in by_scale.items()]
        found += [self._outcomes_table(mine, scale) for scale, mine in by_scale.items()]
        found += [self._differences_table(lines), self._claims_table(lines)]
        return [table for table in found if table.rows]

    def _success_table(self, lines: Sequence[Line], scale: str) -> Table:
        trained = "–".join(map(str, self.report.trained))
        header = ["Agent", "T50", f"Success at T = {trained}", *map(str, self.report.shown), "Late gain, points"]
        usual = statistics.mode(line.n_seeds for line in lines)
        last = _last(lines)
        rows: list[list[Shown]] = []
        for name, mine in grouped(lines, lambda line: _name(line.place)).items():
            shares = {_time(line): line for line in mine if line.place.metric == "success"}
            mean, t50, gain = (_line(mine, metric) for metric in ("trained", "t50", LATE))
            beyond = [Ours(shares[time], percent, alone=True) if time in shares else EMPTY
                      for time in self.report.shown]  # fmt: skip
            remarks = [f"{mean.n_seeds} seeds" if mean.n_seeds != usual else "", self._mastery(mean)]
            rows.append([
                "; ".join(filter(None, [name, *remarks])), Ours(t50, _until(last)), Ours(mean, percent), *beyond,
                Ours(gain, lambda value: f"{100 * value:+.1f}"),
            ])  # fmt: skip
        return Table(f"{self.experiment.title}, {timing_panels.told(scale)} ({self.experiment.source})", header, rows)

    def _mastery(self, mean: Line) -> str:
        """A remark on an agent that has not mastered the trained times."""
        return "" if mean.ours.value >= self.report.mastered else "not mastered"

    def _outcomes_table(self, lines: Sequence[Line], scale: str) -> Table:
        header = ["Early / late / never at T =", *map(str, self.report.shown)]
        rows: list[list[Shown]] = []
        for name, mine in grouped(lines, lambda line: _name(line.place)).items():
            shares = {(line.place.metric, _time(line)): line.ours.value for line in mine
                      if line.place.metric in OUTCOMES[2:]}  # fmt: skip
            texts = [
                " / ".join(f"{100 * shares[outcome, time]:.0f}" for outcome in OUTCOMES[2:])
                if ("early", time) in shares else EMPTY for time in self.report.shown
            ]  # fmt: skip
            rows.append([name, *texts])
        return Table(f"How they fail, in percent of the episodes, {timing_panels.told(scale)}", header, rows)

    def _differences_table(self, lines: Sequence[Line]) -> Table:
        means = {(_scale(line.place), line.place.model): line for line in lines
                 if line.place.metric == "trained" and not _oracle(line.place)}  # fmt: skip
        rows: list[list[Shown]] = []
        for line in lines:
            if line.place.metric.startswith(DIFFERENCE):
                scale, pair = _scale(line.place), line.place.metric.split()[1:]
                named = [(style.label(model), self._mastery(means[scale, model])) for model in pair]
                agents = ["; ".join(filter(None, name)) for name in named]
                rows.append([timing_panels.told(scale), *agents, Ours(line, "{:.1f}".format), "; ".join(line.notes)])
        header = ["", "this agent", "and that one", "difference", "this one lasts"]
        return Table("Differences of T50, said after Holm's correction over all of them", header, rows)

    def _claims_table(self, lines: Sequence[Line]) -> Table:
        last = _last(lines)
        rows: list[list[Shown]] = []
        for line in lines:
            name, printed = line.place.metric.removeprefix(CLAIM), self.published.get(line.place)
            if line.place.metric.startswith(CLAIM):
                who = "us" if printed and printed.own else "the source"
                rows.append([
                    timing_panels.told(_scale(line.place)), line.printed_text, who,
                    tested_by(line), Ours(line, self._form(self.report.claims[name], last)), Judged(line),
                ])  # fmt: skip
        title = f"Claims. {self.experiment.title} ({self.experiment.source})"
        return Table(title, ["", "The claim", "said by", "tested by", "ours", "verdict"], rows)

    def _form(self, said: Sentence, last: int) -> Format:
        """How the number of a claim is written: a difference of T50, a share, or a T50."""
        if said.pairs:
            return "{:.1f}".format
        return _until(last) if said.times is None else percent

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[Figure, pd.DataFrame]":
        """Success by time, a row for each scale; T50 of every seed below."""
        longest = pd.concat(
            pd.DataFrame({"agent": _name(place), "scale": _scale(place), "seed": runs["seed"], "t50": self._t50(runs)})
            for place, runs in by_cell(measured.runs)
        )
        success = [line for line in lines if line.place.metric == "success"]
        shares = frame(success).assign(
            time=[_time(line) for line in success], scale=[_scale(line.place) for line in success],
            agent=[_name(line.place) for line in success],
        )  # fmt: skip
        return timing_panels.draw(shares, longest, self.report.panels, self.report.trained)

    def pictures(self, measured: Measured) -> dict[str, bytes]:
        """`film.png` and `film.gif`: the first seed of every agent that is told T itself, between opposite corners."""
        films: dict[str, dict[int, timing_film.Squares]] = {}
        size = target = 0
        for place, runs in by_cell(measured.runs):
            arrays = measured.arrays(runs["cell"].iloc[0], runs["seed"].min())
            if "squares" in arrays and float(_scale(place)) == 1:
                times = arrays["times"].astype(int).tolist()
                films[_name(place)] = dict(zip(times, arrays["squares"].astype(np.float32), strict=True))
                size, target = arrays["grid"].astype(int).tolist()
        if not films:
            return {}
        episodes = timing_film.scenes(films, size, target, GRACE)
        return {"film.png": timing_film.strip(episodes), "film.gif": timing_film.film(episodes)}


def _late_gain(steps: NDArray[np.float64], returns: NDArray[np.float64]) -> float:
    """Growth of a curve from four fifths of its steps, or the first evaluation after them, to its end."""
    return float(returns[-1] - returns[steps >= (1 - FIFTH) * steps[-1]][0])


def _line(lines: Sequence[Line], metric: str) -> Line:
    """The one line of a metric."""
    (found,) = [line for line in lines if line.place.metric == metric]
    return found


def _shares(runs: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Shares of every seed; a run without any, which diverged at once, has none of everything."""
    return runs[column].fillna(0.0).to_numpy(float)


def _success(runs: pd.DataFrame) -> dict[int, str]:
    return lengths(runs, "success")


def _scale(place: Place) -> str:
    return place.setting.get("scale", "")


def _time(line: Line) -> int:
    return int(line.place.setting["T"])


def _last(lines: Sequence[Line]) -> int:
    """The longest tested T."""
    return max(_time(line) for line in lines if line.place.metric == "success")


def _until(last: int) -> Format:
    """The text of a T50; beyond the last tested T it is not known."""
    return lambda value: f"> {last}" if value > last else f"{round(value, 1):g}"


def _oracle(place: Place) -> bool:
    """Whether an agent is told how much time remains: it need not count."""
    return place.setting.get("told") == REMAINING


def _name(place: Place) -> str:
    return style.label(place.model) + (", told T − t" if _oracle(place) else "")
