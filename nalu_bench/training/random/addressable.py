"""The benchmark's own streams: every number is a pure function of (purpose, seed, position)."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from nalu_bench.plan.cell import Cell
from nalu_bench.registry import register
from nalu_bench.tasks.task import Rows, Task
from nalu_bench.training import compilation
from nalu_bench.training.compilation import Mode
from nalu_bench.training.random import draws, epochs, streams
from nalu_bench.training.random.draws import Addressed, Draw
from nalu_bench.training.random.kind import Streams
from nalu_bench.units.unit import Initialiser


@register("addressable", version=1)
class Addressable(Streams):
    """Streams addressed by purpose, seed and step: see `streams`, `draws` and `epochs`.

    Data do not depend on the model, an initial weight depends on its seed and its name alone, and nothing has to be
    stored to go on in the middle of a run.
    """

    def weights(
        self, prototypes: Mapping[str, Tensor], initialisers: Mapping[str, Initialiser], seed: int, count: int
    ) -> dict[str, Tensor]:
        again = f" {count}" if count else ""
        return {
            name: initial(prototypes[name], f"{name}{again}", initialise, seed)
            for name, initialise in initialisers.items()
        }

    def seed_parameters(self, task: Task, seed: int) -> dict[str, np.ndarray]:
        return task.seed_parameters(streams.numpy_generator("task", seed))

    def training(self, cell: Cell, seeds: list[int], mode: Mode) -> Draw:
        task, batch = cell.task, cell.recipe.batch_size
        size, rows = task.example_size("train"), task.rows("train")
        if rows is not None:
            return _row_numbers(rows, size, batch, seeds, mode)
        keys = streams.stream_keys("data", seeds)
        uniform = _uniform(keys, (size, batch), draws.coefficients(task.intervals("train")), mode)
        period = None if task.repeated is None else task.repeated // batch
        return draws.shaped(uniform, task.distribution("train"), period)

    def noise(self, count: int, cell: Cell, seeds: list[int], mode: Mode) -> Draw:
        lines = draws.coefficients(np.array([[0.0, 0.5], [0.5, 1.0]], np.float32))
        return _uniform(streams.stream_keys("noise", seeds), (count, cell.recipe.batch_size), lines, mode)

    def evaluated(self, cell: Cell, split: str) -> Tensor:
        task = cell.task
        rows = task.rows(split)
        if rows is not None:
            return epochs.in_order(rows, task.example_size(split), split)
        shape = (task.example_size(split), task.examples(split, cell.recipe.evaluation_size))
        lines = draws.coefficients(task.intervals(split))
        numbers = draws.tensor_draw(shape)(streams.stream_keys(split, [0]), lines, torch.tensor(0))[0]
        distribution = task.distribution(split)
        return distribution.of(numbers) if distribution else numbers


def initial(prototype: Tensor, name: str, initialise: Initialiser, seed: int) -> Tensor:
    """The initial value of one parameter, from the stream of its seed and name.

    Raises: ValueError for an initialiser that returns another tensor instead of filling the one that it gets.
    """
    value = torch.full_like(prototype, torch.nan, requires_grad=False)  # what is left so is no number that trains
    filled: object = initialise(value, streams.torch_generator("init", seed, name))
    if isinstance(filled, Tensor) and filled.untyped_storage().data_ptr() != value.untyped_storage().data_ptr():
        raise ValueError(f"the initialiser of {name} must fill the tensor that it gets, and returns another one")
    return value


def _uniform(keys: Tensor, shape: tuple[int, int], lines: Tensor, mode: Mode) -> Draw:
    device = torch.device(mode.device)
    if device.type == "cpu":
        return Addressed(draws.numba_draw(keys, shape, lines))
    draw = draws.tensor_draw(shape)
    on_device = compilation.graph(lambda *inputs: (draw(*inputs),), mode)
    keys, lines = keys.to(device), lines.to(device)
    return Addressed(lambda step: on_device(keys, lines, torch.tensor(step, device=device))[0])


def _row_numbers(rows: Rows, size: int, batch: int, seeds: list[int], mode: Mode) -> Draw:
    draw = epochs.EpochDraw(rows, size, batch, seeds)
    device = torch.device(mode.device)
    return Addressed(lambda step: draw(step).to(device))
