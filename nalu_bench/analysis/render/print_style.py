"""The style of all figures, for print. It is the same whatever a user's own style is."""

from typing import TYPE_CHECKING, Any

from nalu_bench.errors import UsageError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

STYLE: Any = {
    "font.size": 9, "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "pdf.fonttype": 42,
    "figure.dpi": 200, "savefig.dpi": 200, "svg.hashsalt": "nalu_bench",
    "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans", "Verdana", "sans-serif"],
}  # fmt: skip
"""Letters of an SVG stay text, which can be searched; the fonts that others have are no wider than DejaVu Sans."""


def applied() -> "AbstractContextManager[None]":
    """A context in which figures are drawn and saved for print: sans serif of 9 points, thin grid.

    All else is matplotlib's default, whatever the user's own matplotlibrc says, so that equal results give equal files.
    """
    try:
        from matplotlib import style
    except UnicodeDecodeError as error:
        raise UsageError(
            f"matplotlib must be able to read its settings, and a file matplotlibrc is no text in UTF-8 ({error}): "
            "save it as such, or move it; it lies in the current folder, where MATPLOTLIBRC says, or in "
            "~/.config/matplotlib."
        ) from None
    return style.context(["default", STYLE])
