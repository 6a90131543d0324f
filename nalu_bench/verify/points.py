"""Check that the committed points of curves are those that thinning leaves, and of one run each."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured


def lost_points(measured: Measured, points: int) -> Iterator[str]:
    """A line for every curve that does not begin at step 0, or has points further apart than thinning leaves them.

    A point that contradicts a fact could be left out otherwise. `points`: see `Kind`.
    """
    rows = measured.runs.reindex(columns=["cell", "steps", "log_every"]).drop_duplicates("cell")
    lengths = {cell: (int(last), int(every)) for cell, last, every in rows.itertuples(index=False, name=None)}
    for (cell, seed), steps in measured.curves.groupby(["cell", "seed"])["step"]:
        if cell not in lengths:  # a fault of its own
            continue
        last, every = lengths[cell]
        apart = every * max(1, (1 + last // every) // points)
        there = np.sort(steps.to_numpy())
        gaps = np.diff(there, prepend=-every)
        if there[0] != 0 or gaps.max() > apart or gaps.min() <= 0 or (there % every).any():
            yield (
                f"cell {cell} seed {seed}: its curve must have a point at 0 and every {apart:,} steps or more often, "
                f"and begins at {there[0]:,} with up to {gaps.max():,} between two"
            )


def copies(curves: pd.DataFrame) -> Iterator[str]:
    """A line for every run with the very curve of another seed, in a cell whose other runs have curves of their own.

    Each seed draws its own weights and data. Only where nothing is drawn are all curves of a cell one. Points without
    any error, as after a divergence, are alike and do not count. Nor do curves of step 0 alone: first weights may be
    constants.
    """
    told = curves[curves.drop(columns=["cell", "seed", "step", "sparsity_error"], errors="ignore").notna().any(axis=1)]
    told = told[told.groupby(["cell", "seed"])["step"].transform("max") > 0]
    marks = pd.util.hash_pandas_object(told.drop(columns=["cell", "seed"]), index=False)
    runs = marks.groupby([told["cell"], told["seed"]]).agg(lambda rows: hash(tuple(rows))).reset_index(name="curve")
    for cell, mine in runs.groupby("cell"):
        twice = mine[mine.duplicated("curve", keep=False)]
        if mine["curve"].nunique() > 1:
            for _, seeds in twice.groupby("curve")["seed"]:
                yield f"cell {cell}: the seeds {', '.join(map(str, seeds))} have one curve"
