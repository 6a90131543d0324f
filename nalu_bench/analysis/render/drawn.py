"""The figures of reports: a notebook shows them as pictures."""

import functools
import io
from typing import Any

from matplotlib import cbook
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text

from nalu_bench.analysis.render.print_style import applied


class Drawn(Figure):
    """A matplotlib figure that needs no window and no backend, and is saved in our style whoever saves it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        FigureCanvasAgg(self)

    def draw(self, renderer: Any) -> None:
        """Draw it. A name that is no formula, such as `a$b$_$`, is drawn as it is written."""
        for text in self.findobj(Text):
            if not all(map(_can_be_set, text.get_text().splitlines())):
                text.set_parse_math(False)
        super().draw(renderer)

    def savefig(self, *args: Any, **options: Any) -> None:
        with applied():  # some of it, such as new ticks, is made only now
            super().savefig(*args, **options)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()


@functools.cache
def _can_be_set(line: str) -> bool:
    """Whether matplotlib can set what it takes for formulas in a line; it can set the numbers that it writes itself."""
    if not cbook.is_math_text(line) or line.startswith(r"$\mathdefault{"):
        return True
    try:
        MathTextParser("path").parse(line)
    except ValueError:
        return False
    return True
