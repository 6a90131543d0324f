"""Success of agents that must arrive at time T, as in section 4.5 of Trask et al. 2018."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.measure.lengths import lengths
from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note, records, values_of
from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.tables import Table, ours, percent
from nalu_bench.analysis.reports.kind import Kind, Row, Settings, claimed
from nalu_bench.analysis.reports.papers import timing_film, timing_panels
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.intervals import mean_difference
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.environments.grid_world import REMAINING
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Wanted
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPLIT = "test"
OUTCOMES = ("success", "sampled", "early", "late", "never")
MASTERED, HELD, FAILED = VERDICTS = ("mastered", "held", "failed")


@dataclass
class Claim:
    """A claim in words: these models all have mastered, held or failed the times from the first to the second."""

    models: list[str]
    times: list[int]
    verdict: str


@dataclass
class TimingSettings(Settings):
    """See `Timing`."""

    trained: list[int]
    mastered: float
    failed: float
    shown: list[int]
    claims: dict[str, Claim]
    differences: list[list[str]]
    panels: dict[str, list[str]]


@register("timing", version=1)
class Timing(Kind):
    """Rows are agents, columns times; one set of tables for every scale of the time.

        success(T) = share of the test episodes with this T in which action T was the first to enter the target
        T50        = the first T beyond the trained ones with a success below `failed`, of each seed

    The policy is greedy; `sampled` is the success of the policy that explores. Every share is the median over seeds
    with its interval. If an agent fails at no tested T, its T50 counts as the next one. The difference of two agents
    is that of their mean T50, with Welch's 95 % interval.

    A claim in words is tested on the mean success over its times: *mastered* is at least `mastered`, *held* at least
    `failed`, *failed* below that. It is tested on the agent where it is furthest from true.

    Source: Trask et al. 2018, section 4.5. Deviations: the paper shows a curve without numbers; all limits are ours.

    Settings: `trained`, the shortest and longest T in training; `mastered`, `failed`; `shown`, the T of the tables;
    `claims`, {name: {models, times, verdict}}; `differences`, pairs of models; `panels` of the figure, {title: models}.
    """

    settings = TimingSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {"claim_*": None}

    def check(self, cells: Sequence[Wanted]) -> None:
        super().check(cells)
        for name, claim in self.report["claims"].items():
            if claim["verdict"] not in VERDICTS:
                raise UsageError(f"the claim {name} must say {MASTERED}, {HELD} or {FAILED}, got {claim['verdict']}.")

    def require(self, measured: Measured) -> None:
        longest = self.report["trained"][1]
        if not any(time > longest for time in _success(measured.runs)):
            raise UsageError(f"T50 needs a test beyond the trained times: task.test_times must end above {longest}.")

    def rows(self, measured: Measured) -> list[Row]:
        rows: list[Row] = []
        cells = list(by_cell(measured.runs))
        for words, runs in cells:
            rows += self._rows(words, runs)
        for scale in dict.fromkeys(_scale(words) for words, _ in cells):
            agents = {words["model"]: runs for words, runs in cells if _scale(words) == scale and not _oracle(words)}
            task = next(words["task"] for words, _ in cells if _scale(words) == scale)
            keys = {"task": task, "setting": f"scale={scale}", "operation": "", "split": SPLIT, "model": ""}
            rows += [*self._claims(keys, agents), *self._differences(keys, agents)]
        return rows

    def _rows(self, words: dict[str, str], runs: pd.DataFrame) -> Iterator[Row]:
        def row(metric: str, time: str, samples: NDArray[np.float64]) -> Row:
            setting = ";".join(filter(None, [words["setting"], time]))
            where = {**words, "setting": setting, "split": SPLIT, "metric": metric}
            value = medians.median_of(samples)
            return Row(where, *value, len(runs), int(runs["steps"].iloc[0]), None, count_note(runs))

        for metric in OUTCOMES:
            for time, column in lengths(runs, metric).items():
                if metric in OUTCOMES[:2] or time in self.report["shown"]:
                    yield row(metric, f"T={time}", _shares(runs, column))
        yield row("trained", "", self._mean(runs, self.report["trained"]))
        yield row("t50", "", self._t50(runs))

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
        for name, claim in self.report["claims"].items():
            tested = {
                model: medians.bounds_of(self._mean(agents[model], claim["times"]))
                for model in claim["models"]
                if model in agents
            }
            if not tested:
                continue
            above = claim["verdict"] != FAILED
            limit = self.report[MASTERED if claim["verdict"] == MASTERED else FAILED]
            worst = (min if above else max)(tested, key=lambda model: tested[model][0])
            value, low, high = tested[worst]
            runs = agents[worst]
            first, last = claim["times"][0], claim["times"][-1]
            times = f"T = {first}" if first == last else f"T = {first} to {last}"
            what = f"success of at least {limit:g}" if above else f"success of at most {limit:g}"
            yield Row(
                keys | {"metric": f"claim_{name}"}, value, low, high, len(runs), int(runs["steps"].iloc[0]),
                claimed(low, high, limit, what, above), f"{style.label(worst)}, {times}",
            )  # fmt: skip

    def _differences(self, keys: dict[str, str], agents: Mapping[str, pd.DataFrame]) -> Iterator[Row]:
        for one, other in self.report["differences"]:
            if one in agents and other in agents:
                value = mean_difference(self._t50(agents[one]), self._t50(agents[other]))
                runs = agents[one]
                metric = f"t50_difference {one} {other}"
                yield Row(
                    keys | {"metric": metric}, *value, len(runs), int(runs["steps"].iloc[0]), None, count_note(runs)
                )

    def tables(self, table: pd.DataFrame) -> list[Table]:
        lines = records(table)
        scales = list(dict.fromkeys(_scale(line) for line in lines))
        found = [self._success_table([line for line in lines if _scale(line) == scale], scale) for scale in scales]
        found += [self._outcomes_table([line for line in lines if _scale(line) == scale], scale) for scale in scales]
        differences = [line for line in lines if line["metric"].startswith("t50_difference")]
        return [*found, self._differences_table(differences), self._claims_table(lines)]

    def _success_table(self, lines: list[dict[str, Any]], scale: str) -> Table:
        trained = "–".join(map(str, self.report["trained"]))
        header = ["Success at T =", trained, *map(str, self.report["shown"]), "T50"]
        rows = []
        for name, mine in _agents(lines).items():
            shares = {_time(line): line for line in mine if line["metric"] == "success"}
            (mean,) = [line for line in mine if line["metric"] == "trained"]
            (t50,) = [line for line in mine if line["metric"] == "t50"]
            shown = [percent(shares[time]["ours"]) if time in shares else "–" for time in self.report["shown"]]
            rows.append([name, ours(mean, percent), *shown, ours(t50, "{:g}".format)])
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

    def _differences_table(self, lines: list[dict[str, Any]]) -> Table:
        rows = []
        for line in lines:
            _, one, other = line["metric"].split()
            low, high = line["ours_low"], line["ours_high"]
            says = "longer" if low > 0 else "shorter" if high < 0 else "not told apart"
            rows.append(
                [
                    timing_panels.told(_scale(line)),
                    style.label(one),
                    style.label(other),
                    ours(line, "{:.1f}".format),
                    says,
                ]
            )
        return Table("Differences of T50", ["", "this agent", "and that one", "difference", "this one lasts"], rows)

    def _claims_table(self, lines: list[dict[str, Any]]) -> Table:
        rows = [
            [
                timing_panels.told(_scale(line)), line["printed"], line["note"].replace("; a claim in words", ""),
                ours(line, percent), line["verdict"] or "–",
            ]
            for line in lines
            if line["metric"].startswith("claim_")
        ]  # fmt: skip
        title = f"Claims. {self.experiment.title} ({self.experiment.source})"
        return Table(title, ["", "The source says", "Tested by", "ours", "verdict"], rows)

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
        grid: list[int] = []
        for words, runs in by_cell(measured.runs):
            recorded = measured.weights[
                (measured.weights["cell"] == runs["cell"].iloc[0]) & (measured.weights["seed"] == runs["seed"].min())
            ]
            arrays = {line["name"]: np.reshape(line["values"], line["shape"]) for line in records(recorded)}
            if "squares" in arrays and float(_scale(words)) == 1:
                times = arrays["times"].astype(int).tolist()
                films[_name(words)] = dict(zip(times, arrays["squares"].astype(np.float32), strict=True))
                grid = arrays["grid"].astype(int).tolist()
        if not films:
            return {}
        return {"film.png": timing_film.strip(films, *grid), "film.gif": timing_film.film(films, *grid)}


def _shares(runs: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Shares of every seed; a run without any, which diverged at once, has none of everything."""
    return runs[column].fillna(0.0).to_numpy(float)


def _success(runs: pd.DataFrame) -> dict[int, str]:
    return lengths(runs, "success")


def _scale(words: Mapping[str, Any]) -> str:
    return values_of(str(words["setting"])).get("scale", "")


def _time(line: Mapping[str, Any]) -> int:
    return int(values_of(str(line["setting"]))["T"])


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
