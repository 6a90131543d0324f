"""Checks before training: what would only show after hours is refused here."""

import sys
from collections.abc import Callable, Sequence

from nalu_bench.errors import FAILURES, CallError, UsageError
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.identity import canonical, plain
from nalu_bench.plan.machine import Machine
from nalu_bench.running import compiler, memory, process
from nalu_bench.running.jobs import Job, by_cell
from nalu_bench.store import upkeep

GIB = 2**30


def check(machine: Machine, todo: Sequence[Job]) -> dict[str, BaseException]:
    """Raise UsageError if store, data, machine or networks cannot do what is asked; say so if nothing is compiled.

    Returns:
        Digest -> error of the cells whose network raises, as a unit with a mistake does: they cost no other cell.
    """
    for root in {job.root for job in todo}:
        upkeep.prepare(root)
    _check_torch()
    from nalu_bench.training.data import check_data

    for job, *_ in by_cell(todo):
        upkeep.check_cell(job.root / job.cell.folder)
        check_data(job.cell)  # reading the data refuses a bad file
    room = memory.available()
    _check_size(todo, memory.numbers, room)  # before any network is built
    broken = _raising(todo, memory.need)
    sound = [job for job in todo if job.cell.digest not in broken]
    if sound:
        check_memory(sound, room)
        broken |= _raising(sound, _check_network)
    _check_device(machine)
    return broken


def _check_torch() -> None:
    """Raise UsageError where torch refuses to be imported, as with another word in TORCH_LOGS or TQDM_MININTERVAL."""
    try:
        import torch  # noqa: F401
    except Exception as error:  # its libraries raise whatever they like
        first = next(filter(None, map(str.strip, str(error).splitlines())), type(error).__name__)
        raise UsageError(
            f"torch cannot be imported here: {first:.300}; if memory is limited (ulimit -v), raise the limit; else see "
            "the variables of its libraries (TORCH_..., TQDM_...), or install it again."
        ) from None


def _check_device(machine: Machine) -> None:
    if machine.device == "cuda":
        import torch

        if not torch.cuda.is_available():
            raise UsageError("device=cuda needs a CUDA GPU, and torch finds none; use device=cpu.")
    if machine.compile is False:
        return
    process.warn_of_cache()
    why = compiler.refusal(machine.device, again=bool(machine.compile))
    if why and machine.compile:
        raise UsageError(f"compile=true needs what torch cannot do here, compile ({why}); {compiler.SEE}.")
    if why:
        print(f"{compiler.eager(why)} compile=true tries it again.", file=sys.stderr)


def check_memory(todo: Sequence[Job], room: int) -> None:
    """Raise UsageError if the largest cell alone does not fit; no network is built for inputs that cannot fit."""
    for estimate in (memory.numbers, memory.needed):
        _check_size(todo, estimate, room)


def _check_size(todo: Sequence[Job], estimate: Callable[[Sequence[Cell]], int], room: int) -> None:
    job = max(todo, key=lambda job: estimate([job.sized]))
    largest = estimate([job.sized])
    if largest > room:
        sizes = ", ".join(
            [*memory.sizes_of(job.cell.model), "recipe.batch_size", "recipe.evaluation_size", "device.width"]
        )
        raise UsageError(
            f"a block of {job.name} must fit into the {room / GIB:.1f} GB of memory that are free, and needs "
            f"{largest / GIB:,.1f} GB or more; lower {sizes}, or the task's inputs, lengths or size."
        )


def _raising(todo: Sequence[Job], attempt: Callable[[Cell], object]) -> dict[str, BaseException]:
    """Digest -> error of the cells for which `attempt` raises one that is not the command's mistake.

    Cells whose networks have the same code and shapes, and the same loss and updates, are tried once.
    """
    tried: dict[str, BaseException | None] = {}
    raising = {}
    for job, *_ in by_cell(todo):
        recipe = job.cell.recipe
        shape = canonical([plain(job.cell.model), job.cell.task.program_key(), recipe.loss, recipe.updates])
        if shape not in tried:
            tried[shape] = _error(attempt, job.cell)
        if error := tried[shape]:
            raising[job.cell.digest] = error
    return raising


def _error(attempt: Callable[[Cell], object], cell: Cell) -> BaseException | None:
    try:
        before = process.settings()
        attempt(cell)
        if changed := [name for name, value in process.settings().items() if value != before[name]]:
            process.prepare()
            raise CallError(
                f"the networks of {cell.model.name} must leave the settings of torch as they are, because other cells "
                f"train in the same process, and change {', '.join(changed)}."
            )
    except UsageError as error:
        if not isinstance(error, CallError):
            raise
        return error
    except FAILURES as error:  # whatever a unit of another package raises
        return error
    return None


def _check_network(cell: Cell) -> None:
    from nalu_bench.training.check import check_network

    check_network(cell, cell.model.build(cell.task))
