"""What trained runs predict for printed errors: nothing is divided, and a setting is a protocol."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.protocols.predictions import (
    SELECTIONS,
    WHOLE,
    Candidate,
    Predictions,
    Scoring,
    selected_rows,
)


def predictions(measured: Measured, models: Mapping[str, Sequence[str]], splits: Sequence[str]) -> Predictions:
    """Predict mean absolute errors from runs.

    Args:
        models: model of the printed table -> models that may stand for it. A setting is a protocol if it has one of
            each.
        splits: of the printed table.
    """
    runs, curves = measured.runs, measured.curves
    curves = curves.sort_values(["cell", "seed", "step"], kind="stable")
    selected = {rule: selected_rows(curves, rule).set_index(["cell", "seed"]) for rule in SELECTIONS}
    found: list[Candidate] = []
    scores = []
    for words, group in runs.groupby(["setting", "task"], sort=False):
        cells = {str(line.model): str(line.cell) for line in group.drop_duplicates("cell").itertuples()}
        chosen = [next((cells[name] for name in names if name in cells), None) for names in models.values()]
        if None in chosen:
            continue
        found.append(Candidate(tuple(str(words[0]).split(";")), "", WHOLE))
        scores.append(
            [
                [[_errors(selected[rule], runs, cell, f"{split}_mae") for split in splits] for cell in chosen]
                for rule in SELECTIONS
            ]
        )
    ways = [Scoring("mae", "", rule) for rule in SELECTIONS]
    return Predictions.of(found, ways, list(models), splits, np.array(scores, dtype=float))


def _errors(selected: pd.DataFrame, runs: pd.DataFrame, cell: str | None, column: str) -> "np.ndarray":
    """The errors of the seeds of a cell; nan for a run without one."""
    seeds = runs.loc[runs["cell"] == cell, "seed"]
    index = pd.MultiIndex.from_product([[cell], sorted(seeds)])
    return selected[column].reindex(index).to_numpy(float)
