"""Checks before training: what would only show after hours is refused here."""

import sys
from collections.abc import Sequence

from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.identity import canonical, plain
from nalu_bench.plan.machine import Machine
from nalu_bench.run import compiler, memory
from nalu_bench.run.jobs import Job, by_cell
from nalu_bench.store import upkeep

GIB = 2**30


def check(machine: Machine, todo: Sequence[Job]) -> None:
    """Raise UsageError if store, data, machine or networks cannot do what is asked; say so if nothing is compiled."""
    for root in {job.root for job in todo}:
        upkeep.prepare(root)
    _check_data(todo)
    check_memory(todo, memory.available())  # before any network is built
    _check_networks(todo)
    if machine.device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise UsageError("device=cuda needs a CUDA GPU, and torch finds none; use device=cpu.")
    if machine.compile and not compiler.works():
        raise UsageError(f"compile=true needs a C++ compiler, and {compiler.command()} does not work; set CXX.")
    if machine.compile is None and not compiler.works():
        print(
            f"no working C++ compiler ({compiler.command()}): training eagerly, several times slower.", file=sys.stderr
        )


def check_memory(todo: Sequence[Job], room: int) -> None:
    """Raise UsageError if the largest cell alone does not fit; no network is built for inputs that cannot fit."""
    for estimate in (memory.numbers, memory.needed):
        job = max(todo, key=lambda job: estimate([job.cell]))
        largest = estimate([job.cell])
        if largest > room:
            sizes = ", ".join([*memory.sizes_of(job.cell.model), "recipe.batch_size", "recipe.evaluation_size"])
            raise UsageError(
                f"a block of {job.name} must fit into the {room / GIB:.1f} GB of memory that are free, and needs "
                f"{largest / GIB:,.1f} GB or more; lower {sizes} or the number of the task's inputs."
            )


def _check_data(todo: Sequence[Job]) -> None:
    """Check the fixed data of every cell; reading them refuses a bad file."""
    from nalu_bench.training.data import check_rows

    for job, *_ in by_cell(todo):
        check_rows(job.cell)


def _check_networks(todo: Sequence[Job]) -> None:
    """Build and check every network once, so that a mistake in one is found before hours are spent on other cells."""
    from nalu_bench.training.check import check_network

    def shape(cell: Cell) -> str:
        return canonical([plain(cell.model), cell.task.program_key(), cell.recipe.loss])

    for cell in {shape(job.cell): job.cell for job in todo}.values():
        check_network(cell, cell.model.build(cell.task))
