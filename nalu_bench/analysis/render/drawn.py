"""The figures of reports: a notebook shows them as pictures."""

import io
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from nalu_bench.analysis.render.print_style import applied


class Drawn(Figure):
    """A matplotlib figure that needs no window and no backend, and is saved in our style whoever saves it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        FigureCanvasAgg(self)

    def savefig(self, *args: Any, **options: Any) -> None:
        with applied():  # some of it, such as new ticks, is made only now
            super().savefig(*args, **options)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()
