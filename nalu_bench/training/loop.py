"""The training loop of blocks side by side: the same seeds of one or more cells of one task.

The blocks advance together, step by step, on one draw of the data. They share nothing else: a run's numbers do not
depend on the cells beside it.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalu_bench.errors import FAILURES, Interrupted
from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.result import Arrays, BlockResult
from nalu_bench.training import checkpoint, data
from nalu_bench.training.check import check_figures
from nalu_bench.training.compilation import Mode
from nalu_bench.training.data import Data, Tensors, sharing_key, training_numbers
from nalu_bench.training.kernels.kind import Shared
from nalu_bench.training.optimizers import corrections
from nalu_bench.training.program import Program, program_of
from nalu_bench.training.ramps import acting_first, factors
from nalu_bench.training.random.draws import Draw, Place
from nalu_bench.training.state import Log, Selected, State

CHECKPOINT_SECONDS = 60.0

FORMAT = 3
"""Checkpoint format; other formats are ignored."""

Report = Callable[[int, int], None]
"""Called after every evaluation with the step and the number of seeds solved so far."""

Stop = Callable[[], bool]
"""Asked after every step whether to stop."""


def never() -> bool:
    """Train to the end."""
    return False


@dataclass(frozen=True)
class Request:
    """One block to be trained.

    Attributes:
        cell: the cell.
        block: the seeds.
        checkpoint: the file of the block's state while it trains.
        report: called at every evaluation.
        threshold: value of the judging measure that a solved seed passes, see `Task.solves`; for `report` alone.
        processor: what trains it, for the record alone.
    """

    cell: Cell
    block: Block
    checkpoint: Path
    report: Report
    threshold: float | None = None
    processor: str = ""


def train_together(
    requests: Sequence[Request], mode: Mode, stop: Stop = never
) -> Iterator[tuple[int, BlockResult | BaseException]]:
    """Train blocks of the same seeds and the same `data.sharing_key`; yields (index, outcome) as each block ends.

    Every block starts from its checkpoint, if it has one; blocks that are behind catch up first. A failure ends only
    the block in which it happens.

    Raises:
        Interrupted once `stop` is true; every block that trains has then written its checkpoint.
    """
    first = requests[0]
    assert len({(sharing_key(one.cell), one.block.span) for one in requests}) == 1
    draw = training_numbers(first.cell, first.block.seeds, mode)
    loops: list[_Loop] = []
    for number, request in enumerate(requests):
        if stop():
            raise Interrupted
        try:
            loop = _Loop(request, mode, number)
        except FAILURES as error:  # the caller stores and reports it
            yield number, error
            continue
        loops.append(loop)
    group = _Group(loops, draw, stop)
    while loops:
        for loop in [loop for loop in loops if loop.done]:
            loops.remove(loop)
            yield loop.number, loop.outcome()
        for loop, failure in group.advance():
            yield loop.number, failure


def train_block(cell: Cell, block: Block, mode: Mode, checkpoint: Path, report: Report) -> BlockResult:
    """Train one block on its own, see `train_together`."""
    ((_, outcome),) = train_together([Request(cell, block, checkpoint, report)], mode)
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


class _Group:
    """Blocks on one draw, and the clock of their checkpoints.

    Args:
        loops: the blocks that are not done; a block that fails or ends is removed.
        draw: their random numbers.
        stop: see `train_together`.
    """

    def __init__(self, loops: list["_Loop"], draw: Draw, stop: Stop = never) -> None:
        self.loops = loops
        self.draw = draw
        self.stop = stop
        self.saved = time.monotonic()
        data.unify([loop.data for loop in loops])
        if loops:
            draw.go_to(min(loops, key=lambda loop: loop.step).place)

    def advance(self) -> Iterator[tuple["_Loop", BaseException]]:
        """Train the blocks that are furthest behind to their next evaluation, or to the step of the others.

        Yields every block that fails, with its error. Raises Interrupted if it is to stop.
        """
        if not self.loops:
            return
        step = min(loop.step for loop in self.loops)
        running = [loop for loop in self.loops if loop.step == step]
        ahead = [loop.step for loop in self.loops if loop.step > step]
        until = min([loop.next_evaluation for loop in running] + ahead)
        yield from self._each(running, _Loop.prepare, until)
        started = time.process_time()
        while step < until:
            step += 1
            yield from self._each(running, _Loop.update, self.draw(step), {})
            stopping = self.stop()
            if stopping or time.monotonic() - self.saved > CHECKPOINT_SECONDS:
                started = self._settle(running, started)
                self.save()
            if stopping:
                raise Interrupted
        due = [loop for loop in running if loop.step == loop.next_evaluation]
        yield from self._each(due, _Loop.evaluate)
        self._settle(running, started)

    def save(self) -> None:
        """Write the checkpoints of all blocks; this may follow any step, with an evaluation or without."""
        for loop in self.loops:
            loop.save(self.draw.place())
        self.saved = time.monotonic()

    def _each(
        self, running: list["_Loop"], work: Callable[..., None], *values: Any
    ) -> Iterator[tuple["_Loop", BaseException]]:
        for loop in tuple(running):
            try:
                work(loop, *values)
            except FAILURES as error:  # the caller stores and reports it
                running.remove(loop)
                self.loops.remove(loop)
                yield loop, error

    @staticmethod
    def _settle(running: Sequence["_Loop"], started: float) -> float:
        """Divide this process's time since `started` among the blocks; returns the time now."""
        now = time.process_time()  # not the clock on the wall: other programs may share the core
        for loop in running:
            loop.seconds += (now - started) / len(running)
        return now


class _Loop:
    """One block while it trains."""

    def __init__(self, request: Request, mode: Mode, number: int = 0) -> None:
        self.request = request
        self.number = number
        self.cell = request.cell
        self.device = torch.device(mode.device)
        seeds, width = request.block.seeds, request.block.width
        self.data = Data(self.cell, seeds, self.device)
        self.program: Program = program_of(self.cell, mode, width)
        count, streams = self.program.noise, self.program.streams
        self.noise = streams.noise(count, self.cell, seeds, mode) if count else None
        self.step = 0
        self.seconds = 0.0
        self.log = Log(1 + self.cell.recipe.steps // self.cell.recipe.log_every)
        self.first = 0
        self.schedule: list[tuple[Tensor, ...]] = []
        self.solved = torch.zeros(width, dtype=torch.bool)
        self.state = self.program.initial_state(seeds, self.device)
        self.selected = Selected(
            error=torch.full((width,), torch.inf, dtype=torch.float64, device=self.device),
            step=torch.full((width,), -1, dtype=torch.int64, device=self.device),
            parameters=self.state.parameters,
        )
        self.restarts = self.program.rule.first(width, self.device)
        self.watched: list[Tensor] = []
        self.watching = bool(self.cell.recipe.reinitialize_after) and self.program.rule.watches
        self.place: Place = {}
        self.processors: list[str] = []
        self.identity = mode.describe() | {"lanes": request.block.span, "format": FORMAT} | self.cell.identity()
        snapshot = checkpoint.load(request.checkpoint, self.identity)
        if snapshot:
            self.restore(snapshot)
            self.report()
        else:
            self.evaluate()
        if request.processor not in ("", *self.processors):
            self.processors.append(request.processor)

    @property
    def state(self) -> State:
        """The state, whose `tensors` go from step to step."""
        return State.of(self.program.names, self.tensors)

    @state.setter
    def state(self, state: State) -> None:
        self.tensors: Sequence[Tensor] = state.tensors()

    @property
    def next_evaluation(self) -> int:
        """The step of the next evaluation; it is the present step if a checkpoint was written just before it."""
        return self.log.steps[-1] + self.cell.recipe.log_every

    @property
    def done(self) -> bool:
        """Whether the last evaluation has been made."""
        return self.log.steps[-1] >= self.cell.recipe.steps

    def prepare(self, until: int) -> None:
        """Compute the values that change with the step, for every step up to `until`: see `Program.step`."""
        steps = torch.arange(self.step + 1, until + 1, device=self.device)
        recipe, penalties = self.cell.recipe, self.cell.model.penalties
        ramps = (factors(penalties[name], steps, recipe.ramp_scale) for name in self.program.penalties)
        first = [acting_first(recipe, steps)] if self.program.two_losses else []
        columns = [*corrections(recipe, steps), *first, *ramps]
        self.first = self.step
        self.schedule = list(zip(steps.unbind(), *(values.float().unbind() for values in columns), strict=True))

    def update(self, numbers: Tensor, shared: Shared) -> None:
        """One step of the optimiser on the batch made of `numbers`; `shared` holds what was computed from it.

        Numbers below 1.2e-38 are taken as 0. Gradients and their averages get there when units saturate, and
        processors are slow with them. What they would add to a weight is lost in its rounding.
        """
        noise = None if self.noise is None else self.noise(self.step + 1)[..., : numbers.shape[-1]]
        schedule = self.schedule[self.step - self.first]
        torch.set_flush_denormal(True)
        try:
            self.tensors = self.program.step(self.tensors, numbers, noise, self.data.constants, schedule, shared)
        finally:
            torch.set_flush_denormal(False)
        self.step += 1
        if self.watching:
            self.watched.append(self.tensors[-1])  # the losses of the step

    def evaluate(self) -> None:
        """Log the measures of every evaluated split, keep the best parameters, restart the seeds that are due."""
        recipe, values = self.cell.recipe, self._figures()
        self.log.append(self.step, values)
        error = values[self.cell.task.selects].double()
        error = -error if self.cell.task.larger_is_better else error
        if self.step > 0 or recipe.steps == 0:  # the papers' rule: every evaluation but the untrained one
            self.selected = self.selected.updated(error, self.step, self.state.parameters, recipe.selection)
        if recipe.reinitialize_after and self.step > 0:
            self._restart(values, error)
        self.report()

    def _figures(self) -> Tensors:
        values: Tensors = {}
        for split, chunks in self.data.evaluated.items():
            measure = self.program.test if split in self.cell.task.tested else self.program.evaluate
            figures = measure(self.state.parameters, chunks)
            check_figures(self.cell.task, split, figures)
            for name, figure in figures.items():
                values[f"{split}_{name}"] = torch.where(self.state.alive, figure, torch.nan)
        own = {"sparsity_error": self.program.of_every_seed(self.program.sparsity, self.state.parameters)}
        own |= self.program.of_every_seed(self.program.following, self.state.parameters)
        for name, scalar in own.items():
            values[name] = torch.where(self.state.alive, scalar, torch.nan)
        values["train_loss"] = self.state.loss
        if self.cell.recipe.reinitialize_after:
            values["reinitialized"] = self.restarts["count"]
        return values

    def _restart(self, values: Tensors, error: Tensor) -> None:
        """Give new weights to the seeds that the recipe's rule finds stuck."""
        rule = self.program.rule
        if self.watching:
            values, self.watched = values | {"losses": torch.stack(self.watched, dim=1)}, []
        self.restarts, due = rule.judged(self.restarts, values, error, self.state.alive, self.cell.recipe)
        if due.any():
            self.state = self.program.restarted(self.state, due, self.restarts["count"], self.request.block.seeds)

    def report(self) -> None:
        """Report the step, and how many seeds have passed the threshold in this process."""
        judged = self.log.columns.get(self.cell.task.judges)  # None if that split is evaluated only at the end
        if self.request.threshold is not None and judged is not None:
            self.solved |= self.cell.task.solves(judged[-1], self.request.threshold)
        self.request.report(self.step, int(self.solved.sum()))

    def outcome(self) -> BlockResult | BaseException:
        """The result, or the error that prevented it."""
        try:
            return self.result()
        except FAILURES as error:  # the caller stores and reports it
            return error

    def result(self) -> BlockResult:
        """The runs of the block."""
        parameters, task = self.selected.parameters, self.cell.task
        tested: Tensors = {}
        for split in (split for split in task.tested if split not in task.evaluated):
            figures = self.program.test(parameters, self.data.examples(split))
            check_figures(task, split, figures)
            tested |= {f"{split}_{name}": figure for name, figure in figures.items()}
        each, probes = self.program.of_every_seed, self.data.probes
        arrays = {} if probes is None else each(self.program.recording, parameters, probes)

        def kept(values: Tensors) -> Arrays:
            return {name: value.cpu().numpy() for name, value in values.items()}

        return BlockResult(
            block=self.request.block,
            steps=np.array(self.log.steps, np.int64),
            columns=kept(self.log.columns),
            selected_step=self.selected.step.cpu().numpy(),
            diverged_at=self.state.diverged_at.cpu().numpy(),
            parameters={name.removeprefix("network."): value for name, value in kept(parameters).items()},
            weights=kept(each(self.program.matrices, parameters)),
            gates=kept(self.program.gates(parameters, self.data.evaluated[task.evaluated[0]])),
            tested=kept(tested),
            arrays=kept(arrays),
            seconds=self.seconds,
            processors=tuple(self.processors),
        )

    def save(self, place: Place) -> None:
        """Write the checkpoint, with the place of the draw: at this block's step, or before it."""
        checkpoint.save(self.request.checkpoint, self.snapshot() | {"place": place, "identity": self.identity})

    def snapshot(self) -> checkpoint.Snapshot:
        """Everything that `restore` needs, as tensors and plain values."""
        return {
            "step": self.step,
            "seconds": self.seconds,
            "processors": self.processors,
            "steps": self.log.steps,
            "log": {name: column.clone() for name, column in self.log.columns.items()},
            "state": _entries(self.state),
            "selected": _entries(self.selected),
            "restarts": self.restarts,
            **({"watched": torch.stack(self.watched)} if self.watched else {}),
        }

    def restore(self, snapshot: checkpoint.Snapshot) -> None:
        """Take over the state of a snapshot."""
        self.step = snapshot["step"]
        self.seconds = snapshot["seconds"]
        self.log.restore(snapshot["steps"], snapshot["log"])
        self.state = State(**_to(snapshot["state"], self.device))
        self.selected = Selected(**_to(snapshot["selected"], self.device))
        self.restarts = _to(snapshot["restarts"], self.device)
        self.watched = [*_to(snapshot["watched"], self.device)] if "watched" in snapshot else []
        self.place = snapshot.get("place", {})  # checkpoints of the same format had none before
        self.processors = [*snapshot.get("processors", [])]  # nor these


def _entries(part: State | Selected) -> dict[str, Any]:
    """The fields of a dataclass by name."""
    return {entry.name: getattr(part, entry.name) for entry in fields(part)}


def _to(value: Any, device: torch.device) -> Any:
    """Move the tensors in nested dictionaries to the device."""
    if isinstance(value, Tensor):
        return value.to(device)
    return {key: _to(entry, device) for key, entry in value.items()}
