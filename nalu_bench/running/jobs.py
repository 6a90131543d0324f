"""Jobs: the blocks that are missing, and the groups in which they are trained."""

import math
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nalu_bench.plan.blocks import Block, blocks
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.machine import Machine
from nalu_bench.running import memory
from nalu_bench.store import provenance, schema
from nalu_bench.store.reader import Store

MOST_TOGETHER = 6
"""The most jobs of a group, such as all operations of a table: the draw is a third of a cheap cell's work."""


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
    def work(self) -> int:
        """Bytes of the activations of all steps together, which the time of training grows with."""
        return memory.need(self.sized).step * self.cell.recipe.steps

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
                    want.told(),
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
    The jobs of a model come together, because they share its graphs. Of the same block, the first group of each model
    comes before the second of any: workers that begin with a model at the same time both compile its graphs. Of these,
    untrained networks come first, which others are compared with, and then the most work.
    """
    from nalu_bench.training.data import sharing_key

    alike: dict[tuple[str, str, bool], list[Job]] = {}
    for job in todo:
        alike.setdefault((job.block.span, sharing_key(job.cell), job.cell.model.compiles), []).append(job)
    size = min(most, math.ceil(len(todo) / workers))
    found = [placed for jobs in alike.values() for placed in _placed(jobs, size)]
    return [group for _, group in sorted(found, key=lambda placed: placed[0])]


def _placed(jobs: Sequence[Job], size: int) -> Iterator[tuple[tuple[int, int, bool, int], Group]]:
    """Groups of this size, each with its place: block, number of groups of its model before it, trained, work."""
    models: dict[tuple[str, bool], list[Job]] = {}
    for job in jobs:
        models.setdefault((job.cell.model.name, job.cell.recipe.steps > 0), []).append(job)
    largest_first = sorted(models.values(), key=lambda same: same[0].work, reverse=True)
    in_turn = [job for same in largest_first for job in same]
    earlier: Counter[tuple[str, bool]] = Counter()
    for start in range(0, len(in_turn), size):
        group = in_turn[start : start + size]
        first = group[0]
        trained = first.cell.recipe.steps > 0
        model = first.cell.model.name, trained
        yield (first.block.number, earlier[model], trained, -first.work), group
        earlier[model] += 1


def by_cell(todo: Sequence[Job]) -> list[list[Job]]:
    """The jobs of each cell; one Hydra job trains one cell."""
    cells: dict[str, list[Job]] = {}
    for job in todo:
        cells.setdefault(job.cell.digest, []).append(job)
    return list(cells.values())
