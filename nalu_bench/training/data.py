"""What a block of seeds is trained and evaluated on.

The numbers behind a training batch depend on the seeds, the sizes and the ranges alone, so that cells of other models,
and of other operations on the same inputs, train on one draw.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nalu_bench.plan.blocks import WIDTH
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.identity import canonical
from nalu_bench.training import compilation
from nalu_bench.training.compilation import Mode
from nalu_bench.training.random import draws, streams
from nalu_bench.training.random.draws import Draw

Tensors = dict[str, Tensor]


def sharing_key(cell: Cell) -> str:
    """Cells of equal keys can train on one draw, from one evaluation to the next."""
    task, recipe = cell.task, cell.recipe
    return canonical([task.numbers("train"), task.intervals("train").tolist(), recipe.batch_size, recipe.log_every])


def training_numbers(cell: Cell, seeds: list[int], mode: Mode) -> Draw:
    """Step -> the numbers (S, N, B) of its batch, valid until the next call; one for all cells of a `sharing_key`."""
    keys, device = streams.stream_keys("data", seeds), torch.device(mode.device)
    shape = (cell.task.numbers("train"), cell.recipe.batch_size)
    lines = draws.coefficients(cell.task.intervals("train"))
    if device.type == "cpu":
        return draws.numba_draw(keys, shape, lines)
    draw = draws.tensor_draw(shape)
    on_device = compilation.graph(lambda *inputs: (draw(*inputs),), mode)
    keys, lines = keys.to(device), lines.to(device)
    return lambda step: on_device(keys, lines, torch.tensor(step, device=device))[0]


@dataclass(frozen=True)
class Examples:
    """What a network is evaluated on.

    Attributes:
        x: inputs (B, N) of all seeds, or (S, B, N) where they differ.
        t: targets (S, B, O).
        shared: which of the two x is.
    """

    x: Tensor
    t: Tensor
    shared: bool


class Data:
    """What a cell makes of numbers, for every seed of a block.

    Attributes:
        seeds: the task's `seed_parameters`, stacked.
        constants: the values of these and of its `split_parameters` in training, each sorted by name.
        evaluated: the examples of every evaluated split.
        probes: inputs (B, ...) whose predictions are kept, or None.
    """

    def __init__(self, cell: Cell, seeds: list[int], device: torch.device) -> None:
        self.cell = cell
        self.device = device
        drawn = [cell.task.seed_parameters(streams.numpy_generator("task", seed)) for seed in seeds]
        self.seeds = self._to_device({name: np.stack([one[name] for one in drawn]) for name in drawn[0]})
        train = self._to_device(cell.task.split_parameters("train"))
        self.constants = [part[name] for part in (self.seeds, train) for name in sorted(part)]
        self.evaluated = {split: self.examples(split) for split in cell.task.evaluated}
        probes = cell.task.probes()
        self.probes = None if probes is None else torch.from_numpy(probes.inputs).to(device)

    def examples(self, split: str) -> Examples:
        """The examples of a split; their numbers are the same for every seed."""
        task = self.cell.task
        numbers, constants = self._numbers(split).to(self.device), self._to_device(task.split_parameters(split))
        lanes = torch.arange(WIDTH, device=self.device)  # a task may have no `seed_parameters` to count them by
        x, t = torch.vmap(lambda lane, seed: task.sample(numbers, seed, constants))(lanes, self.seeds)
        shared = x.stride(0) == 0  # vmap repeats without a copy what does not depend on the seed
        return Examples(x[0] if shared else x, t.contiguous(), shared)

    def _numbers(self, split: str) -> Tensor:
        task = self.cell.task
        fixed = task.fixed_numbers(split)
        if fixed is not None:
            return torch.from_numpy(fixed)
        shape = (task.numbers(split), self.cell.recipe.evaluation_size)
        lines = draws.coefficients(task.intervals(split))
        return draws.tensor_draw(shape)(streams.stream_keys(split, [0]), lines, torch.tensor(0))[0]

    def _to_device(self, arrays: dict[str, np.ndarray]) -> Tensors:
        return {name: torch.from_numpy(array).to(self.device) for name, array in arrays.items()}
