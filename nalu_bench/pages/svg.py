"""Figures as SVG inside of a page."""

import io
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure


COMMENT, INDENTATION = re.compile("<!--.*?-->"), re.compile(r"\n\s*")

RASTER = 72
"""Dots per inch of what is drawn as an image inside of the SVG, such as hundreds of faint lines."""


def svg(figure: "Figure", label: str) -> str:
    """The figure as an `<svg>` element with a text for those who cannot see it; equal figures give equal text."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", dpi=RASTER, metadata={"Date": None, "Creator": None})
    drawn = COMMENT.sub("", buffer.getvalue())
    drawn = INDENTATION.sub("\n", drawn[drawn.index("<svg") :])
    return drawn.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)
