"""A search over protocols of a printed table, in closed form: nothing is trained."""

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, records
from nalu_bench.analysis.protocols.closed_form import ONE_OPERAND, Setting, errors
from nalu_bench.analysis.protocols.controls import SEED, rounded, shuffled
from nalu_bench.analysis.protocols.misfit import MEANS, METRICS, SPLITS, misfit
from nalu_bench.analysis.protocols.search import (
    FAMILIES,
    MODELS,
    Predicted,
    Printed,
    Space,
    best,
    predicted,
    ranking,
    suited,
    without_moments,
)  # fmt: skip
from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.tables import Table, facts, percent
from nalu_bench.analysis.reports import elsewhere
from nalu_bench.analysis.reports.kind import Kind, Row, Settings
from nalu_bench.analysis.stats.intervals import wilson_interval
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.plan.cell import Wanted
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NOTHING = (math.nan, math.nan)
BEST = 10
"""Number of protocols of each family that are listed."""

SAME = ("law", "linear", "metric", "denominator")
"""What a search must find again; sizes and ranges that predict the same are many."""


@dataclass
class SearchSettings(Settings):
    """See `ProtocolSearch`."""

    printed: str
    task: str
    space: Space
    tables: int = 20


@register("protocol_search", version=1)
class ProtocolSearch(Kind):
    """Protocols, the best of each family first; what each metric makes of them; two controls.

    Predicted are the scores of the best linear predictor and of the best NAC, see `protocols.closed_form`. The misfit
    of a protocol is the sum of `misfit.misfit` over the printed numbers of both. The families differ in the numbers of
    terms: `shared`, one pair for all operations; `each`, any pair for each operation; `drawn`, a pair drawn at random
    for each, whose probability is the mean over all pairs, so that it has no free numbers.

    Source: ours. Settings: `printed`, the experiment whose numbers are explained, and `task` there; `space`, see
    `search.Space`; `tables`, of each control.
    """

    settings = SearchSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {"score": (0, math.inf)}

    def words(self, cells: Sequence[Wanted]) -> dict[str, set[str]]:
        """None: nothing is printed about protocols."""
        return {}

    def _space(self) -> Space:
        return Space(**self.report["space"])

    def _printed(self) -> Printed:
        found = elsewhere.by_place(elsewhere.rows(self.report["printed"], self.report["task"], "score"))
        exact = ("add", "sub")  # a linear model has no error in them, under any protocol
        return {key: text for key, text in found.items() if key[1] in MODELS and key[0] not in exact}

    def rows(self, measured: Measured) -> list[Row]:
        found = searched(json.dumps(self.report["space"]), tuple(self._printed().items()), self.report["tables"])
        listed = [
            row for family in FAMILIES for row in self._listed(found.ranking[found.ranking["family"] == family], family)
        ]
        keys = ["family", "metric", "denominator", "linear"]
        least = [
            self._row(" ".join(words), "least", float(value))  # type: ignore[arg-type]
            for words, value in found.ranking.groupby(keys, sort=False)["misfit"].min().items()
        ]
        operations = list(dict.fromkeys(operation for operation, *_ in self._printed()))
        left_out = [
            self._row(f"law={law} range={_text(limits)}", f"without_{mean}", share, operation=operation)
            for (law, limits, operation), shares in without_moments(self._space(), operations).items()
            for mean, share in zip(MEANS, shares, strict=True)
        ]
        judged = [self._row("", name, *numbers) for name, numbers in found.facts.items()]
        return [*listed, *least, *left_out, *judged]

    def _row(self, setting: str, metric: str, *numbers: float, note: str = "", operation: str = "") -> Row:
        keys = {"task": self.report["task"], "setting": setting, "operation": operation, "split": "", "model": ""}
        value, low, high = numbers if len(numbers) == 3 else (*numbers, *NOTHING)
        return Row(keys | {"metric": metric}, value, low, high, 0, 0, None, note)

    def _listed(self, found: pd.DataFrame, family: str) -> Iterator[Row]:
        """The best protocols of a family, each with the score that suits it best."""
        protocol = ["law", "range", "beyond", "grown", "hidden", "terms"]
        for line in records(found.drop_duplicates(protocol).head(BEST)):
            words = ";".join(f"{key}={_text(line[key])}" for key in protocol if line[key] != "")
            note = f"{line['metric']} / {line['denominator']}, {line['linear']}"
            yield self._row(words, f"misfit_{family}", float(line["misfit"]), note=note)

    def tables(self, table: pd.DataFrame) -> list[Table]:
        lines = records(table)
        title = f"{self.experiment.title} ({self.experiment.source})"
        return [
            *(self._family(title, family, lines) for family in FAMILIES),
            _choices(lines),
            _left_out(self.report["task"], lines),
            _judgement(lines),
        ]  # fmt: skip

    def _family(self, title: str, family: str, lines: Sequence[dict[str, Any]]) -> Table:
        rows = [
            [line["setting"].replace(";", " "), line["note"], f"{line['ours']:.1f}"]
            for line in lines
            if line["metric"] == f"misfit_{family}"
        ]
        return Table(f"{title}. {TITLES[family]}", ["Protocol", "Score", "Misfit"], rows)

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """Printed scores cell by cell, beside those that the best protocol with shared and with own terms predicts."""
        printed = self._printed()
        frames = []
        for kind in ("shared", "each"):
            line = next(one for one in records(table) if one["metric"] == f"misfit_{kind}")
            frames.append(pd.DataFrame(_predicted_scores(line, printed)).assign(family=kind))
        drawn = pd.concat(frames, ignore_index=True)
        names = {"validation": "Interpolation", "extrapolation": "Extrapolation"}
        figure, axes = style.new_figure(7.2, 3.4, columns=len(SPLITS), sharey=True)
        for axis, split in zip(axes[0], SPLITS, strict=True):
            here = drawn[drawn["split"] == split]
            places = list(dict.fromkeys(zip(here["operation"], here["model"], strict=True)))
            rows = [places.index(place) for place in zip(here["operation"], here["model"], strict=True)]
            axis.plot(here["printed"], rows, color="black", marker="d", fillstyle="none", linestyle="", label="printed")
            for (family, group), marker in zip(here.groupby("family"), "o^", strict=True):
                at = [rows[number] for number in np.flatnonzero(here["family"] == family)]
                axis.plot(group["predicted"], at, marker=marker, linestyle="", alpha=0.8, label=TITLES[str(family)])
            labels = [
                f"{style.operation_label(self.report['task'], operation)}, {style.label(model)}"
                for operation, model in places
            ]
            axis.set_yticks(range(len(places)), labels)
            axis.set_xscale("log")
            axis.set_xlim(1, 100)
            axis.set_xlabel("score, %")
            axis.set_title(names[split])
        axes[0][0].invert_yaxis()
        entries = dict(zip(*reversed(axes[0][0].get_legend_handles_labels()), strict=True))
        figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=3)
        return figure, drawn


TITLES = {
    "shared": "The same terms in all operations",
    "drawn": "Terms drawn for each operation",
    "each": "Terms of each operation",
}


@dataclass(frozen=True)
class Searched:
    """The ranking of all protocols, and facts about it by name: a number, perhaps with its interval."""

    ranking: pd.DataFrame
    facts: Mapping[str, tuple[float, ...]]


@functools.lru_cache(maxsize=1)
def searched(space_text: str, items: tuple[tuple[tuple[str, str, str], str], ...], tables: int) -> Searched:
    """Search, and try the controls. It takes half a minute, so that the last result is kept.

    Args:
        space_text: a `Space` in JSON. items: the printed numbers. tables: of each control.
    """
    space, printed = Space(**json.loads(space_text)), dict(items)
    predictions = predicted(space, list(dict.fromkeys(operation for operation, *_ in printed)))
    term = suited(predictions, printed)
    found = ranking(space, predictions, printed, term)
    rng = np.random.default_rng(SEED)
    own = best(predictions, printed, term)[1]
    again = sum(_finds(space, predictions, printed, term, rng) for _ in range(tables))
    as_good = sum(best(predictions, shuffled(printed, rng), term)[1] <= own for _ in range(tables))
    facts = {
        "perfect": (sum(float(misfit(text, _exactly(text), 0.0, math.inf, term)) for text in printed.values()),),
        "discrepancy": (term,),
        "settings": (float(sum(logs[..., 0].size for one in predictions for logs in one.logs.values())),),
        "control_recovered": (again / tables, *wilson_interval(again, tables)),
        "control_permuted": (as_good / tables, *wilson_interval(as_good, tables)),
    }
    return Searched(found, facts)


def _exactly(text: str) -> float:
    return math.log(max(float(text.removeprefix(">")), 0.01))


def _text(value: Any) -> str:
    return f"[{value[0]:g}, {value[1]:g}]" if isinstance(value, tuple) else str(value)


def _finds(
    space: Space, predictions: Sequence[Predicted], printed: Printed, term: float, rng: np.random.Generator
) -> bool:
    """Whether the search finds the protocol of a table that was made with one, drawn at random.

    Its scores are off by as much as a printed table's are from its best protocol's.
    """
    truth = predictions[int(rng.integers(len(predictions)))]
    beyond = space.beyond(truth.words["range"])
    column = int(rng.integers(len(beyond)))
    terms = {
        operation: int(rng.integers(len(logs))) for (operation, model), logs in truth.logs.items() if model == "nac"
    }
    made = {
        (operation, model, split): rounded(
            float(truth.logs[operation, model][terms[operation], column, SPLITS.index(split)])
            + float(rng.normal(0, term))
        )
        for operation, model, split in printed
    }
    (row, place), _ = best(predictions, made, term)
    found = predictions[row].words
    growth = [space.beyond(words["range"])[at][0][1] / words["range"][1]
              for words, at in ((found, place), (truth.words, column))]  # fmt: skip
    return all(found[key] == truth.words[key] for key in SAME) and math.isclose(*growth)


def _choices(lines: Sequence[dict[str, Any]]) -> Table:
    """The smallest misfit under every metric, denominator and Linear."""
    least = {tuple(line["setting"].split()): line["ours"] for line in lines if line["metric"] == "least"}
    choices = list(dict.fromkeys(words[1:] for words in least))
    rows = [[*words, *(f"{least[family, *words]:.1f}" for family in FAMILIES)] for words in choices]
    return Table("The smallest misfit under each score", ["Metric", "Denominator", "Linear", *FAMILIES], rows)


def _left_out(task: str, lines: Sequence[dict[str, Any]]) -> Table:
    """What has no finite moments."""
    shares = {
        (line["setting"], line["operation"], line["metric"]): line["ours"]
        for line in lines
        if line["metric"].startswith("without_")
    }
    places = list(dict.fromkeys((setting, operation) for setting, operation, _ in shares))
    rows = [
        [
            setting,
            style.operation_label(task, operation),
            *(percent(shares[setting, operation, f"without_{mean}"]) for mean in MEANS),
        ]
        for setting, operation in places
    ]
    header = ["Inputs", "", "without a mean absolute error", "without a mean squared error"]
    return Table("Left out: the share of all numbers of terms under which errors have no finite mean", header, rows)


def _judgement(lines: Sequence[dict[str, Any]]) -> Table:
    shown = {
        "perfect": "Misfit of a protocol that predicts every number exactly",
        "discrepancy": "Discrepancy common to all protocols, of a log score",
        "settings": "Predictions made: settings of one operation, networks and scores",
        "control_recovered": "Control: share of tables made by a known protocol that is found again",
        "control_permuted": "Control: share of permuted tables explained as well as the printed one",
    }
    return facts("How far to trust the search", shown, {line["metric"]: line for line in lines})


def _predicted_scores(line: Mapping[str, Any], printed: Printed) -> list[dict[str, Any]]:
    """Printed and predicted score of every cell, for a listed protocol."""
    words = dict(entry.split("=", 1) for entry in str(line["setting"]).split(";"))
    score, linear = str(line["note"]).split(", ")
    metric, denominator = score.split(" / ")
    mean, power = METRICS[metric]
    drawn = []
    for operation in dict.fromkeys(operation for operation, *_ in printed):
        found = errors(_setting(words, operation), [int(words["hidden"])])[0]
        for model, predictor in (("linear", linear), ("nac", f"nac_{words['hidden']}")):
            for split in SPLITS:
                error, below = (
                    found[name, split][("mae", "mse").index(mean)] ** power for name in (predictor, denominator)
                )
                value = float(printed[operation, model, split].removeprefix(">"))
                drawn.append({"operation": operation, "model": model, "split": split, "printed": value,
                              "predicted": 100 * error / below})  # fmt: skip
    return drawn


def _setting(words: Mapping[str, str], operation: str) -> Setting:
    limits = [tuple(float(end) for end in words[key].strip("[]").split(",")) for key in ("range", "beyond")]
    told = words["terms"]
    if ":" in told:
        told = dict(entry.split(":") for entry in told.split())[operation]
    first, second = (int(size) for size in told.split("+"))
    pair = (first, 1) if operation in ONE_OPERAND else (first, second)
    return Setting(operation, words["law"], limits[0], limits[1], words["grown"], pair)  # type: ignore[arg-type]
