"""Check that what a part of a run store keeps can be that of its cell: columns, figures, matrices, parameters."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.record import LARGEST
from nalu_bench.files import read_arrays, read_table
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.store import schema
from nalu_bench.verify.bounds import impossible
from nalu_bench.verify.columns import followed, measured_in
from nalu_bench.verify.networks import ROUNDING, gate_faults, matrix_faults

STORED = ("cell", "steps", "log_every", "seed", "status", "last_step", "diverged_at", "selected_step")
"""The columns of the runs of a part, with those of its cell, beside figures. The others are of its manifest."""


def kept_faults(part: Path, cell: Cell, measured: Measured) -> Iterator[str]:
    """A line for everything that a part keeps and no training of its cell writes.

    Args:
        part: its folder. cell: that of its identity. measured: its runs and curves.
    """
    yield from _foreign("its runs", measured.runs, [*STORED, *measured_in(cell), *measured.curves])
    yield from _foreign("its curves", measured.curves, ["cell", "seed", "step", *followed(cell)])
    yield from impossible(measured, [Wanted(cell, ())])
    if not (part / schema.WEIGHTS).exists():
        return  # the oldest parts have none
    weights = read_table(part / schema.WEIGHTS)
    rows: dict[Any, Any] = measured.runs.set_index(["cell", "seed"]).to_dict("index")
    small = np.array([np.prod(shape) <= LARGEST for shape in weights["shape"]], bool)
    yield from matrix_faults(cell, weights[small], rows)
    yield from gate_faults(cell, weights, rows)
    yield from _other_matrices(cell, weights, measured.runs["seed"], read_arrays(part / schema.PARAMETERS))


def _foreign(where: str, rows: pd.DataFrame, known: list[str]) -> Iterator[str]:
    if foreign := rows.columns.difference(known).to_list():
        yield f"{where} have {', '.join(map(str, foreign))}, and its task measures no such figure"


def _other_matrices(
    cell: Cell, weights: pd.DataFrame, seeds: "pd.Series[int]", parameters: Mapping[str, np.ndarray]
) -> Iterator[str]:
    """A line for every run whose matrices are not those of its parameters."""
    import torch

    network = cell.model.build(cell.task)
    matrices = weights[weights["kind"] == schema.WEIGHT].groupby("seed")
    for number, seed in enumerate(seeds):
        try:
            network.load_state_dict({name: torch.tensor(values[number]) for name, values in parameters.items()})
        except RuntimeError as error:  # other names or shapes than those of the cell's network
            yield f"cell {cell.digest}: its parameters must be those of its network: {error}"
            return
        made = {name: W.detach().numpy().reshape(-1) for name, W in network.weights().items()}
        rows = matrices.get_group(seed) if seed in matrices.groups else weights[:0]
        found = dict(zip(rows["name"], rows["values"], strict=True))
        if wrong := [name for name, W in made.items() if name not in found or not _same(found[name], W)]:
            yield f"cell {cell.digest} seed {seed}: {', '.join(wrong)} of its weights is not that of its parameters"


def _same(found: np.ndarray, made: np.ndarray) -> bool:
    """Another processor may round the functions that make a matrix of parameters in another way."""
    return found.shape == made.shape and np.allclose(found, made, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)
