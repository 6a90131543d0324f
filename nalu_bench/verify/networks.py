"""Check that what is kept of the selected networks, matrices, gates and predictions, can be that of the runs."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from nalu_bench.analysis.measure.measured import Measured, by_digest
from nalu_bench.analysis.measure.record import LARGEST
from nalu_bench.plan.blocks import ranges_text
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.store.schema import ARRAY, ARRAYS, GATE, KINDS, TRAINED, WEIGHT, WEIGHTS, Status
from nalu_bench.tasks.task import Probes, Task

ROUNDING = 1e-5
"""How far a mean over a few numbers in single precision may be from the same mean in another order."""


def network_faults(measured: Measured, wanted: Sequence[Wanted]) -> Iterator[str]:
    """A line for every run whose matrices, gates or predictions are lost, or contradict its row, its model or its task.

    Args:
        measured: runs, weights and predictions.
        wanted: the cells of the plan.
    """
    runs = measured.runs[measured.runs["status"].isin(TRAINED)]
    if runs.empty:
        return
    yield from _lost("weights", measured, runs[runs["cell"].isin(measured.weights["cell"])])
    yield from _lost("predictions", measured, runs, {one.cell.digest for one in wanted if predicts(one.cell.task)})
    rows: dict[Any, Any] = runs.set_index(["cell", "seed"]).to_dict("index")
    parts = measured.manifest["parts"]
    stored = {name.partition("/")[0] for name, part in parts.items() if WEIGHTS in part.get("files", ())}
    weights, predictions = (by_digest(frame) for frame in (measured.weights, measured.predictions))
    yield from _foreign_kinds(measured.weights, parts)
    for want in wanted:
        if want.cell.digest in weights:
            yield from matrix_faults(want.cell, weights[want.cell.digest], rows)
            yield from gate_faults(want.cell, weights[want.cell.digest], rows)
        elif want.cell.digest in stored and _small_matrices(want.cell.model.build(want.cell.task)):
            yield f"cell {want.cell.digest}: weights must have rows of its runs, whose parts have kept them"
        if want.cell.digest in predictions:
            yield from _probe_faults(want.cell.task.probes(), predictions[want.cell.digest])


def predicts(task: Task) -> bool:
    """Whether the predictions of every network of a task are kept; only a network tells it of one that `records`."""
    return not task.records() and task.probes() is not None


def _lost(name: str, measured: Measured, runs: pd.DataFrame, always: Collection[str] = ()) -> Iterator[str]:
    """A line for every part that lacks rows of runs, although it keeps those of others, or had some when it was stored.

    Those of the cells `always` have rows of all runs. The oldest parts keep no weights.
    """
    rows, parts = getattr(measured, name).reindex(columns=["cell", "seed"]), measured.manifest["parts"]
    kept = set(rows.drop_duplicates().itertuples(index=False, name=None))
    for (cell, part), mine in runs.groupby(["cell", "part"]):
        lost = [int(seed) for seed in mine["seed"] if (cell, seed) not in kept]
        stored = cell in always or f"{name}.parquet" in parts.get(f"{cell}/{part}", {}).get("files", ())
        if lost and (stored or len(lost) < len(mine)):
            yield f"part {cell}/{part}: {name} must have rows of all its runs, and has none of {ranges_text(lost)}"


def _foreign_kinds(weights: pd.DataFrame, parts: Mapping[str, Any]) -> Iterator[str]:
    """A line for every cell with rows of a kind that nothing writes, or with arrays that its parts did not record."""
    if weights.empty:
        return
    recorded = {name.partition("/")[0] for name, part in parts.items() if ARRAYS in part.get("files", [ARRAYS])}
    for cell, kind in weights[["cell", "kind"]].drop_duplicates().itertuples(index=False, name=None):
        if kind not in KINDS or (kind == ARRAY and cell not in recorded):
            yield f"cell {cell}: its weights must be of the kinds that its runs keep, and one is of the kind {kind!r}"


def _small_matrices(network: Any) -> dict[str, tuple[int, ...]]:
    """The shapes of the matrices of a network that are small enough to be kept."""
    shapes = {name: tuple(W.shape) for name, W in network.weights().items()}
    return {name: shape for name, shape in shapes.items() if np.prod(shape) <= LARGEST}


def matrix_faults(cell: Cell, weights: pd.DataFrame, runs: Mapping[Any, Any]) -> Iterator[str]:
    """A line for every run without the matrices of its model, or whose sparsity error or other scalars are not theirs.

    A matrix that is too large to be kept may have a larger error than those that are.
    """
    network = cell.model.build(cell.task)
    small = _small_matrices(network)
    whole = len(small) == len(network.weights())
    kept = weights[weights["kind"] == WEIGHT]
    columns = [kept[name].to_numpy() for name in ("name", "shape", "values")]
    for seed, rows in kept.groupby("seed").indices.items():  # arrays are several times as fast here as frames
        names, shaped, values = (column[rows] for column in columns)
        shapes = {name: tuple(map(int, shape)) for name, shape in zip(names, shaped, strict=True)}
        if shapes != small or len(rows) != len(small):
            yield f"cell {cell.digest} seed {seed}: its weights are {shapes}, and those of its model {small}"
            continue
        matrices = {name: np.asarray(value, np.float32).reshape(small[name])
                    for name, value in zip(names, values, strict=True)}  # fmt: skip
        run = runs.get((cell.digest, seed), {})
        stated, found = np.float32(run.get("sparsity_error", np.nan)), _sparsity_error(matrices.values())
        finished = run.get("status") == Status.FINISHED  # networks diverge after their weights were kept
        blank = whole and finished and "sparsity_error" in run and np.isnan(stated) and not np.isnan(found)
        wrong = not np.isnan(stated) and (not stated >= found or (whole and stated > found))  # found may be nan
        if blank or wrong:
            yield f"cell {cell.digest} seed {seed}: sparsity_error is {stated:g}, and {found:g} by its weights"
        if (run.get("selected_step") or 0) > 0:  # at step 0, and without a selected step, nothing is clamped yet
            for fault in _restored_faults(network, matrices, run):
                yield f"cell {cell.digest} seed {seed}: {fault}"
    if small and (lost := set(weights["seed"]) - set(kept["seed"])):
        yield f"cell {cell.digest}: the seeds {sorted(lost)} have no weights of their model"


def _restored_faults(network: Any, matrices: Mapping[str, np.ndarray], run: Mapping[str, Any]) -> Iterator[str]:
    """What a run cannot have whose matrices are themselves parameters: others of its scalars, or unclamped ones.

    All other parameters are nan. So is, and is not compared, what rests on them.
    """
    import torch

    own = dict(network.named_parameters())
    kept = {name: torch.tensor(W) for name, W in matrices.items() if name in own and W.shape == own[name].shape}
    if not kept:
        return
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(kept.get(name, torch.full_like(parameter, torch.nan)))
        for name, W in network.weights().items():
            if name in kept and not torch.equal(W, kept[name]):  # a function of the parameter of this name
                own[name].fill_(torch.nan)
        for name, value in network.followed().items():
            ours, stated = float(value), float(run.get(name, np.nan))
            if np.isfinite(ours) and not np.isclose(stated, ours, rtol=ROUNDING, atol=ROUNDING):
                yield f"{name} is {stated:g}, and {ours:g} by its weights"
        before = {name: own[name].clone() for name in kept}
        network.project_()
        for name, W in before.items():
            if not torch.equal(W.nan_to_num(), own[name].nan_to_num()):
                yield f"{name} of its weights must be clamped as its unit does, and is not"


def gate_faults(cell: Cell, weights: pd.DataFrame, runs: Mapping[Any, Any]) -> Iterator[str]:
    """A line for every run with a mean gate outside [0, 1]; that of a network that diverged may be nan."""
    for seed, name, values in weights.loc[weights["kind"] == GATE, ["seed", "name", "values"]].itertuples(index=False):
        gate = np.asarray(values, float)
        diverged = runs.get((cell.digest, seed), {}).get("status") == Status.DIVERGED
        if not (((gate >= 0) & (gate <= 1 + ROUNDING)) | (diverged & np.isnan(gate))).all():
            ends = f"{gate.min():g} to {gate.max():g}"
            yield f"cell {cell.digest} seed {seed}: {name} must be a gate from 0 to 1, and is {ends}"


def _sparsity_error(matrices: Iterable[np.ndarray]) -> np.float32:
    """As `units.functional.sparsity_error` of the worst matrix, in the precision of training."""
    size = np.abs(np.concatenate([W.reshape(-1) for W in matrices]))
    worst: np.float32 = np.minimum(size, np.abs(np.float32(1) - size)).max()
    return worst


def _probe_faults(probes: Probes | None, predictions: pd.DataFrame) -> Iterator[str]:
    """A line for every run whose predictions are not of the task's probes, or one if it has none."""
    if probes is None:
        yield f"cell {predictions['cell'].iloc[0]}: it has rows in predictions, and its task keeps none"
        return
    numbers, outputs = (axis.reshape(-1) for axis in np.indices(probes.targets.shape))
    must = {
        "probe": numbers, "output": outputs, "label": np.asarray(probes.labels, object)[numbers],
        "target": probes.targets[numbers, outputs],
    }  # fmt: skip
    for (cell, seed), rows in predictions.groupby(["cell", "seed"]):
        wrong = [name for name, values in must.items() if not np.array_equal(rows[name].to_numpy(), values)]
        if wrong:
            yield f"cell {cell} seed {seed}: {' and '.join(wrong)} of its predictions are not those of its task"
