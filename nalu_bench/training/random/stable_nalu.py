"""The streams of Madsen & Johansen's code: torch's and NumPy's generators, seeded and used in their order.

Source: github.com/AndreasMadsen/stable-nalu, `experiments/simple_function_static.py`. For the seed s,

* torch's generator with the seed s draws all weights, layer by layer; in a layer the gate comes last. Weights are drawn
  twice, when the network is made and again at its reset; the second draw counts;
* NumPy's `RandomState(s)` draws the offset of the subsets, where there is one, and then the seed of another one, which
  draws the training batches: (B, N) numbers in float64 at every step;
* validation and extrapolation inputs are drawn once, by generators whose seeds do not depend on s.

Targets are computed from these numbers in float64. Then inputs and targets are rounded to float32.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.random import MT19937, Generator, RandomState
from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.identity import plain
from nalu_bench.registry import register
from nalu_bench.tasks.task import Constants, Task
from nalu_bench.training.compilation import Mode
from nalu_bench.training.random.addressable import Addressable
from nalu_bench.training.random.draws import Draw, Place
from nalu_bench.units.unit import Initialiser

SPLIT_SEEDS = {"validation": 43953907, "extrapolation": 8689336}
"""Split -> the seed of its generator; the authors took them from random.org."""

RESETS = 2
"""How often the authors' code draws the weights of a network before training."""

GATES = frozenset({"G"})
"""Names of parameters that a layer of the authors draws after its others."""

NONE = 2**32 - 1
"""Seeds of the authors' training batches lie below this number."""


@register("stable_nalu", version=1)
class StableNALU(Addressable):
    """The numbers of the authors' code for Madsen & Johansen 2020, seed by seed: see the module.

    Deviations: sums of more than a few inputs are rounded in another order. Of 9 million targets of 100 inputs this
    changed the last digit of 2, and of 30 million targets of 4 inputs none. Their code draws no noise for units, and
    starts no seed anew. Here noise is that of `Addressable`, and new weights go on in the generator of the first ones.
    """

    def check(self, cell: Cell) -> None:
        task = cell.task
        splits = ("train", *task.evaluated, *task.tested)
        strange = {*splits} - {"train", *SPLIT_SEEDS}
        fixed = task.repeated or any(task.rows(split) or task.distribution(split) for split in splits)
        if strange or task.inputs != "vector" or fixed:
            raise UsageError(
                "recipe.streams=stable_nalu needs a task of uniform vectors that are drawn afresh, with the splits "
                f"{' and '.join(SPLIT_SEEDS)}, got {task.name}; use recipe.streams=addressable."
            )

    def sharing(self, cell: Cell) -> Any:
        """The whole task: what it draws for a seed decides on the seed of the batches."""
        return plain(cell.task)

    def weights(
        self, prototypes: Mapping[str, Tensor], initialisers: Mapping[str, Initialiser], seed: int, count: int
    ) -> dict[str, Tensor]:
        generator = torch.Generator().manual_seed(seed)
        values = {name: torch.empty_like(prototypes[name], requires_grad=False) for name in initialisers}
        for _ in range(RESETS + count):
            for name in in_order(initialisers):
                initialisers[name](values[name], generator)
        return values

    def seed_parameters(self, task: Task, seed: int) -> dict[str, np.ndarray]:
        return task.seed_parameters(Legacy(seed))

    def training(self, cell: Cell, seeds: list[int], mode: Mode) -> Draw:
        task = cell.task
        shape = (cell.recipe.batch_size, task.example_size("train"))
        return Batches([batch_seed(task, seed) for seed in seeds], task.intervals("train"), shape, mode)

    def evaluated(self, cell: Cell, split: str) -> Tensor:
        task = cell.task
        shape = (task.examples(split, cell.recipe.evaluation_size), task.example_size(split))
        return torch.from_numpy(uniform(RandomState(SPLIT_SEEDS[split]), task.intervals(split), shape)).mT

    def examples(
        self, task: Task, numbers: Tensor, seed_parameters: Constants, split_parameters: Constants
    ) -> tuple[Tensor, Tensor]:
        precise = [
            {name: _doubled(value) for name, value in part.items()} for part in (seed_parameters, split_parameters)
        ]
        x, t = task.sample(_doubled(numbers), *precise)
        return x.to(torch.get_default_dtype()), t.to(torch.get_default_dtype())


class Legacy(Generator):
    """NumPy's `RandomState` as a `Generator`: `integers` are its `randint`, which draws in another way."""

    def __init__(self, seed: int) -> None:
        bits: Any = MT19937()
        bits.state = RandomState(seed).get_state(legacy=False)
        super().__init__(bits)
        self.legacy = RandomState(bits)

    def integers(self, low: Any, high: Any = None, size: Any = None) -> Any:  # type: ignore[override]
        return self.legacy.randint(low, high, size, np.int64)


def batch_seed(task: Task, seed: int) -> int:
    """The seed of the training batches: the first number after the constants of the seed."""
    generator = Legacy(seed)
    task.seed_parameters(generator)
    return int(generator.integers(0, NONE))


def in_order(names: Mapping[str, Any]) -> list[str]:
    """Parameter names in the order in which the authors draw: layers as they are, in each the gate last."""
    layers = list(dict.fromkeys(name.rpartition(".")[0] for name in names))

    def place(name: str) -> tuple[int, bool]:
        layer, _, own = name.rpartition(".")
        return layers.index(layer), own in GATES

    return sorted(names, key=place)


def whole(intervals: Any) -> list[tuple[float, float]]:
    """One interval or two: those that meet are the halves of one, see `Task.intervals`."""
    (low, middle), (above, high) = np.asarray(intervals).tolist()
    return [(low, high)] if middle == above else [(low, middle), (above, high)]


def uniform(generator: RandomState, intervals: Any, shape: tuple[int, int]) -> np.ndarray:
    """Numbers as the authors draw them. From two intervals they draw both, and then which of the two counts."""
    first, *second = [generator.uniform(low, high, shape) for low, high in whole(intervals)]
    return np.where(generator.randint(2, size=shape, dtype=np.int64), first, *second) if second else first


class Batches:
    """The training batches of all seeds, float64: those that `uniform` draws from a generator for each seed.

    Args:
        seeds: of the generators.
        intervals: (2, 2), of the split.
        shape: (B, N).
        mode: its device is where the numbers are wanted.
    """

    def __init__(self, seeds: Sequence[int], intervals: Any, shape: tuple[int, int], mode: Mode) -> None:
        self.seeds = seeds
        self.intervals = whole(intervals)
        self.device = torch.device(mode.device)
        self.numbers = np.empty((len(seeds), *shape))
        self.rewind()

    def rewind(self) -> None:
        """Go to the start."""
        states: list[Any] = [RandomState(seed).get_state(legacy=False)["state"] for seed in self.seeds]
        self.step = 0
        self.keys = np.stack([state["key"] for state in states]).astype(np.uint32)
        self.positions = np.array([state["pos"] for state in states], np.int64)

    def __call__(self, step: int) -> Tensor:
        if step < self.step:
            self.rewind()
        while self.step < step:
            self._draw(self.numbers.reshape(len(self.seeds), -1))
            self.step += 1
        return torch.from_numpy(self.numbers).mT.to(self.device)

    def _draw(self, out: np.ndarray) -> None:
        """Fill `out` (S, B N) with the next batch."""
        from nalu_bench.training.random.mersenne import fill, fill_bits

        fill(self.keys, self.positions, *self.intervals[0], out)
        for interval in self.intervals[1:]:
            second, chosen = np.empty_like(out), np.empty(out.shape, np.uint8)
            fill(self.keys, self.positions, *interval, second)
            fill_bits(self.keys, self.positions, chosen)
            np.copyto(out, second, where=chosen == 0)

    def place(self) -> Place:
        keys = torch.from_numpy(self.keys.astype(np.int64))
        return {"step": self.step, "keys": keys, "positions": torch.from_numpy(self.positions.copy())}

    def go_to(self, place: Place) -> None:
        if place:
            self.step = place["step"]
            self.keys = place["keys"].numpy().astype(np.uint32)
            self.positions = place["positions"].numpy().copy()


def _doubled(value: Tensor) -> Tensor:
    return value.double() if value.is_floating_point() else value
