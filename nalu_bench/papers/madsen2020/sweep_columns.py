"""Statistics as functions of one value for many models: a column of panels for each, and values that may be words."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pandas as pd

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.render import style
from nalu_bench.analysis.table.file import frame
from nalu_bench.analysis.table.line import Line, grouped
from nalu_bench.errors import unknown
from nalu_bench.papers.madsen2020 import small_multiples
from nalu_bench.papers.madsen2020.sweep import Sweep, SweepSettings, either, points_of
from nalu_bench.registry import register


@dataclass
class SweepColumnsSettings(SweepSettings):
    """See `SweepColumns`."""

    values: list[str] = field(default_factory=list)
    headings: dict[str, str] = field(default_factory=dict)


@register("sweep_columns", version=1)
class SweepColumns(Sweep):
    """A sweep of more models than one panel can hold: a column of panels for each, ours a line, printed numbers hollow.

    With several operations in `layout` every model has a curve, a column and a block of the tables for each, and for
    each value of a setting beside `against`.

    Settings, beyond those of `sweep`: `values`, the values of `against` as they stand in settings, in the order of the
    axis and at equal distances; without them a value is a number, and stands at its place. `headings`, other settings
    such as `loss=mse`, and the words for them in headings.
    """

    settings = SweepColumnsSettings
    report: SweepColumnsSettings

    def number(self, value: str) -> float:
        values = self.report.values
        if values and value not in values:
            raise unknown(f"value of {self.report.against} in the report of {self.experiment.name}", value, values)
        return float(values.index(value)) if values else super().number(value)

    def told(self, at: float) -> str:
        return _short(self.report.values[int(at)]) if self.report.values else super().told(at)

    def curve(self, line: Line) -> str:
        several = len(self.report.layout.get("operation", [])) > 1
        operations = [style.operation_label(line.place.task, line.place.operation)] if several else []
        others = line.place.setting.in_words(self.report.headings, but=self.report.against)
        return ", ".join([super().curve(line), *operations, *others])

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """The three statistics of the paper's figures, a row of panels each."""
        shown = self._in_order(self.placed(lines))
        drawn = pd.concat(
            [self._points(curve, group) for curve, group in grouped(shown, self.curve).items()], ignore_index=True
        )
        panels = {metric: (label, factor) for metric, (label, _, factor) in self.panels.items()}
        curves = {curve: (curve.replace(", ", "\n"), group[0].place.model)
                  for curve, group in grouped(shown, self.curve).items()}  # fmt: skip
        ticks = {float(place): _short(value) for place, value in enumerate(self.report.values)}
        figure = small_multiples.draw(drawn, panels, curves, self.report.axis, ticks)
        means = any(line.printed_text for line in lines if line.place.metric == "solved_at_mean")
        figure.suptitle(
            f"Lines: ours ({self.scale(measured)}), 95 % bands\n"
            f"Hollow: printed ({either(self.experiment.printed_lengths)} steps)."
            + ("  Solved at: ours median, printed mean" if means else ""),
            fontsize=8,
        )
        return figure, drawn.rename(columns={"place": self.report.against})

    def _points(self, curve: str, lines: Sequence[Line]) -> pd.DataFrame:
        """The points of one curve, ours and the printed ones."""
        table = frame(lines).assign(place=[self.at(line) for line in lines])
        return pd.concat(
            [
                points_of(table, name, series).assign(panel=metric, curve=curve)
                for metric, (_, printed, _) in self.panels.items()
                for series, name in (("ours", metric), ("printed", printed))
            ],
            ignore_index=True,
        )


def _short(value: str) -> str:
    """A value for a reader: 10 for 10.0."""
    try:
        return f"{float(value):g}"
    except ValueError:
        return value
