"""Shares of right predictions and recovered weights, as in the tables of the IIT Indore report."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.measure.measured import Measured, by_cell, count_note, records
from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.tables import Table, interval, ours
from nalu_bench.analysis.reports.kind import Kind, Row, Settings
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.intervals import mean_interval, middle_range
from nalu_bench.analysis.stats.ranges import Span, compare_share
from nalu_bench.analysis.stats.verdicts import NOTHING_PRINTED, Comparison, not_comparable, other_length
from nalu_bench.analysis.stats.words import Better
from nalu_bench.errors import UsageError
from nalu_bench.registry import register

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
Compare = Callable[[dict[str, str]], Comparison]

LENIENT, STRICT = "test_accuracy_0.1", "test_accuracy_1e-05"
WEIGHT = "W_"
WEIGHTS: Span = (-1, 1)

LOOKS: list[dict[str, Any]] = [
    {"color": "#009E73", "marker": "^"},
    {"color": "#0072B2", "marker": "o"},
    {"color": "#D55E00", "marker": "s"},
]
"""Colour and marker of each family. Symbols are hollow where nothing is reinitialised."""


@dataclass
class Family:
    """Models of one table. `steps` are those of the printed protocol; `operations` have the order of the rows."""

    title: str
    steps: int
    models: list[str]
    operations: list[str]


@dataclass
class AccuraciesSettings(Settings):
    """See `Accuracies`."""

    examples: int
    tables: list[Family]


@register("accuracies", version=1)
class Accuracies(Kind):
    """Rows are operations. Each family of models has a table, with and without reinitialisation side by side.

    accuracy = share of test examples with |y - t| <= 1e-8 + 0.1 |t|, in percent; strict: 1e-5 |t|

    This is the rule of `numpy.isclose`, with the report's relative tolerance and with numpy's own. The table gives the
    median over seeds with the middle 95 % of the seeds, and means with Student's interval. A run without a finite
    prediction has accuracy 0 and is noted. A printed accuracy is that of one network: see `ranges.compare_share`.

    If the task has probes, they are unit vectors, and a unit without bias predicts its own weights there. Printed
    weights are compared with the range of our seeds, too.

    Source: the IIT Indore report, sections 3 and 4. Settings: `examples`, the number of examples behind a printed
    share, and `tables`, a list of {title, steps, models, operations}; `steps` are those of the printed protocol.

    Raises:
        UsageError for a model and an operation without a table of their own.
    """

    settings = AccuraciesSettings
    metrics: ClassVar[Mapping[str, Span | None]] = {"accuracy": (0, 100), f"{WEIGHT}*": WEIGHTS}

    def rows(self, measured: Measured) -> list[Row]:
        cells = list(by_cell(measured.runs))
        accuracies = [row for words, runs in cells for row in self._accuracies(words | {"split": "test"}, runs)]
        return accuracies + [row for words, runs in cells for row in self._weights(words, runs, measured.predictions)]

    def _accuracies(self, where: dict[str, str], runs: pd.DataFrame) -> list[Row]:
        shares = runs[LENIENT].to_numpy(np.float64)
        lenient, strict = (100 * runs[name].fillna(0).to_numpy(np.float64) for name in (LENIENT, STRICT))
        absent = int(np.isnan(shares).sum())
        note = "; ".join(
            filter(None, [count_note(runs), f"{absent} seeds without a finite prediction count as 0" if absent else ""])
        )

        def compare(printed: dict[str, str]) -> Comparison:
            if not printed["printed"]:
                return not_comparable(NOTHING_PRINTED)
            return compare_share(shares, float(printed["printed"]) / 100, self.report["examples"])

        numbers = (float(np.median(lenient)), *middle_range(lenient))
        count, steps, comparison = len(runs), int(runs["steps"].iloc[0]), self._same_length(where, runs, compare)
        return [
            Row({**where, "metric": "accuracy"}, *numbers, count, steps, comparison, note),
            Row({**where, "metric": "mean"}, *_mean(lenient), count, steps, None, note),
            Row({**where, "metric": "strict"}, *_mean(strict), count, steps, None, note),
        ]

    def _weights(self, words: dict[str, str], runs: pd.DataFrame, predictions: pd.DataFrame) -> list[Row]:
        rows = []
        for probe, values in predictions[predictions["cell"] == runs["cell"].iloc[0]].groupby("probe"):
            samples = medians.finite_or_worst(values["prediction"])
            numbers = (float(np.median(samples)), *middle_range(samples))
            where = words | {"split": "test", "metric": f"{WEIGHT}{int(str(probe)) + 1}"}
            compare = self._same_length(
                where, runs, partial(medians.against_printed, samples, span=WEIGHTS, better=Better.NEITHER)
            )
            rows.append(Row(where, *numbers, len(samples), int(runs["steps"].iloc[0]), compare, count_note(runs)))
        return rows

    def _same_length(self, where: dict[str, str], runs: pd.DataFrame, compare: Compare) -> Compare:
        """`compare` if our runs have the steps of the printed protocol, else the reason why nothing is compared."""
        families = [
            family for family in self.report["tables"]
            if where["model"] in family["models"] and where["operation"] in family["operations"]
        ]  # fmt: skip
        if len(families) != 1:
            raise UsageError(
                f"exactly one table of {self.experiment.name} must list the model {where['model']} and the operation "
                f"{where['operation']}, got {len(families)}; correct `report.tables`."
            )
        trained, needed = int(runs["steps"].iloc[0]), families[0]["steps"]
        if trained == needed:
            return compare
        return lambda printed: other_length(trained, needed)

    def tables(self, table: pd.DataFrame) -> list[Table]:
        found = [self._accuracy_table(table, **family) for family in self.report["tables"]]
        weights = table[table["metric"].str.startswith(WEIGHT)]
        return [*found, *([self._weight_table(weights)] if len(weights) else [])]

    def _accuracy_table(
        self, table: pd.DataFrame, title: str, steps: int, models: list[str], operations: list[str]
    ) -> Table:
        chosen = records(table[table["model"].isin(models)])
        lines = {(_case(line), _setting(line).get("reinitialized") != "0", line["metric"]): line for line in chosen}
        if len(lines) < len(chosen):
            raise UsageError(f"two cells of the table {title} have the same operation and number of operands.")
        cases = _ordered_cases(chosen, operations)
        without = any(not reinitialised for _, reinitialised, _ in lines)
        header = ["", "median [middle 95 % of seeds]", "mean", "strict, mean", "printed", "verdict"]
        rows = []
        for case in cases:
            mine = {metric: lines.get((case, True, metric)) for metric in ("accuracy", "mean", "strict")}
            texts = [_case_name(case), *(_accuracy(line) for line in mine.values())]
            texts += [(mine["accuracy"] or {}).get(key) or "–" for key in ("printed", "verdict")]
            if without:
                texts += [_accuracy(lines.get((case, False, metric))) for metric in ("mean", "strict")]
            rows.append(texts)
        if without:
            header += ["never reinitialised: mean", "strict, mean"]
        return Table(f"{title}. {self.experiment.title}, in percent ({self.experiment.source})", header, rows)

    def _weight_table(self, weights: pd.DataFrame) -> Table:
        rows = [
            [
                f"x{line['metric'].removeprefix(WEIGHT)}",
                interval(line["ours"], line["ours_low"], line["ours_high"], _four_digits),
                line["printed"] or "–",
                line["verdict"] or "–",
            ]
            for line in records(weights)
        ]
        header = ["Input", "W, median [middle 95 % of seeds]", "printed", "verdict"]
        return Table(f"Recovered weights ({self.experiment.source})", header, rows)

    def figure(self, measured: Measured, table: pd.DataFrame) -> "tuple[Figure, pd.DataFrame]":
        """Mean accuracy of every operation with Student's interval, printed numbers as black diamonds."""
        families = list(zip(self.report["tables"], itertools.cycle(LOOKS), strict=False))
        panels = [panel for panel in (families[:1], families[1:]) if panel]
        figure, axes = style.new_figure(7.2, 3.6, columns=len(panels), sharey=True)
        drawn = [line for axis, panel in zip(axes[0], panels, strict=True) for line in _draw_panel(axis, table, panel)]
        axes[0][0].set_ylabel("Accuracy at 10 % tolerance, %")
        axes[0][0].set_ylim(-4, 104)
        figure.suptitle("Symbols: mean of our seeds.  Bars: its 95 % interval.  Black: printed", fontsize=8)
        entries: dict[str, Any] = {}
        for axis in axes[0]:
            entries |= dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
        entries |= {"printed": entries.pop("printed")} if "printed" in entries else {}
        figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=3)
        return figure, pd.DataFrame(drawn)


def _mean(shares: Array) -> tuple[float, float, float]:
    """The mean with Student's interval, cut at 100 %."""
    mean, low, high = mean_interval(shares)
    return mean, low, min(high, 100.0)


def _setting(line: dict[str, Any]) -> dict[str, str]:
    """`operands=2;reinitialized=15` as a dictionary."""
    return dict(word.split("=") for word in str(line["setting"]).split(";") if word)


def _case(line: dict[str, Any]) -> tuple[str, int]:
    """Label of the operation, and the number of operands, 0 for a task without such a setting."""
    label = style.operation_label(str(line["task"]), str(line["operation"]))
    return label, int(_setting(line).get("operands", 0))


def _case_name(case: tuple[str, int]) -> str:
    label, operands = case
    return f"{label}, {operands} operand{'s' if operands > 1 else ''}" if operands else label


def _ordered_cases(lines: Iterable[dict[str, Any]], operations: Sequence[str]) -> list[tuple[str, int]]:
    """The cases in the order of `operations`, and within an operation by the number of operands."""
    order = {operation: place for place, operation in enumerate(operations)}
    places = {_case(line): (order.get(str(line["operation"]), len(order)), _case(line)[1]) for line in lines}
    return sorted(places, key=lambda case: places[case])


def _accuracy(line: dict[str, Any] | None) -> str:
    return ours(line, lambda value: f"{value:.1f}") if line else "–"


def _four_digits(value: float) -> str:
    return f"{value:.4f}"


def _draw_panel(
    axis: "Axes", table: pd.DataFrame, families: Sequence[tuple[dict[str, Any], dict[str, Any]]]
) -> list[dict[str, Any]]:
    """Draw the families side by side at each operation, with and without reinitialisation; returns the numbers."""
    printed = table[table["metric"] == "accuracy"].set_index(["model", "setting", "operation"])["printed"]
    means = table[table["metric"] == "mean"]
    lines = [records(means[means["model"].isin(family["models"])]) for family, _ in families]
    order = list(dict.fromkeys(operation for family, _ in families for operation in family["operations"]))
    cases = _ordered_cases((line for mine in lines for line in mine), order)
    drawn = []
    for number, ((family, look), mine) in enumerate(zip(families, lines, strict=True)):
        for line in mine:
            reinitialised = _setting(line).get("reinitialized") != "0"
            aside = (2 * number + (not reinitialised)) * 0.2 - 0.3 if len(families) > 1 else 0
            place = cases.index(_case(line)) + aside
            full: Any = "full" if reinitialised else "none"
            name = family["title"] + ("" if reinitialised else ", never reinitialised")
            axis.plot([place] * 2, [line["ours_low"], line["ours_high"]], color=look["color"], linewidth=1)
            axis.plot([place], [line["ours"]], linestyle="", markersize=4.5, label=name, fillstyle=full, **look)
            text = printed[line["model"], line["setting"], line["operation"]]
            if text:
                axis.plot(
                    [place], [float(text)], color="black", marker="d", markersize=5.5, fillstyle="none", linestyle="",
                    label="printed",
                )  # fmt: skip
            drawn.append(
                {
                    "table": family["title"], "operation": line["operation"], "setting": line["setting"],
                    "mean": line["ours"], "low": line["ours_low"], "high": line["ours_high"], "printed": text,
                }
            )  # fmt: skip
    _name_cases(axis, cases)
    return drawn


def _name_cases(axis: "Axes", cases: Sequence[tuple[str, int]]) -> None:
    """Label the ticks with numbers of operands, and every operation once below them."""
    axis.set_xticks(range(len(cases)), [str(operands) for _, operands in cases], fontsize=7)
    axis.grid(visible=False, axis="x")
    for operation in dict.fromkeys(operation for operation, _ in cases):
        places = [place for place, case in enumerate(cases) if case[0] == operation]
        axis.text(
            sum(places) / len(places), -0.14, operation, transform=axis.get_xaxis_transform(), ha="center",
        )  # fmt: skip
        axis.axvline(places[-1] + 0.5, color="#dddddd", linewidth=0.6)
    axis.set_xlim(-0.5, len(cases) - 0.5)
    axis.set_xlabel("number of operands, operation", labelpad=18)
