"""An estimate of the memory that training takes, made before it starts.

The network is built, and its computations are run, on torch's meta device. Tensors there have a shape and no memory, so
that a network of any size is measured without being allocated. The time of an estimate grows with the number of
operations alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from nalu_bench import registry
from nalu_bench.models.model import Model
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.identity import canonical, plain
from nalu_bench.running import process
from nalu_bench.running.available import available

if TYPE_CHECKING:
    from torch import Tensor

    from nalu_bench.models.network import Network

__all__ = ["available", "need", "needed", "numbers", "sizes_of"]

PROCESS = 700 * 2**20
"""Bytes of a worker with torch and a few compiled graphs, measured."""

FLOAT = 4
HELD = 4
"""Arrays of the parameters' size that are kept: parameters, two means of the optimiser, selected parameters."""

UPDATING = 8
"""More arrays of that size in an eager step: gradients, changes, new state, and the choice of old or new by seed."""

BACKWARD = 2
"""Memory of a step with its backward pass, as a multiple of the activations."""

COPIES = 5
"""Arrays of the size of a batch's inputs that the products of an eager step allocate, measured."""

ROW = 32
"""Bytes of one figure of a curve: as it is measured, and in the frame that is written."""

DRAWING = 16
"""Memory for drawing the numbers of an evaluated split, as a multiple of them: their hash is computed in int64."""

SLACK = 1.5
"""Factor on the estimate: allocators keep more memory than is in use."""

ENDLESS = 2**63
"""The bytes of tensors that are too large for a 64-bit count."""


@dataclass(frozen=True)
class Need:
    """Bytes for one block of one cell.

    Attributes:
        held: allocated from the first step to the last.
        passing: the most beyond that at any moment.
        draw: the random numbers of a batch, shared by cells side by side.
        step: the activations of a training step, which its time grows with, too; 0 if they cannot be measured.
    """

    held: int
    passing: int
    draw: int
    step: int


def needed(cells: Sequence[Cell]) -> int:
    """Bytes of a process that trains one block of these cells side by side; rather too many than too few."""
    needs = [need(cell) for cell in cells]
    together = (
        sum(map(_curve, cells))
        + sum(one.held for one in needs)
        + max(one.passing for one in needs)
        + max(one.draw for one in needs)
    )
    return PROCESS + together


def _curve(cell: Cell) -> int:
    """Bytes of the curves of all seeds: every measure on every split that is followed, at every evaluation."""
    evaluations = 1 + cell.recipe.steps // cell.recipe.log_every
    return ROW * cell.model.width * evaluations * len(cell.task.evaluated) * len(cell.task.measures)


def numbers(cells: Sequence[Cell]) -> int:
    """Bytes of the random numbers of the largest batch of these cells: a lower bound without network and torch."""
    return max(FLOAT * cell.model.width * cell.task.example_size("train") * cell.recipe.batch_size for cell in cells)


def need(cell: Cell) -> Need:
    """The need of one cell; computed once for cells whose tensors have the same shapes."""
    key = canonical([plain(cell.model), cell.task.program_key(), _sizes(cell)])
    if key not in _needs:
        _needs[key] = _measure(cell)
    return _needs[key]


_needs: dict[str, Need] = {}


def sizes_of(model: Model) -> list[str]:
    """The keys of a model that hold sizes, such as `model.hidden_size`: integers, and lists of integers."""
    values = {entry.name: getattr(model, entry.name) for entry in fields(model) if not entry.metadata}
    return [
        f"model.{name}"
        for name, value in values.items()
        if type(value) is int or (isinstance(value, list) and all(isinstance(one, int) for one in value))
    ]


def _sizes(cell: Cell) -> list[tuple[str, int, int]]:
    """(split, numbers of an example, examples) of a training batch and of every evaluated split, or a chunk of it."""
    sizes = [("train", cell.task.example_size("train"), cell.recipe.batch_size)]
    for split in (*cell.task.evaluated, *cell.task.tested):
        examples = _examples(cell, split)
        sizes.append((split, cell.task.example_size(split), min(examples, cell.task.chunk(split) or examples)))
    return sizes


def _examples(cell: Cell, split: str) -> int:
    """Number of examples of an evaluated split."""
    fixed, rows = cell.task.fixed_numbers(split), cell.task.rows(split)
    if fixed is not None:
        return int(fixed.shape[1])
    if rows is None:
        return cell.task.examples(split, cell.recipe.evaluation_size)
    return rows.count // cell.task.example_size(split)


def _measure(cell: Cell) -> Need:
    """Measure the network, and its computations on the meta device.

    Computations that need the values of their tensors cannot run there. Then only the parameters are counted.
    """
    import torch

    from nalu_bench.training.check import watch_units

    process.make_cache()
    batch, *splits = _sizes(cell)
    step, evaluated = 0, [(0, 0)]
    try:
        with torch.device("meta"):
            network = cell.model.network(cell.task)
    except RuntimeError as error:
        if "overflow" not in str(error):
            raise
        return Need(ENDLESS, 0, 0, 0)
    watch_units(network)
    with torch.device("meta"), contextlib.suppress(NotImplementedError):  # "Cannot copy out of meta tensor"
        step = _step(network, cell, *batch)
        evaluated = [_evaluation(network, cell, *split) for split in splits]
    copy = FLOAT * cell.model.width * sum(parameter.numel() for parameter in network.parameters())
    draw = numbers([cell])
    training = copy + BACKWARD * step + COPIES * draw
    return Need(
        held=HELD * copy + sum(examples for examples, _ in evaluated),
        passing=int(SLACK * max(training, UPDATING * copy, *(passing for _, passing in evaluated))),
        draw=draw,
        step=step,
    )


def _step(network: Network, cell: Cell, split: str, size: int, examples: int) -> int:
    """Bytes of the activations of all seeds, for one batch a seed."""
    import torch

    from nalu_bench.running.meta import LiveBytes

    drawn, noise = _drawn(cell, split, size, examples), torch.empty(network.noise, examples)
    own, common = _constants(cell, split)
    loss_of = registry.losses.load(cell.recipe.loss)
    held = LiveBytes([*network.parameters(), drawn, noise, *own.values()], [*common.values()], cell.model.width)
    with held:
        x, t = cell.task.sample(drawn, own, common)
        loss, penalties = cell.task.objective(network, x, t, loss_of, noise if network.noise else None)
    del loss, penalties
    return held.peak


def _evaluation(network: Network, cell: Cell, split: str, size: int, examples: int) -> tuple[int, int]:
    """Bytes of the examples of a split for all seeds, and of what their evaluation needs beyond them."""
    import torch

    from nalu_bench.running.meta import LiveBytes

    drawn, width = _drawn(cell, split, size, examples), cell.model.width
    own, common = _constants(cell, split)
    made = LiveBytes([*own.values()], [*common.values(), drawn], width)
    with made:
        x, t = cell.task.sample(drawn, own, common)
    mine, shared = ([x], []) if made.copies(x) > 1 else ([], [x])
    computed = LiveBytes([*network.parameters(), *mine, t], shared, width)
    with computed, torch.no_grad():
        cell.task.measure(network, x, t)
    kept = made.copies(x) * x.nbytes + width * t.nbytes
    return kept, max(DRAWING * drawn.nbytes + made.peak, computed.peak)


def _drawn(cell: Cell, split: str, size: int, examples: int) -> Tensor:
    """The random numbers of some examples, as a tensor without values."""
    import torch

    return torch.empty(size, examples, dtype=torch.float32 if cell.task.rows(split) is None else torch.int64)


def _constants(cell: Cell, split: str) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """The task's parameters of one seed and of a split, as tensors without values."""
    from nalu_bench.training.data import tensors

    drawn = cell.task.seed_parameters(np.random.default_rng(0)), cell.task.split_parameters(split)
    seed, common = ({name: value.to("meta") for name, value in tensors(part).items()} for part in drawn)
    return seed, common
