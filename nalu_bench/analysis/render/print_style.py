"""The style of all figures, for print. It is the same whatever a user's own style is."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

STYLE: Any = {
    "font.size": 9, "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "pdf.fonttype": 42,
    "figure.dpi": 200, "savefig.dpi": 200, "svg.hashsalt": "nalu_bench",
}  # fmt: skip


def applied() -> "AbstractContextManager[None]":
    """A context in which figures are drawn and saved for print: sans serif of 9 points, thin grid.

    All else is matplotlib's default, whatever the user's own matplotlibrc says, so that equal results give equal files.
    """
    from matplotlib import style

    return style.context(["default", STYLE])
