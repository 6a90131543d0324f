"""The data on which a block of seeds is trained and evaluated.

The random numbers of a training batch depend on the seeds, the sizes and the ranges alone. So cells with other models,
or with other operations on the same inputs, can train on one draw.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.identity import canonical
from nalu_bench.tasks.task import DROP, Task
from nalu_bench.training.compilation import Mode
from nalu_bench.training.lanes import over_seeds
from nalu_bench.training.random.draws import Draw
from nalu_bench.training.random.kind import streams_of

Tensors = dict[str, Tensor]


def sharing_key(cell: Cell) -> str:
    """A key of a cell: cells with equal keys can train on one draw, from one evaluation to the next."""
    task, recipe = cell.task, cell.recipe
    rows = task.rows("train")
    source = [task.intervals("train").tolist(), str(task.distribution("train"))] if rows is None else asdict(rows)
    own = [recipe.streams, streams_of(cell).sharing(cell)]
    return canonical([task.example_size("train"), source, task.repeated, recipe.batch_size, recipe.log_every, own])


def training_numbers(cell: Cell, seeds: list[int], mode: Mode) -> Draw:
    """The draw of a cell, and of all cells with its `sharing_key`: step -> numbers (S, N, B) of its batch.

    The numbers are valid until the next call.

    Raises:
        UsageError if the recipe's streams have no numbers for the task, or if fixed data are too few: see `check_data`.
    """
    check_data(cell)
    return streams_of(cell).training(cell, seeds, mode)


def tensors(arrays: Mapping[str, np.ndarray]) -> Tensors:
    """The arrays as tensors on the same memory; a read-only array, such as a table or a mapped file, is copied."""
    return {name: torch.from_numpy(np.require(array, requirements="W")) for name, array in arrays.items()}


def check_data(cell: Cell) -> None:
    """Raise UsageError if the recipe's streams have no numbers for the task; else see `check_rows`."""
    streams_of(cell).check(cell)
    check_rows(cell)


def check_rows(cell: Cell) -> None:
    """Raise UsageError if fixed data hold no example of a split, or too few training examples for a batch."""
    task, batch = cell.task, cell.recipe.batch_size
    for split in ("train", *task.evaluated, *task.tested):
        rows = task.rows(split)
        if rows is not None and rows.count < task.example_size(split):
            raise UsageError(
                f"the split {split} of {task.name} must hold an example of {task.example_size(split)} rows, "
                f"got {rows.count} rows."
            )
    if task.repeated is not None and (task.repeated < batch or task.repeated % batch):
        raise UsageError(
            f"recipe.batch_size must divide the number of examples drawn once ({task.repeated:,}), got {batch}."
        )
    rows = task.rows("train")
    if rows is not None and rows.remainder == DROP and rows.count // task.example_size("train") < batch:
        raise UsageError(
            f"an epoch must hold a batch: recipe.batch_size must be at most {rows.count // task.example_size('train')} "
            f"examples of the training split of {task.name}, got {batch}."
        )


def some_numbers(task: Task, count: int) -> Tensor:
    """Numbers (N, count) that `sample` takes in training, to find shapes only."""
    if task.rows("train") is None:
        return torch.ones(task.example_size("train"), count)
    return torch.zeros(task.example_size("train"), count, dtype=torch.int64)  # row 0 always exists


@dataclass(frozen=True)
class Examples:
    """Examples that a network is evaluated on at once.

    Attributes:
        x: inputs (B, ...) of all seeds, or (S, B, ...) where they differ.
        t: targets (S, B, ...).
        shared: whether all seeds share x (B, ...).
    """

    x: Tensor
    t: Tensor
    shared: bool

    @property
    def count(self) -> int:
        """B, the number of examples."""
        return self.t.shape[1]


class Data:
    """The constants, evaluated examples and probes of a cell, for every seed of a block.

    Attributes:
        seeds: the task's `seed_parameters`, stacked.
        constants: the values of `seeds` and of the training split's `split_parameters`, each sorted by name.
        evaluated: the examples of every evaluated split, in chunks.
        probes: inputs (B, ...) whose predictions are kept, or None.
    """

    def __init__(self, cell: Cell, seeds: list[int], device: torch.device) -> None:
        self.cell = cell
        self.device = device
        self.width = len(seeds)
        self.streams = streams_of(cell)
        drawn = [self.streams.seed_parameters(cell.task, seed) for seed in seeds]
        self.seeds = self._to_device({name: np.stack([one[name] for one in drawn]) for name in drawn[0]})
        train = self._to_device(cell.task.split_parameters("train"))
        self.constants = [part[name] for part in (self.seeds, train) for name in sorted(part)]
        self.evaluated = {split: self.examples(split) for split in cell.task.evaluated}
        probes = cell.task.probes()
        self.probes = None if probes is None else torch.from_numpy(probes.inputs).to(device)

    def examples(self, split: str) -> Iterable[Examples]:
        """The examples of a split. They are made once; if the task asks for chunks, chunk by chunk and each time anew.

        Their random numbers are the same for every seed.
        """
        numbers = self._numbers(split).to(self.device)
        constants = self._to_device(self.cell.task.split_parameters(split))
        size = self.cell.task.chunk(split)
        if size is None:
            return [self._examples(numbers, constants)]
        return _Chunks(self, torch.split(numbers, size, dim=-1), constants)

    def _examples(self, numbers: Tensor, constants: Tensors) -> Examples:
        task, examples = self.cell.task, self.streams.examples
        lanes = torch.arange(self.width, device=self.device)  # counts the seeds even if a task has no `seed_parameters`
        x, t = over_seeds(lambda lane, seed: examples(task, numbers, seed, constants), self.width)(lanes, self.seeds)
        shared = x.stride(0) == 0  # vmap expands a result that is the same for all seeds
        return Examples(x[0] if shared else x, t.contiguous(), shared)

    def _numbers(self, split: str) -> Tensor:
        fixed = self.cell.task.fixed_numbers(split)
        return self.streams.evaluated(self.cell, split) if fixed is None else torch.from_numpy(fixed)

    def _to_device(self, arrays: dict[str, np.ndarray]) -> Tensors:
        return {name: tensor.to(self.device) for name, tensor in tensors(arrays).items()}


def unify(several: Sequence[Data]) -> None:
    """Let equal constants of these cells be the same tensors, so that what is computed from them is found again."""
    known: dict[Any, Tensor] = {}
    for data in several:
        contents = [(value.dtype, value.shape, value.cpu().numpy().tobytes()) for value in data.constants]
        data.constants = [known.setdefault(key, value) for key, value in zip(contents, data.constants, strict=True)]


@dataclass(frozen=True)
class _Chunks:
    """Examples that are made when they are needed and are not kept."""

    data: Data
    numbers: Sequence[Tensor]
    constants: Tensors

    def __iter__(self) -> Iterator[Examples]:
        return (self.data._examples(numbers, self.constants) for numbers in self.numbers)
