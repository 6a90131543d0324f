"""The loss of a two-layer network as a function of one weight of each layer, for one example; nothing is trained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.table.claim import Claim
from nalu_bench.analysis.table.formats import Format, percent, scientific
from nalu_bench.analysis.table.layout import Judged, Ours, Shown, Table, Theirs
from nalu_bench.analysis.table.line import Line, Row, Value, by_metric, grouped
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError, unknown
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.setting import Setting
from nalu_bench.registry import register

Grid = NDArray[np.float64]

FORMULAS = {"nac_mul": "log_space_product", "nmu": "gated_product"}
"""The second layer of a model, as a function of `units.functional`."""

SOLVED = 1e-5
"""The claim of a solution holds if the loss there is at most this (our choice)."""

MANY = 0.1
"""The claim of "many" solutions holds if at least this share of the values of w2 has another one (our choice)."""

SIGNS = {"epsilon": "ε"}
"""The sign of an option in the paper."""

FAINTEST = 0.1
"""Smaller losses are all drawn in one colour."""

METRICS: dict[str, tuple[str, Format]] = {
    "loss_at_solution": ("Loss at w1 = w2 = 1", scientific),
    "other_solutions": ("Values of w2 with other solutions", percent),
    "largest_loss": ("Largest loss", scientific),
}


@dataclass
class Panel:
    """One second layer: its model, the lowest w2 and the options of its formula."""

    model: str
    lowest: float
    options: dict[str, float]


@dataclass
class SurfaceSettings(Settings):
    """See `Surface`."""

    task: str
    operation: str
    x: list[float]
    target: float
    first: list[list[Any]]
    second: list[list[Any]]
    points: int
    highest: float
    panels: list[Panel]


@register("surface", version=1)
class Surface(Kind):
    """Panels are second layers f; each shows the squared loss over w1 in [-1, 1] and w2 in [lowest, 1].

        loss(w1, w2) = (f(w1 · first · x, w2 · second) - target)²

    The table gives for every panel

    * the loss at w1 = w2 = 1;
    * the share of the values of w2 for which the output passes through the target between w1 = -1 and 1, so that the
      loss is 0 there. At w1 = ±1, w2 = 1 an exact product only touches the target. That is the known solution and does
      not count as another;
    * the largest loss on the grid.

    Source: Madsen & Johansen 2020, Figure 2. Deviations: none in the loss; these three numbers are ours.

    Settings: `task` and `operation` for the rows; `x` and `target`, one example; `first` and `second`, the matrices
    that w1 and w2 multiply; `points`, the size of the grid along each weight; `highest`, the largest loss in view;
    `panels`, a list of {model, lowest, options}, with the options of the model's formula. The first layer is linear,
    like a NAC₊ with given weights.
    """

    own_words = ("epsilon",)
    settings = SurfaceSettings
    report: SurfaceSettings
    metrics: ClassVar[Mapping[str, Span | None]] = dict.fromkeys(METRICS)

    def words(self, cells: Sequence[Wanted]) -> dict[str, set[str]]:
        models = {panel.model for panel in self.report.panels}
        return {"task": {self.report.task}, "operation": {self.report.operation}, "model": models, "split": set()}

    def check(self, cells: Sequence[Wanted]) -> None:
        for panel in self.report.panels:
            if panel.model not in FORMULAS:
                raise unknown(f"model in a panel of {self.experiment.name}", panel.model, FORMULAS)
        try:
            first, second = (np.asarray(getattr(self.report, key), np.float64) for key in ("first", "second"))
            second @ first @ np.asarray(self.report.x)
        except ValueError as error:
            name = self.experiment.name
            raise UsageError(f"x, first and second of {name} must be a vector and two matrices: {error}.") from None

    def rows(self, measured: Measured) -> list[Row]:
        return [row for panel in self.report.panels for row in self._rows(panel)]

    def _rows(self, panel: Panel) -> list[Row]:
        place = Place(self.report.task, _setting(panel), self.report.operation, model=panel.model)
        excess = self._excess(panel)
        tolerance = SOLVED * self.report.target
        others = (excess > tolerance).any(axis=1) & (excess < -tolerance).any(axis=1)
        loss, share, largest = float(excess[-1, -1] ** 2), float(others.mean()), float((excess**2).max())
        solved = Claim("", _tidy(loss), None, SOLVED, above=False, words=f"a loss of at most {SOLVED:g}")
        many = Claim("", _tidy(share), None, MANY, words=f"a share of at least {percent(MANY)}")
        return [
            solved.row(place.at(metric="loss_at_solution")),
            many.row(place.at(metric="other_solutions")),
            Row(place.at(metric="largest_loss"), Value(_tidy(largest)), 0, 0),
        ]

    def _excess(self, panel: Panel) -> Grid:
        """Output minus target for every w2 (rows, upwards) and w1 (columns, to the right)."""
        import torch

        from nalu_bench.units import functional

        def tensor(values: Any) -> torch.Tensor:
            return torch.as_tensor(values, dtype=torch.float64)

        w1, w2 = self._weights(panel)
        x = tensor(self.report.x).unsqueeze(-1)  # one example, a column
        hidden = tensor(w1)[:, None, None] * (tensor(self.report.first) @ x)
        W2 = tensor(w2)[:, None, None, None] * tensor(self.report.second)
        formula = getattr(functional, FORMULAS[panel.model])
        output: Grid = formula(hidden, W2, **panel.options)[..., 0, 0].numpy()
        return output - float(self.report.target)

    def _weights(self, panel: Panel) -> tuple[Grid, Grid]:
        """The values of w1 and of w2, rounded so that they include exactly 0 and 1."""
        grid = np.linspace(-1, 1, self.report.points).round(9)
        return grid, grid[grid >= panel.lowest]

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        printed = {line.place.metric for line in lines if line.printed_text}
        header = ["Second layer"]
        for metric, (name, _) in METRICS.items():
            header += [name, *(["printed", "verdict"] if metric in printed else [])]
        rows = []
        for place, group in grouped(lines, lambda line: line.place.cell()).items():
            found, row = by_metric(group), list[Shown]([_title(place.model, place.setting)])
            for metric, (_, form) in METRICS.items():
                line = found[metric]
                row.append(Ours(line, form))
                row += [Theirs(line), Judged(line)] if metric in printed else []
            rows.append(row)
        return [Table(self.experiment.heading, header, rows)]

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """The surfaces as the paper draws them, and below them the same losses as maps."""
        panels, highest = self.report.panels, self.report.highest
        figure, axes = style.new_figure(7.4, 3.9, rows=2, columns=len(panels))
        drawn = []
        for (above, below), panel in zip(axes.T, panels, strict=True):
            w1, w2 = self._weights(panel)
            loss = self._excess(panel) ** 2
            place = above.get_subplotspec()
            above.remove()
            solid = figure.add_subplot(place, projection="3d")
            solid.set_title(_title(panel.model, _setting(panel)))
            _draw_surface(solid, w1, w2, loss, highest)
            colors = _draw_map(below, w1, w2, loss, highest)
            drawn.append(_numbers(panel, w1, w2, loss))
        axes[1][0].set_ylabel("$w_2$")
        figure.colorbar(colors, ax=list(axes[1]), label="Squared loss", extend="both", pad=0.01)
        heading = f"Squared loss: as a height, cut off at {highest:g}, and as a colour.  Circles: $w_1 = w_2 = 1$"
        figure.suptitle(heading, fontsize=8)
        return figure, pd.concat(drawn, axis=1).reset_index()


def _setting(panel: Panel) -> Setting:
    """`epsilon=0.1`."""
    return Setting({name: f"{value:g}" for name, value in panel.options.items()})


def _title(model: str, setting: Setting) -> str:
    """`NAC•, ε = 0.1`."""
    return ", ".join([style.label(model), *(f"{SIGNS.get(name, name)} = {value}" for name, value in setting.items())])


def _tidy(value: float) -> float:
    """Round to six digits, and to 0 below 1e-12. Further digits depend on the processor."""
    return float(f"{value:.5e}") if value >= 1e-12 else 0.0


def _numbers(panel: Panel, w1: Grid, w2: Grid, loss: Grid) -> "pd.Series[float]":
    """The losses drawn in one panel, indexed by their weights."""
    weights = pd.MultiIndex.from_product([w2, w1], names=["w2", "w1"])
    name = " ".join(filter(None, [panel.model, str(_setting(panel))]))
    return pd.Series([_tidy(value) for value in loss.ravel()], weights, name=name)


def _draw_surface(axis: Any, w1: Grid, w2: Grid, loss: Grid, highest: float) -> None:
    """Draw the loss as a height, cut off at `highest`."""
    axis.plot_surface(
        *np.meshgrid(w1, w2), np.minimum(loss, highest), color="#56B4E9", rstride=1, cstride=1, linewidth=0,
        antialiased=False, rasterized=True,
    )  # fmt: skip
    axis.set(zlim=(0, highest), xticks=[-1, 0, 1], yticks=[-1, 0, 1], zticks=[0, highest / 2, highest], ylim=(-1, 1))
    axis.set_xlabel("$w_1$", labelpad=-8)
    axis.set_ylabel("$w_2$", labelpad=-8)
    axis.tick_params(pad=-3, labelsize=7)
    axis.view_init(elev=28, azim=-60)
    axis.set_box_aspect((1, 1, 0.8), zoom=1.15)


def _draw_map(axis: "style.Axes", w1: Grid, w2: Grid, loss: Grid, highest: float) -> Any:
    """Draw the loss as a colour."""
    from matplotlib.colors import LogNorm

    shown = np.maximum(loss, FAINTEST / 2)  # a logarithm has no colour for 0
    colors = axis.pcolormesh(w1, w2, shown, norm=LogNorm(FAINTEST, highest), cmap="viridis", rasterized=True)
    axis.plot([1], [1], marker="o", markersize=6, color="#D55E00", fillstyle="none", markeredgewidth=1.8, clip_on=False)
    axis.set(xlabel="$w_1$", xlim=(-1, 1), ylim=(-1, 1), xticks=[-1, 0, 1], yticks=[-1, 0, 1], aspect="equal")
    axis.grid(visible=False)
    return colors
