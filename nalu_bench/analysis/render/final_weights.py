"""Final weights: are they at -1, 0 and 1, and how far are the gates open?"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import CELL_KEYS, Measured, cells_with
from nalu_bench.analysis.render import style
from nalu_bench.analysis.render.learning_curves import title
from nalu_bench.errors import UsageError

COLUMNS, BINS = 4, 60

NEAR = 0.01
"""A weight counts as being at a number if it is this near."""


def picture(measured: Measured, **words: str) -> "style.Figure":
    """The weights of the cells that have these words, such as model="nmu".

    Raises:
        UsageError if no weights of such cells were kept.
    """
    found = list(panels(measured, **words))
    if not found:
        raise UsageError(f"no weights of {measured.manifest['experiment']} with {words or 'any words'} were kept.")
    return draw(found)


def draw(some: Sequence[tuple[str, np.ndarray]]) -> "style.Figure":
    """A histogram for each title and its entries."""
    columns = min(COLUMNS, len(some))
    rows = -(-len(some) // columns)
    figure, axes = style.new_figure(2.5 * columns, 1.7 * rows + 0.3, rows, columns)
    for axis in axes.flat[len(some) :]:
        axis.remove()
    for axis, (heading, values) in zip(axes.flat, some, strict=False):
        _histogram(axis, heading, values)
    return figure


def panels(measured: Measured, **words: str) -> Iterator[tuple[str, np.ndarray]]:
    """Title and all entries, over the seeds, of every matrix and gate of every cell."""
    weights = measured.weights
    if weights.empty:
        return
    weights = weights[weights["kind"] != "array"]
    cells = {line["cell"]: line for line in cells_with(measured, words)}
    for (cell, name), group in weights.groupby(["cell", "name"], sort=False):
        own = cells.get(str(cell))
        if own:
            yield f"{title(own)}: {name}", np.concatenate([np.asarray(values, float) for values in group["values"]])


def _histogram(axis: Any, heading: str, values: np.ndarray) -> None:
    finite = values[np.isfinite(values)]
    counted, edges = np.histogram(np.clip(finite, -2, 2), bins=BINS, range=(-2, 2))
    axis.stairs(counted, edges, fill=True, color="#0072B2")  # one shape: a page holds hundreds of them
    axis.set_yscale("log", nonpositive="clip")
    axis.set_ylim(bottom=0.5)
    at = {number: float(np.mean(np.abs(finite - number) < NEAR)) for number in (-1, 0, 1)} if len(finite) else {}
    axis.set_title(heading, fontsize=7)
    axis.set_xlabel("  ".join(f"{number}: {share:.0%}" for number, share in at.items()), fontsize=7)
    axis.minorticks_off()
    axis.set_xticks([-1, 0, 1])
    axis.tick_params(labelsize=6)


def sparsity(measured: Measured) -> pd.DataFrame:
    """The largest distance of a weight from -1, 0 and 1 at the selected step: the median over seeds, for every cell."""
    runs = measured.runs[measured.runs["role"] == "cell"]
    if "sparsity_error" not in runs:
        return pd.DataFrame()
    found = runs.groupby(CELL_KEYS, sort=False)["sparsity_error"].describe(percentiles=[0.5])
    return found[["count", "min", "50%", "max"]].reset_index()
