"""Time and memory of training with every core busy. Each measurement has processes of its own."""

import multiprocessing
import os
import resource
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import plain

from nalu_bench.plan import compose
from nalu_bench.plan.blocks import Block, blocks
from nalu_bench.plan.cell import Cell
from nalu_bench.running import process

CORES = os.cpu_count() or 1


@dataclass(frozen=True)
class Workload:
    """A cell that is timed.

    Attributes:
        name: key of `plain.WORKLOADS`.
        title: its name in the table.
        overrides: the cell, as on the command line.
        steps: steps of the published protocol.
        target: microseconds per seed-step to reach on two cores.
        images: images of a step, where a step is best told in images; else 0.
        timed: steps, and steps between evaluations, instead of the program's: for steps that take long.
        beside: what distinguishes the cells that are trained side by side on one draw, as on the command line; the time
            is that of one of them.
    """

    name: str
    title: str
    overrides: tuple[str, ...]
    steps: int
    target: float
    images: int = 0
    timed: tuple[int, int] | None = None
    beside: tuple[tuple[str, ...], ...] = ((),)

    def cells(self, steps: int, log_every: int, kernels: str = "torch") -> list[Cell]:
        """The cells with other steps than the protocol's."""
        plans = [compose.plan_cells(["budget=paper", *self.overrides, *more], multirun=False) for more in self.beside]
        cells = [plan.cells[0].cell for plan in plans]
        changed = {"steps": steps, "log_every": log_every, "kernels": kernels}
        return [replace(cell, recipe=replace(cell.recipe, **changed)) for cell in cells]

    def cell(self, steps: int, log_every: int) -> Cell:
        """The first of the cells."""
        return self.cells(steps, log_every)[0]


WORKLOADS = (
    Workload("nmu", "NMU, 100 inputs", ("task=arithmetic", "model=nmu", "recipe=madsen2020"), 5_000_000, 6),
    Workload("nalu", "NALU, 100 inputs", ("task=arithmetic", "model=nalu", "recipe=madsen2020"), 5_000_000, 14),
    Workload("ten_parameter", "NMU, 4 inputs", ("task=ten_parameter", "model=nmu", "recipe=madsen2020"), 200_000, 3),
)

TOGETHER = Workload(
    "together", "six cells on one draw, 100 inputs", ("task=arithmetic", "recipe=madsen2020"), 5_000_000, 0, beside=(
        ("model=nmu",), ("model=nalu",), ("model=nac_mul",),
        ("model=linear", "task.operation=add"), ("model=nau", "task.operation=add"),
        ("model=nalu", "task.operation=add"),
    ),
)  # fmt: skip
"""Cells of Madsen & Johansen's Table 2."""

IMAGES = Workload(
    "images", "CNN and NAC₊, series of 10 images", (
        "task=digit_series", "task.dataset=digits", "task.validation=200", "task.test_lengths=[1,10]",
        "model=image_nac", "recipe=trask2018_images", "recipe.batch_size=64",
    ),
    17_200, 640 / 9000 * 1e6, images=640, timed=(60, 20),
)  # fmt: skip
"""The target is 9,000 images a second."""


AGENTS = Workload(
    "agents", "LSTM agent in the grid world, 256 episodes",
    ("task=grid_world", "task.test_episodes=1", "model=agent_lstm", "recipe=trask2018_grid"), 5000, 0, timed=(40, 10),
)  # fmt: skip


@dataclass(frozen=True)
class Program:
    """A way to train: `steps` steps with an evaluation every `log_every`, timed from the first evaluation on."""

    title: str
    compiled: bool | None  # None: the plain loop
    steps: int
    log_every: int
    kernels: str = "torch"


PLAIN = Program("plain torch loop", None, 3000, 1000)
EAGER = Program("engine, eager", False, 400, 200)
COMPILED = Program("engine, compiled", True, 2000, 1000)
OWN = Program("engine, own kernels", True, 2000, 1000, "own")


@dataclass(frozen=True)
class Measurement:
    """Time and memory of one way to train one workload.

    Attributes:
        microseconds: per seed-step, with all processes at work.
        peak: memory of all processes in MB.
        growth: growth of the peak from the first block's first evaluation to the end, in MB. It includes the state of
            a process's second block, where it trains two.
    """

    microseconds: float
    peak: float
    growth: float


def measure(workload: Workload, program: Program, seeds: int, times: int = 1) -> Measurement:
    """The fastest of some measurements: other work of the machine can only slow them."""
    steps, log_every = workload.timed or (program.steps, program.log_every)
    program = replace(program, steps=steps, log_every=log_every)
    return min((_measure(workload, program, seeds) for _ in range(times)), key=lambda found: found.microseconds)


def _measure(workload: Workload, program: Program, seeds: int) -> Measurement:
    """Train `seeds` seeds. The clock runs from one evaluation to a later one: compilation and start do not count."""
    width = 1 if program.compiled is None else workload.cell(program.steps, program.log_every).model.width
    shares = _shares(width, seeds)
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(len(shares)), context.Queue()
    workers = [
        context.Process(target=_work, args=(workload, program, share, barrier, results), daemon=True)
        for share in shares
    ]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=600) for _ in workers]
    for worker in workers:
        worker.join()
    seconds = max(end for _, end, _, _ in found) - min(begin for begin, _, _, _ in found)
    timed = (program.steps - program.log_every) * seeds * len(workload.beside)
    return Measurement(seconds / timed * 1e6, sum(peak for *_, peak, _ in found), sum(growth for *_, growth in found))


def _shares(width: int, seeds: int) -> list[list[Block]]:
    """The blocks of every process; the plain loop trains one seed at a time."""
    found = blocks(range(seeds), width)
    return [found[start::CORES] for start in range(min(CORES, len(found)))]


def _work(workload: Workload, program: Program, share: list[Block], barrier: Any, results: Any) -> None:
    process.tune()
    import torch

    torch.set_num_threads(1)
    clock = _Clock(program, barrier)
    run = _plain if program.compiled is None else _engine
    for block in share:
        run(workload, program, block, clock)
    results.put((clock.begin, clock.begin + clock.seconds, _peak(), _peak() - clock.peak))


class _Clock:
    """The clock of a process, from each block's first evaluation in training to its last. All clocks start together."""

    def __init__(self, program: Program, barrier: Any) -> None:
        self.program, self.barrier = program, barrier
        self.begin = self.seconds = self.peak = self._since = 0.0

    def __call__(self, step: int, solved: int = 0) -> None:
        if step == self.program.log_every:
            if not self.begin:
                self.barrier.wait(timeout=300)
                self.begin, self.peak = time.time(), _peak()
            self._since = time.time()
        elif step == self.program.steps:
            self.seconds += time.time() - self._since


def _plain(workload: Workload, program: Program, block: Block, clock: Callable[..., None]) -> None:
    plain.WORKLOADS[workload.name](program.steps, program.log_every, clock)


def _engine(workload: Workload, program: Program, block: Block, clock: Callable[..., None]) -> None:
    from nalu_bench.training.compilation import Mode
    from nalu_bench.training.loop import Request, train_together

    cells = workload.cells(program.steps, program.log_every, program.kernels)
    with tempfile.TemporaryDirectory() as folder:
        requests = [
            Request(cell, block, Path(folder) / f"{number}.pt", _silent if number else clock)
            for number, cell in enumerate(cells)
        ]
        for _, outcome in train_together(requests, Mode("cpu", bool(program.compiled))):
            if isinstance(outcome, BaseException):
                raise outcome


def _silent(step: int, solved: int) -> None:
    """All cells advance together: the clock of one tells their time."""


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
