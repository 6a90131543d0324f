"""Reward and success of agents that must arrive at time T: Figure 5 and section 4.5 of Trask et al. 2018."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.measure.lengths import lengths
from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings, against_printed, row_of
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.stats.words import Better
from nalu_bench.analysis.table.claim import CLAIM
from nalu_bench.analysis.table.layout import Table
from nalu_bench.analysis.table.line import Compare, Line, Row, Value, chosen_by
from nalu_bench.analysis.table.place import Place
from nalu_bench.environments.grid_world import GRACE
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018 import timing_claims, timing_film, timing_panels, timing_t50, timing_tables
from nalu_bench.papers.trask2018.timing_claims import SUCCESS, Agents, Sentence
from nalu_bench.papers.trask2018.timing_tables import LATE, OUTCOMES, REWARD, TRAINED, in_words
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.registry import register

SPLIT = "test"
CURVES = (REWARD, SUCCESS, "sampled")
"""What has a row for every tested T; the outcomes have one for those that the tables show."""

AXIS: Span = (-1, 1)
"""The printed axis of average rewards."""

FIFTH = 0.2


@dataclass
class TimingSettings(Settings):
    """See `Timing`."""

    trained: list[int]
    failed: float
    shown: list[int]
    read_off: float = 0.0
    fitted: dict[str, list[int]] = field(default_factory=dict)
    claims: dict[str, Sentence] = field(default_factory=dict)
    differences: list[list[str]] = field(default_factory=list)


@register("timing", version=1)
class Timing(Kind):
    """Rows are agents, columns times; a group of agents is what sees, is rewarded and is told T in the same way.

        reward(T)  = mean reward of the test episodes with this T
        success(T) = share of them in which action T was the first to enter the target
        T50        = the first T beyond the trained ones with a success below `failed`, of each seed
        late gain  = mean return in validation at the last step − that at four fifths of the steps

    The policy is greedy; `sampled` is the success of the policy that explores. Rewards and shares are medians over
    seeds with their intervals. A seed that fails at no tested T has a T50 beyond, which is censored, see `timing_t50`:
    a median may be `> 60`, and differences are of means restricted at the last tested T. Which of two agents lasts
    longer is said by the log-rank test after Holm's correction over all differences.

    Printed rewards are read off a figure, and compared with the range of our seeds. Claims in words are tested
    wherever their sentence is printed; those on pairs of agents where they are furthest from true.

    Source: Trask et al. 2018, section 4.5 and Figure 5. Deviations: all limits are ours.

    Settings: `trained`, the shortest and longest T in training; `failed`; `shown`, the T of the tables;
    `read_off`, by how much a printed reward may be off; `fitted`, model -> the first and last T whose printed rewards
    were used to choose the protocol; `claims`, see `timing_claims.Sentence`; `differences`, pairs of models.
    """

    own_words = ("T",)
    settings = TimingSettings
    report: TimingSettings
    shows_notes = True
    metrics: ClassVar[Mapping[str, Span | None]] = {f"{CLAIM}*": None, REWARD: AXIS}
    named: ClassVar[Mapping[str, str]] = {REWARD: "Average reward"}

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
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
        gained = runs["seed"].map(gains).astype(float).rename(LATE)
        return pd.concat([runs.drop(columns=LATE, errors="ignore"), gained], axis=1)

    def rows(self, measured: Measured) -> list[Row]:
        cells = list(by_cell(measured.runs))
        groups = self._groups(cells)
        claims = [row for agents in groups for row in self._claims(agents)]
        differences = timing_claims.differences(self.report.differences, groups)
        return [*claims, *(row for place, runs in cells for row in self._rows(place, runs)), *differences]

    def _groups(self, cells: Sequence[tuple[Place, pd.DataFrame]]) -> list[Agents]:
        found: dict[Place, dict[str, pd.DataFrame]] = {}
        for place, runs in cells:
            found.setdefault(place.at(model="", split=SPLIT), {})[place.model] = runs
        return [
            Agents(place, mine, {model: self._t50(runs) for model, runs in mine.items()}, _last(*mine.values()))
            for place, mine in found.items()
        ]

    def _rows(self, place: Place, runs: pd.DataFrame) -> Iterator[Row]:
        def found(metric: str, ours: tuple[float, float, float], compare: Compare | None = None, **words: int) -> Row:
            where = place.at(setting=place.setting | words, split=SPLIT, metric=metric)
            return row_of(where, Value(*ours), runs, compare=compare)

        for metric in (*CURVES, *OUTCOMES):
            for time, column in lengths(runs, metric).items():
                samples = _figures(runs, column)
                compare = self._compare(place.model, time, samples) if metric == REWARD else None
                if metric in CURVES or time in self.report.shown:
                    yield found(metric, medians.bounds_of(samples), compare, T=time)
        yield found(TRAINED, medians.bounds_of(self._mean(runs, SUCCESS, self.report.trained)))
        yield found("t50", timing_t50.shown(self._t50(runs)))
        yield found(LATE, medians.bounds_of(runs[LATE].to_numpy(float)))

    def _compare(self, model: str, time: int, samples: NDArray[np.float64]) -> Compare:
        first, last = self.report.fitted.get(model, (1, 0))
        compare = against_printed(samples, AXIS, Better.HIGHER, self.report.read_off)
        return chosen_by(compare) if first <= time <= last else compare

    def _mean(self, runs: pd.DataFrame, share: str, times: Sequence[int]) -> NDArray[np.float64]:
        """Mean of a share of every seed over the times from the first to the last."""
        columns = [column for time, column in lengths(runs, share).items() if times[0] <= time <= times[-1]]
        return np.asarray(np.mean([_figures(runs, column) for column in columns], axis=0), float)

    def _t50(self, runs: pd.DataFrame) -> NDArray[np.float64]:
        shares = {time: _figures(runs, column) for time, column in lengths(runs, SUCCESS).items()}
        beyond = {time: share for time, share in shares.items() if time > self.report.trained[1]}
        return timing_t50.first_failures(beyond, self.report.failed)

    def _claims(self, agents: Agents) -> Iterator[Row]:
        for name, said in self.report.claims.items():
            for model, claim, runs in timing_claims.tested(said, agents, self._mean):
                place = agents.place.at(model=model, metric=f"{CLAIM}{name}")
                if place in self.published:
                    yield claim.row(place, runs, *map(count_note, runs))

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        return timing_tables.tables(self.experiment.heading, lines, self.report.shown, self.report.claims)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """Average reward and success by time, a column for each group; T50 of every seed below."""
        cells = list(by_cell(measured.runs))
        longest = pd.concat(
            pd.DataFrame({
                "agent": style.label(place.model), "group": in_words(place), "seed": runs["seed"],
                "t50": self._t50(runs),
            })
            for place, runs in cells
        )  # fmt: skip
        last = max(_last(runs) for _, runs in cells)
        return timing_panels.draw(timing_tables.by_time(lines, (REWARD, SUCCESS)), longest, self.report.trained, last)

    def pictures(self, measured: Measured) -> dict[str, bytes]:
        """`film.png` and `film.gif`: the first seed of every agent of the first two groups, from corner to corner."""
        films: dict[str, dict[int, timing_film.Squares]] = {}
        size = target = 0
        cells = list(by_cell(measured.runs))
        filmed = list(dict.fromkeys(place.at(model="") for place, _ in cells))[:2]
        for place, runs in cells:
            arrays = measured.arrays(runs["cell"].iloc[0], runs["seed"].min())
            if "squares" in arrays and place.at(model="") in filmed:
                times = arrays["times"].astype(int).tolist()
                films[style.label(place.model)] = dict(zip(times, arrays["squares"].astype(np.float32), strict=True))
                size, target = arrays["grid"].astype(int).tolist()
        if not films:
            return {}
        episodes = timing_film.scenes(films, size, target, GRACE)
        return {"film.png": timing_film.strip(episodes), "film.gif": timing_film.film(episodes)}


def _late_gain(steps: NDArray[np.float64], returns: NDArray[np.float64]) -> float:
    """Growth of a curve from four fifths of its steps, or the first evaluation after them, to its end."""
    return float(returns[-1] - returns[steps >= (1 - FIFTH) * steps[-1]][0])


def _figures(runs: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Shares or rewards of every seed; a run without any, which diverged at once, has none of everything."""
    return runs[column].fillna(0.0).to_numpy(float)


def _last(*runs: pd.DataFrame) -> int:
    """The last tested T."""
    return max(time for one in runs for time in lengths(one, SUCCESS))
