"""The tables of agents that tell the time."""

import math
import statistics
from collections.abc import Mapping, Sequence

import pandas as pd

from nalu_bench.analysis.render import style
from nalu_bench.analysis.table.claim import CLAIM
from nalu_bench.analysis.table.claims import claims_table, parted
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.formats import Format, one_decimal, percent
from nalu_bench.analysis.table.layout import EMPTY, Ours, Shown, Table, beside, stacked
from nalu_bench.analysis.table.line import Line, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.papers.trask2018.timing_claims import DIFFERENCE, SUCCESS, Sentence

REWARD = "reward"
OUTCOMES = ("early", "late", "never")
TRAINED = "trained"
LATE = "late_gain"
"""The fact that tells whether a curve is flat: by how much the validation return grew over the last fifth."""

SEEN = {"grid_world": "planes", "grid_world_pixels": "pixels"}
"""What the agents of a task see."""


def in_words(place: Place) -> str:
    """The group of an agent: `pixels, early costs 0.14, told T`."""
    cost, scale = (float(place.setting.get(word, default)) for word, default in (("cost", 0), ("scale", 1)))
    paid = f"early costs {cost:g}" if cost else "early earns 0"
    return f"{SEEN.get(place.task, place.task)}, {paid}, told {'' if scale == 1 else f'{scale:g} '}T"


def by_time(lines: Sequence[Line], metrics: Sequence[str]) -> pd.DataFrame:
    """The lines that have a T and one of these metrics, with the columns time, group and agent."""
    found = [line for line in lines if line.place.metric in metrics and line.n_seeds]
    return frame(found).assign(
        time=[_time(line) for line in found], group=[in_words(line.place) for line in found],
        agent=[style.label(line.place.model) for line in found],
    )  # fmt: skip


def tables(heading: str, lines: Sequence[Line], shown: Sequence[int], claims: Mapping[str, Sentence]) -> list[Table]:
    """The claims, then rewards, success and outcomes group by group, then the differences.

    Args:
        heading: of the experiment. shown: the T that have columns. claims: what the claims say.
    """
    there, last = [line for line in lines if line.n_seeds], _last(lines)
    agents = [line for line in there if line.place.model and not line.place.metric.startswith(CLAIM)]
    groups = grouped(agents, lambda line: in_words(line.place)).items()
    made = claims_table(
        heading, parted(lines)[0], lambda line: in_words(line.place),
        lambda line: _form(claims[line.place.metric.removeprefix(CLAIM)], last),
    )  # fmt: skip
    made += [_rewards(f"Average reward, {group}. {heading}", mine, shown) for group, mine in groups]
    made += [_success(f"Success, {group}. {heading}", mine, shown) for group, mine in groups]
    made += [_outcomes(f"How they fail, in percent of the episodes, {group}", mine, shown) for group, mine in groups]
    return [table for table in [*made, _differences(there)] if table.rows]


def _rewards(title: str, lines: Sequence[Line], shown: Sequence[int]) -> Table:
    """Of agents with printed rewards these and the verdicts, too."""
    rows: list[list[Shown]] = []
    for agent, mine in grouped(lines, _agent).items():
        found = {_time(line): line for line in mine if line.place.metric == REWARD}
        ways = beside("ours", lambda line: Ours(line, two_decimals), found.values())
        rows += stacked([agent], ways, found, shown) if found else []
    return Table(title, ["Agent", "", *map(_at, shown)], rows)


def _success(title: str, lines: Sequence[Line], shown: Sequence[int]) -> Table:
    usual, last = statistics.mode(line.n_seeds for line in lines), _last(lines)
    rows: list[list[Shown]] = []
    for agent, mine in grouped(lines, _agent).items():
        shares = {_time(line): line for line in mine if line.place.metric == SUCCESS}
        mean, t50, gain = (_line(mine, metric) for metric in (TRAINED, "t50", LATE))
        beyond = [Ours(shares[time], percent, alone=True) if time in shares else EMPTY for time in shown]
        seeds = f"; {mean.n_seeds} seeds" if mean.n_seeds != usual else ""
        rows.append([
            f"{agent}{seeds}", Ours(t50, until(last)), Ours(mean, percent), *beyond,
            Ours(gain, lambda value: f"{100 * value:+.1f}"),
        ])  # fmt: skip
    header = ["Agent", "T50", "Success on the trained T", *map(_at, shown), "Gain of the last fifth, points"]
    return Table(title, header, rows)


def _outcomes(title: str, lines: Sequence[Line], shown: Sequence[int]) -> Table:
    rows: list[list[Shown]] = []
    for agent, mine in grouped(lines, _agent).items():
        shares = {(line.place.metric, _time(line)): line.ours.value for line in mine if line.place.metric in OUTCOMES}
        rows.append([agent, *(
            " / ".join(f"{100 * shares[outcome, time]:.0f}" for outcome in OUTCOMES)
            if (OUTCOMES[0], time) in shares else EMPTY for time in shown
        )])  # fmt: skip
    return Table(title, ["Early / late / never", *map(_at, shown)], rows)


def _differences(lines: Sequence[Line]) -> Table:
    rows: list[list[Shown]] = []
    for line in lines:
        if line.place.metric.startswith(DIFFERENCE):
            agents = map(style.label, line.place.metric.split()[1:])
            rows.append([in_words(line.place), *agents, Ours(line, one_decimal), "; ".join(line.notes[:-1])])
    header = ["", "this agent", "and that one", "difference, steps", "this one lasts"]
    title = f"Differences of mean T50, restricted at T = {_last(lines)}; log-rank test, Holm's correction over all"
    return Table(title, header, rows)


def _form(said: Sentence, last: int) -> Format:
    """How the number of a claim is written: a difference of T50, a share, or a T50."""
    if said.pairs:
        return one_decimal
    return until(last) if said.times is None else percent


def two_decimals(value: float) -> str:
    """A reward."""
    return f"{value + 0.0:.2f}"


def until(last: int) -> Format:
    """The text of a T50, which is infinite where an agent fails at no T up to the last."""
    return lambda value: f"> {last}" if math.isinf(value) else f"{round(value, 1):g}"


def _at(time: int) -> str:
    return f"T = {time}"


def _agent(line: Line) -> str:
    return style.label(line.place.model)


def _line(lines: Sequence[Line], metric: str) -> Line:
    """The one line of a metric."""
    (found,) = [line for line in lines if line.place.metric == metric]
    return found


def _time(line: Line) -> int:
    return int(line.place.setting.get("T", 0))


def _last(lines: Sequence[Line]) -> int:
    """The last tested T; 0 without runs."""
    return max((_time(line) for line in lines if line.place.metric == SUCCESS), default=0)
