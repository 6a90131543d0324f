"""Labels, colours and markers of models, the same in every table and figure.

The colours are Okabe & Ito's, distinct for colour-blind readers; markers and line styles tell them apart in grey.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nalu_bench.analysis.render.print_style import applied as applied  # for all that draw
from nalu_bench.analysis.stats.verdicts import Verdict
from nalu_bench.analysis.table.formats import steps
from nalu_bench.plan import looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes  # for the annotations of all that draw
    from matplotlib.figure import Figure as Figure

ACTIVATION_LABELS = {
    "relu": "ReLU", "relu6": "ReLU6", "leaky_relu": "LeakyReLU", "leaky_relu_quarter": "LeakyReLU (1/4)",
    "prelu": "PReLU", "elu": "ELU", "selu": "SELU",
}  # fmt: skip

_PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
_MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
_LINES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]


@dataclass(frozen=True)
class Mark:
    """Colour and marker, which tell a verdict apart without each other; `sign` is the marker as a letter."""

    color: str
    marker: str
    sign: str


_HOLDS, _FAILS, _OPEN, _NONE = (
    Mark("#009E73", "o", "●"),
    Mark("#D55E00", "X", "✖"),
    Mark("#b58900", "s", "■"),
    Mark("#8a8a8a", "D", "◆"),
)

_VERDICTS = {
    Verdict.EXACT: _HOLDS, Verdict.AGREES: _HOLDS, Verdict.DIFFERS: _FAILS, Verdict.INCONCLUSIVE: _OPEN,
    Verdict.UNINFORMATIVE: _OPEN,
}  # fmt: skip


def verdict(found: Verdict) -> Mark:
    """How a verdict is drawn: what holds, what does not, what is not decided, what is not compared or was fitted."""
    return _VERDICTS.get(found, _NONE)


def label(model: str) -> str:
    """The label of a model: its name in the papers, or its own name if it is in none."""
    return looks.of_model(model).label


def operation_label(task: str, operation: str) -> str:
    """The task's label of one of its operations, or the operation's name where it has none."""
    return looks.of_operation(task, operation)


def drawing(model: str) -> dict[str, Any]:
    """Colour, marker and line style of a model, always the same. Numbers from 7 to 13 have the colours of 0 to 6."""
    turn, number = divmod(looks.of_model(model).number, len(_PALETTE))
    other = (number + 3 * (turn == 1)) % len(_PALETTE)
    return {"color": _PALETTE[number], "marker": _MARKERS[other], "linestyle": _LINES[other]}


def activation_label(activation: str) -> str:
    """The usual name of an activation."""
    return ACTIVATION_LABELS.get(activation, activation.capitalize())


def gradient(share: float) -> Any:
    """Colour of one of many ordered lines, 0 <= share < 1: dark to light, but not too light for paper."""
    from matplotlib import colormaps

    return colormaps["viridis"](0.9 * share)


def steps_along(axis: "Axes", most: int) -> None:
    """Make the horizontal axis a linear one of training steps, with at most so many intervals."""
    axis.xaxis.set_major_formatter(lambda value, _: steps(value))
    axis.locator_params(axis="x", nbins=most)


Outside = Literal["outside lower center", "outside upper center"]
BELOW: Outside = "outside lower center"
ABOVE: Outside = "outside upper center"


def entries(*axes: "Axes") -> dict[str, Any]:
    """Name -> handle of everything named on some axes, each once, for one legend."""
    return {name: shown for axis in axes for shown, name in zip(*axis.get_legend_handles_labels(), strict=True)}


def legend(figure: "Figure", shown: Mapping[str, Any], columns: int, place: Outside = BELOW, title: str = "") -> None:
    """Add one legend for all axes, outside of them."""
    figure.legend([*shown.values()], [*shown], loc=place, ncols=max(1, columns), title=title or None)


def mark(figure: "Figure", data: str) -> None:
    """Say in the figure which data stand in for those of the source; nothing if there are none."""
    if data:
        figure.text(0.005, 0.005, f"Data: {data}", fontsize=7, color="#D55E00", ha="left", va="bottom")


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> "tuple[Figure, Any]":
    """A figure of this size in inches, and its axes (rows, columns). Draw it inside of `applied()`.

    It belongs to no window, so that it changes nothing of the program that shows it.
    """
    from nalu_bench.analysis.render.drawn import Drawn

    figure = Drawn(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)
