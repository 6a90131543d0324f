"""All models on all operations: operations down, models across, and the whole comparison as one heat map."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, seeds_by_cell
from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.heat_map import heat_maps
from nalu_bench.analysis.reports.success import Success
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.formats import Format, percent, scientific, span, steps
from nalu_bench.analysis.table.layout import EMPTY, Judged, Ours, Show, Shown, Table, Theirs
from nalu_bench.analysis.table.line import Line, grouped
from nalu_bench.analysis.table.place import RECOMPUTED
from nalu_bench.papers.madsen2020.side_by_side import side_by_side
from nalu_bench.registry import register

RATE, UNTRAINED = "success_rate", "not trained"


@register("all_models", version=1)
class AllModels(Success):
    """Tables with operations down and models across: one for each statistic of `success`, and one heat map of them all.

    Every operation has ours, the printed number and the verdict. The means are the plain ones of ours and of the
    source's seeds, and their verdicts compare the seeds (log-rank, Mann-Whitney). Where nothing is compared, the reason
    stands below the tables. An operation or a model without a number, ours or printed, is left out. The figure has the
    share of solved seeds of every model on every operation, ours above the printed one.

    Settings: those of `success`; `layout` orders operations and models. Source: Madsen & Johansen 2020, appendix,
    comparison of all models.
    """

    statistics: ClassVar[Mapping[str, tuple[str, Format]]] = {
        RATE: ("Success rate", percent),
        "solved_at_median": ("Solved at step, median", steps),
        f"solved_at_mean{RECOMPUTED}": ("Solved at step, plain mean; verdict: all seeds", steps),
        f"sparsity_error_mean{RECOMPUTED}": ("Sparsity error, plain mean; verdict: solved seeds", scientific),
    }  # fmt: skip
    """Metric -> heading of its table, and format."""

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        by_statistic = grouped(self._in_order(lines), lambda line: line.place.metric)
        return [
            table
            for metric, (name, form) in self.statistics.items()
            for table in self._tables(by_statistic.get(metric, []), name, form)
        ]

    def _tables(self, lines: Sequence[Line], name: str, form: Format) -> list[Table]:
        """The tables of one statistic. What was computed from the source's seeds is theirs, and not printed."""
        recomputed = any(line.place.metric.endswith(RECOMPUTED) for line in lines)
        shows: dict[str, Show] = {"ours": lambda line: _trained(line, Ours(line, form, alone=True), UNTRAINED)}
        if any(line.printed_text for line in lines):
            shows["theirs" if recomputed else "printed"] = lambda line: Theirs(line, form, alone=True)
        if any(line.judged for line in lines):
            shows["verdict"] = lambda line: _trained(line, Judged(line), EMPTY)
        parts = {
            operation: {line.place.model: line for line in part}
            for operation, part in grouped(lines, lambda line: line.place.operation).items()
            if any(_number(line) for line in part)
        }
        if not parts:
            return []
        told = {operation: style.operation_label(lines[0].place.task, operation) for operation in parts}
        first: Sequence[Shown] = [told[operation] if word == "ours" else "" for operation in parts for word in shows]
        second: Sequence[Shown] = [word for _ in parts for word in shows]
        blocks = {
            style.label(model): [(style.label(model), [
                show(here[model]) if model in here else EMPTY for here in parts.values() for show in shows.values()
            ])]
            for model, part in grouped(lines, lambda line: line.place.model).items() if any(map(_number, part))
        }  # fmt: skip
        return side_by_side(name, self.experiment.heading, [("Operation", first), ("", second)], blocks)

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """The success rates of all cells, ours and printed, as two heat maps."""
        rates = [line for line in self._in_order(lines) if line.place.metric == RATE]
        seeds = span(seeds_by_cell(measured.runs))
        left = "" if all(line.n_seeds for line in rates) else f"; –: {UNTRAINED}"
        maps = {
            f"Ours ({seeds} seeds, {measured.runs['steps'].max():,} steps{left})": _shares(
                rates, lambda line: line.ours.value
            ),
            f"Printed ({self.experiment.printed_steps:,} steps)": _shares(
                rates, lambda line: line.printed.number() if line.printed else float("nan")
            ),
        }
        columns = ["operation", "model", "ours", "ours_low", "ours_high", "printed"]
        return heat_maps(maps, "Share of seeds solved"), frame(rates)[columns]


def _trained(line: Line, shown: Shown, otherwise: str) -> Shown:
    return shown if line.n_seeds else otherwise


def _number(line: Line) -> bool:
    """Whether a line has a number of ours, or a printed one."""
    return bool(line.printed_text) or not math.isnan(line.ours.value)


def _shares(lines: Sequence[Line], share: Callable[[Line], float]) -> pd.DataFrame:
    """Rows are models, columns operations."""
    rows = grouped(lines, lambda line: line.place.model)
    return pd.DataFrame({
        style.label(model): {style.operation_label(line.place.task, line.place.operation): share(line) for line in part}
        for model, part in rows.items()
    }).T  # fmt: skip
