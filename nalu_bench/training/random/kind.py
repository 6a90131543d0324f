"""The contract of a kind of streams: where all random numbers of a cell come from."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch import Tensor

from nalu_bench import registry
from nalu_bench.plan.cell import Cell
from nalu_bench.tasks.task import Constants, Task
from nalu_bench.training.compilation import Mode
from nalu_bench.training.random.draws import Draw
from nalu_bench.units.unit import Initialiser


class Streams:
    """A kind of streams. It has no state: every method is a function of its arguments.

    The numbers of a seed must not depend on the seeds beside it. No method may draw from a global generator. A kind
    that changes a part of the benchmark's own streams is a subclass of `Addressable`.
    """

    def check(self, cell: Cell) -> None:
        """Raise UsageError if these streams have no numbers for the cell; this is called before training."""

    def sharing(self, cell: Cell) -> Any:
        """The values of a cell, beside its sizes and intervals, on which the numbers of `training` depend.

        Cells that agree in these can be trained on one draw. The result is made of plain values and lists.
        """
        return []

    def weights(
        self, prototypes: Mapping[str, Tensor], initialisers: Mapping[str, Initialiser], seed: int, count: int
    ) -> dict[str, Tensor]:
        """The initial weights of one seed, by name.

        Args:
            prototypes: by name, tensors of the shapes to draw, on the CPU.
            initialisers: by name, in the order of the network; see `Network.initialisers`.
            seed: the seed.
            count: how often the seed has started anew, see `RestartRule`.
        """
        raise NotImplementedError

    def seed_parameters(self, task: Task, seed: int) -> dict[str, np.ndarray]:
        """The task's `seed_parameters` of one seed."""
        raise NotImplementedError

    def training(self, cell: Cell, seeds: list[int], mode: Mode) -> Draw:
        """The draw of the training batches, on the mode's device: step (from 1) -> numbers (S, N, B)."""
        raise NotImplementedError

    def noise(self, count: int, cell: Cell, seeds: list[int], mode: Mode) -> Draw:
        """The draw of the network's noise: step (from 1) -> (S, count, B), uniform on [0, 1)."""
        raise NotImplementedError

    def evaluated(self, cell: Cell, split: str) -> Tensor:
        """The numbers (N, B) of an evaluated split, on the CPU; all seeds share them."""
        raise NotImplementedError

    def examples(
        self, task: Task, numbers: Tensor, seed_parameters: Constants, split_parameters: Constants
    ) -> tuple[Tensor, Tensor]:
        """`task.sample`, from the numbers of `training` or `evaluated`. It is traced and compiled."""
        return task.sample(numbers, seed_parameters, split_parameters)


def streams_of(cell: Cell) -> Streams:
    """The kind of streams that the recipe of a cell names."""
    kind: Streams = registry.streams.load(cell.recipe.streams)()
    return kind
