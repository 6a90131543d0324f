"""Jobs: the blocks that are missing, and the groups in which they are trained."""

import math
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from nalu_bench.plan.blocks import Block, blocks
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.machine import Machine
from nalu_bench.running import memory
from nalu_bench.store import provenance, schema
from nalu_bench.store.reader import Store

MOST_TOGETHER = 3
"""The most jobs of a group: the draw is a third of a cheap cell's work, and larger groups share cores less evenly."""


@dataclass(frozen=True)
class Job:
    """One block of one cell to be trained.

    Attributes:
        name: the cell's label in its plan.
        words: the command's arguments, without those that choose seeds.
    """

    name: str
    cell: Cell
    block: Block
    machine: Machine
    root: Path
    commit: str
    criterion: str = "task"
    words: tuple[str, ...] = ("run",)

    @property
    def again(self) -> str:
        """The command that trains this block alone."""
        seeds = self.block.seeds
        alone = [f"first_seed={seeds[0]}", f"seeds={len(seeds)}", f"--only={self.cell.digest[:8]}"]
        return shlex.join(["nalu-bench", *self.words, *alone])

    @property
    def sized(self) -> Cell:
        """The cell with the lanes of this block, for estimates of memory."""
        return replace(self.cell, model=replace(self.cell.model, width=self.block.width))

    @property
    def label(self) -> str:
        """The cell and the seeds, for progress lines and messages."""
        return f"{self.name} seeds {self.block.span}"

    @property
    def part(self) -> Path:
        """The folder of its results."""
        return schema.parts_dir(self.root / self.cell.folder) / self.block.span

    @property
    def lease(self) -> Path:
        """The file of the process that trains it."""
        return schema.lease_path(self.root / self.cell.folder, self.block.span)


Group = Sequence[Job]
"""Jobs that are trained side by side on one draw of the data."""


def pending(wanted: Sequence[Wanted], store: Store, machine: Machine, words: Sequence[str] = ("run",)) -> list[Job]:
    """The jobs that are missing: the first block of every cell in the order of the cells, then the second, ..."""
    missing = []
    for want in wanted:
        if want.cell.skip() is None:
            seeds = set(want.seeds) - store.finished_seeds(want.cell)
            missing += [
                Job(
                    want.label(),
                    want.cell,
                    block,
                    machine,
                    store.root,
                    provenance.commit(),
                    want.criterion,
                    tuple(words),
                )
                for block in blocks(seeds, machine.width or want.cell.model.width)
            ]
    return sorted(missing, key=lambda job: job.block.number)


def groups(todo: Sequence[Job], workers: int, most: int = MOST_TOGETHER) -> list[Group]:
    """Group jobs of the same seeds that can share their data: at most `most` a group, and a group for every worker.

    Models that gain by compiling are apart from those that do not, so that no cell's bits depend on others beside it.
    The jobs of a model come together, because they share its graphs.
    """
    from nalu_bench.training.data import sharing_key

    alike: dict[tuple[str, str, bool], dict[str, list[Job]]] = {}
    for job in todo:
        models = alike.setdefault((job.block.span, sharing_key(job.cell), job.cell.model.compiles), {})
        models.setdefault(job.cell.model.name, []).append(job)
    size = min(most, math.ceil(len(todo) / workers))
    return [group for models in alike.values() for group in _in_turn(models, size)]


def _in_turn(models: Mapping[str, Sequence[Job]], size: int) -> Iterator[Group]:
    """Groups of this size, the first of each model before the second of any, and the largest models first.

    Workers that begin with a model at the same time both compile its graphs, and large graphs take longest.
    """
    largest = sorted(models.values(), key=lambda same: memory.need(same[0].sized).step, reverse=True)
    jobs = list(chain.from_iterable(largest))
    earlier: Counter[str] = Counter()
    turns: dict[int, list[Group]] = {}
    for start in range(0, len(jobs), size):
        group = jobs[start : start + size]
        name = group[0].cell.model.name
        turns.setdefault(earlier[name], []).append(group)
        earlier[name] += 1
    return chain.from_iterable(turns.values())


def by_cell(todo: Sequence[Job]) -> list[list[Job]]:
    """The jobs of each cell; one Hydra job trains one cell."""
    cells: dict[str, list[Job]] = {}
    for job in todo:
        cells.setdefault(job.cell.digest, []).append(job)
    return list(cells.values())
