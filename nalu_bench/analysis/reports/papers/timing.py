"""Success of agents that must arrive at time T, as in section 4.5 of Trask et al. 2018."""

import statistics
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.measure.lengths import lengths
from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note, records, values_of
from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.tables import Table, ours, percent
from nalu_bench.analysis.reports.kind import Kind, Row, Settings, claimed
from nalu_bench.analysis.reports.papers import timing_claims, timing_film, timing_panels
from nalu_bench.analysis.reports.papers.timing_claims import Claim
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.stats.verdicts import Comparison
from nalu_bench.environments.grid_world import GRACE, REMAINING
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPLIT = "test"
DIFFERENCE = "t50_difference"

OURS = "this project"
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
    claims: dict[str, Claim] = field(default_factory=dict)
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
    `claims`, see `timing_claims.Claim`; `differences`, pairs of models; `panels` of the figure, {title: models}.
    """

    settings = TimingSettings
    shows_notes = True
    metrics: ClassVar[Mapping[str, Span | None]] = {"claim_*": None}

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        for name, claim in self.report["claims"].items():
            timing_claims.check(name, claim)
        for want in cells:
            self._check_times(want.cell)

    def _check_times(self, cell: Cell) -> None:
        trained, tested = (getattr(cell.task, key, None) for key in ("times", "test_times"))
        if trained is None or tested is None:
            raise UsageError(
                f"a report of kind timing needs a task with times and test_times, as grid_world, got {cell.task.name}."
            )
        shortest, longest = self.report["trained"]
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
        for words, runs in cells:
            rows += self._rows(words, runs)
        agents: dict[str, dict[str, pd.DataFrame]] = {}
        for words, runs in cells:
            if not _oracle(words):
                agents.setdefault(_scale(words), {})[words["model"]] = runs
        keys = {"task": cells[0][0]["task"], "operation": "", "split": SPLIT, "model": ""}
        for scale, mine in agents.items():
            rows += self._claims(keys | {"setting": f"scale={scale}"}, mine)
        return [*rows, *self._differences(keys, agents)]

    def _rows(self, words: dict[str, str], runs: pd.DataFrame) -> Iterator[Row]:
        def row(metric: str, time: str, samples: NDArray[np.float64]) -> Row:
            setting = ";".join(filter(None, [words["setting"], time]))
            where = {**words, "setting": setting, "split": SPLIT, "metric": metric}
            value = medians.bounds_of(samples)
            return Row(where, *value, len(runs), int(runs["steps"].iloc[0]), None, count_note(runs))

        for metric in OUTCOMES:
            for time, column in lengths(runs, metric).items():
                if metric in OUTCOMES[:2] or time in self.report["shown"]:
                    yield row(metric, f"T={time}", _shares(runs, column))
        yield row("trained", "", self._mean(runs, self.report["trained"]))
        yield row("t50", "", self._t50(runs))
        yield row(LATE, "", runs[LATE].to_numpy(float))

    def _mean(self, runs: pd.DataFrame, times: Sequence[int]) -> NDArray[np.float64]:
        """Mean success of every seed over the times from the first to the last."""
        shares = [_shares(runs, column) for time, column in _success(runs).items() if times[0] <= time <= times[-1]]
        return np.asarray(np.mean(shares, axis=0), float)

    def _t50(self, runs: pd.DataFrame) -> NDArray[np.float64]:
        longer = {time: column for time, column in _success(runs).items() if time > self.report["trained"][1]}
        failed = np.array([_shares(runs, column) < self.report["failed"] for column in longer.values()])
        first = np.where(failed.any(0), failed.argmax(0), len(failed))
        return np.array([*longer, max(longer) + 1], float)[first]

    def _claims(self, keys: dict[str, str], agents: Mapping[str, pd.DataFrame]) -> Iterator[Row]:
        for name, settings in self.report["claims"].items():
            found = timing_claims.tested(Claim(**settings), agents, self._t50, self._mean)
            if found:
                compare = claimed(*found.interval[1:], found.limit, above=found.above)
                yield _row(keys | {"metric": f"claim_{name}"}, found.interval, found.runs, found.what, compare)

    def _differences(self, keys: dict[str, str], agents: Mapping[str, Mapping[str, pd.DataFrame]]) -> Iterator[Row]:
        by_scale = {scale: {model: self._t50(runs) for model, runs in mine.items()} for scale, mine in agents.items()}
        for found in timing_claims.differences(self.report["differences"], by_scale):
            runs = [agents[found.scale][model] for model in found.pair]
            words = {"setting": f"scale={found.scale}", "metric": " ".join([DIFFERENCE, *found.pair])}
            yield _row(keys | words, found.interval, runs, found.says)

    def tables(self, table: pd.DataFrame) -> list[Table]:
        lines = records(table)
        scales = list(dict.fromkeys(_scale(line) for line in lines if line["model"]))
        found = [self._success_table([line for line in lines if _scale(line) == scale], scale) for scale in scales]
        found += [self._outcomes_table([line for line in lines if _scale(line) == scale], scale) for scale in scales]
        differences = [line for line in lines if line["metric"].startswith(DIFFERENCE)]
        mastered = {
            f"{_scale(line)} {line['model']}" for line in lines
            if line["metric"] == "trained" and not _oracle(line) and line["ours"] >= self.report["mastered"]
        }  # fmt: skip
        found += [self._differences_table(differences, mastered), self._claims_table(lines)]
        return [table for table in found if table.rows]

    def _success_table(self, lines: list[dict[str, Any]], scale: str) -> Table:
        trained = "–".join(map(str, self.report["trained"]))
        shown = map(str, self.report["shown"])
        header = ["Agent", "T50", f"Success at T = {trained}", *shown, "Late gain, points"]
        usual = statistics.mode(line["n_seeds"] for line in lines if line["model"])
        last = _last(lines)
        rows = []
        for name, mine in _agents(lines).items():
            shares = {_time(line): line for line in mine if line["metric"] == "success"}
            mean, t50, gain = (_line(mine, metric) for metric in ("trained", "t50", LATE))
            beyond = [percent(shares[time]["ours"]) if time in shares else "–" for time in self.report["shown"]]
            remarks = [
                f"{mean['n_seeds']} seeds" if mean["n_seeds"] != usual else "",
                "" if mean["ours"] >= self.report["mastered"] else "not mastered",
            ]
            rows.append(
                [
                    "; ".join(filter(None, [name, *remarks])), ours(t50, _until(last)), ours(mean, percent), *beyond,
                    ours(gain, lambda value: f"{100 * value:+.1f}"),
                ]
            )  # fmt: skip
        return Table(f"{self.experiment.title}, {timing_panels.told(scale)} ({self.experiment.source})", header, rows)

    def _outcomes_table(self, lines: list[dict[str, Any]], scale: str) -> Table:
        header = ["Early / late / never at T =", *map(str, self.report["shown"])]
        rows = []
        for name, mine in _agents(lines).items():
            shares = {(line["metric"], _time(line)): line["ours"] for line in mine if line["metric"] in OUTCOMES[2:]}
            texts = [
                " / ".join(f"{100 * shares[outcome, time]:.0f}" for outcome in OUTCOMES[2:])
                if ("early", time) in shares else "–" for time in self.report["shown"]
            ]  # fmt: skip
            rows.append([name, *texts])
        return Table(f"How they fail, in percent of the episodes, {timing_panels.told(scale)}", header, rows)

    def _differences_table(self, lines: list[dict[str, Any]], mastered: Collection[str]) -> Table:
        rows = [
            [
                timing_panels.told(_scale(line)),
                *(style.label(model) + ("" if f"{_scale(line)} {model}" in mastered else "; not mastered")
                  for model in line["metric"].split()[1:]),
                ours(line, "{:.1f}".format), line["note"],
            ]
            for line in lines
        ]  # fmt: skip
        header = ["", "this agent", "and that one", "difference", "this one lasts"]
        return Table("Differences of T50, said after Holm's correction over all of them", header, rows)

    def _claims_table(self, lines: list[dict[str, Any]]) -> Table:
        said = {(row["metric"], row["setting"]): row["source"] for row in records(self.published)}
        texts, until = {"success at": percent, "T50 of": "{:.1f}".format}, _until(_last(lines))
        rows = [
            [
                timing_panels.told(_scale(line)), line["printed"],
                "us" if said.get((line["metric"], line["setting"])) == OURS else "the source",
                line["note"].replace("; a claim in words", ""),
                ours(line, next((text for words, text in texts.items() if words in line["note"]), until)),
                line["verdict"] or "–",
            ]
            for line in lines
            if line["metric"].startswith("claim_")
        ]  # fmt: skip
        title = f"Claims. {self.experiment.title} ({self.experiment.source})"
        return Table(title, ["", "The claim", "said by", "tested by", "ours", "verdict"], rows)

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """Success by time, a row for each scale; T50 of every seed below."""
        longest = pd.concat(
            pd.DataFrame({"agent": _name(words), "scale": _scale(words), "seed": runs["seed"], "t50": self._t50(runs)})
            for words, runs in by_cell(measured.runs)
        )
        shares = table[table["metric"] == "success"]
        shares = shares.assign(
            time=[_time(line) for line in records(shares)], scale=[_scale(line) for line in records(shares)],
            agent=[_name(line) for line in records(shares)],
        )  # fmt: skip
        return timing_panels.draw(shares, longest, self.report["panels"], self.report["trained"])

    def pictures(self, measured: Measured) -> dict[str, bytes]:
        """`film.png` and `film.gif`: the first seed of every agent that is told T itself, between opposite corners."""
        films: dict[str, dict[int, timing_film.Squares]] = {}
        size = target = 0
        for words, runs in by_cell(measured.runs):
            arrays = measured.arrays(runs["cell"].iloc[0], runs["seed"].min())
            if "squares" in arrays and float(_scale(words)) == 1:
                times = arrays["times"].astype(int).tolist()
                films[_name(words)] = dict(zip(times, arrays["squares"].astype(np.float32), strict=True))
                size, target = arrays["grid"].astype(int).tolist()
        if not films:
            return {}
        episodes = timing_film.scenes(films, size, target, GRACE)
        return {"film.png": timing_film.strip(episodes), "film.gif": timing_film.film(episodes)}


def _row(
    keys: dict[str, str], interval: tuple[float, float, float], groups: Sequence[pd.DataFrame], note: str,
    compare: "Callable[[dict[str, str]], Comparison] | None" = None,
) -> Row:  # fmt: skip
    """A row on one agent or two; the seeds are those of the smaller group."""
    notes = "; ".join(dict.fromkeys(filter(None, [note, *map(count_note, groups)])))
    return Row(keys, *interval, min(map(len, groups)), int(groups[0]["steps"].iloc[0]), compare, notes)


def _late_gain(steps: NDArray[np.float64], returns: NDArray[np.float64]) -> float:
    """Growth of a curve from four fifths of its steps, or the first evaluation after them, to its end."""
    return float(returns[-1] - returns[steps >= (1 - FIFTH) * steps[-1]][0])


def _line(lines: Sequence[dict[str, Any]], metric: str) -> dict[str, Any]:
    """The one line of a metric."""
    (found,) = [line for line in lines if line["metric"] == metric]
    return found


def _shares(runs: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Shares of every seed; a run without any, which diverged at once, has none of everything."""
    return runs[column].fillna(0.0).to_numpy(float)


def _success(runs: pd.DataFrame) -> dict[int, str]:
    return lengths(runs, "success")


def _scale(words: Mapping[str, Any]) -> str:
    return values_of(str(words["setting"])).get("scale", "")


def _time(line: Mapping[str, Any]) -> int:
    return int(values_of(str(line["setting"]))["T"])


def _last(lines: Sequence[dict[str, Any]]) -> int:
    """The longest tested T."""
    return max(_time(line) for line in lines if line["metric"] == "success")


def _until(last: int) -> Callable[[float], str]:
    """The text of a T50; beyond the last tested T it is not known."""
    return lambda value: f"> {last}" if value > last else f"{round(value, 1):g}"


def _oracle(words: Mapping[str, Any]) -> bool:
    """Whether an agent is told how much time remains: it need not count."""
    return values_of(str(words["setting"])).get("told") == REMAINING


def _name(words: Mapping[str, Any]) -> str:
    return style.label(str(words["model"])) + (", told T − t" if _oracle(words) else "")


def _agents(lines: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The lines of every agent, by its name."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        if line["model"]:
            found.setdefault(_name(line), []).append(line)
    return found
