"""The loop of blocks that train side by side: the same seeds of one or more cells of one task.

They advance together, step by step, on one draw of the data; nothing else is shared, and a run's numbers do not
depend on which cells it was trained beside.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalu_bench.plan.blocks import WIDTH, Block, ranges_text
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.result import BlockResult
from nalu_bench.training import checkpoint
from nalu_bench.training.compilation import Mode
from nalu_bench.training.data import Data, Tensors, sharing_key, training_numbers
from nalu_bench.training.optimizers import corrections
from nalu_bench.training.program import Program, State, program_of
from nalu_bench.training.random.draws import Draw
from nalu_bench.training.restart import Draws

CHECKPOINT_SECONDS = 60.0

FORMAT = 2
"""Of a checkpoint; one of another is not used."""

Report = Callable[[int, int], None]
"""Called after every evaluation with the step and the number of seeds below the threshold so far."""


@dataclass(frozen=True)
class Request:
    """One block to be trained.

    Attributes:
        cell: what to train.
        block: which seeds.
        checkpoint: where the block's state is kept while it trains.
        report: called at every evaluation.
        threshold: extrapolation error below which a seed counts as solved in `report`; changes nothing else.
    """

    cell: Cell
    block: Block
    checkpoint: Path
    report: Report
    threshold: float | None = None


class Log:
    """What the evaluations of a block gave: one row an evaluation, each (S,) float32.

    The rows lie in one tensor for each name, made for all evaluations to come: small tensors that are kept between
    large ones that are not would leave the process growing by megabytes an evaluation.
    """

    def __init__(self, evaluations: int) -> None:
        self.evaluations = evaluations
        self.steps: list[int] = []
        self._rows: Tensors = {}

    def append(self, step: int, values: Tensors) -> None:
        for name, value in values.items():
            if name not in self._rows:
                self._rows[name] = torch.empty(self.evaluations, len(value))
            self._rows[name][len(self.steps)] = value
        self.steps.append(step)

    @property
    def columns(self) -> Tensors:
        """By name, (E, S) of the E evaluations so far."""
        return {name: rows[: len(self.steps)] for name, rows in self._rows.items()}

    def restore(self, steps: list[int], columns: Tensors) -> None:
        """Take over the evaluations of a checkpoint."""
        self.steps = list(steps)
        for name, values in columns.items():
            self._rows[name] = torch.empty(self.evaluations, values.shape[1])
            self._rows[name][: len(values)] = values


@dataclass(frozen=True)
class Selected:
    """The best evaluation so far of every seed.

    Attributes:
        error: (S,) the smallest finite validation error.
        step: (S,) where it was first reached, or -1.
        parameters: the parameters there.
    """

    error: Tensor
    step: Tensor
    parameters: Tensors


def train_together(requests: Sequence[Request], mode: Mode) -> Iterator[tuple[int, BlockResult | Exception]]:
    """Train blocks of the same seeds and of cells with one `data.sharing_key`; yields (index, outcome) as each ends.

    Every block starts from its checkpoint, if it has one; those that are behind catch up first. What goes wrong with
    one block ends that block alone.
    """
    first = requests[0]
    assert len({(sharing_key(one.cell), one.block.number) for one in requests}) == 1
    draw = training_numbers(first.cell, first.block.seeds, mode)
    loops: list[_Loop] = []
    for number, request in enumerate(requests):
        try:
            loop = _Loop(request, mode, number)
        except Exception as error:  # the caller stores and reports it
            yield number, error
            continue
        if loop.done:
            yield number, loop.outcome()
        else:
            loops.append(loop)
    saved = time.monotonic()
    while loops:
        furthest_behind = min(loop.step for loop in loops)
        for loop, failure in _advance([loop for loop in loops if loop.step == furthest_behind], draw):
            loops.remove(loop)
            yield loop.number, failure
        if time.monotonic() - saved > CHECKPOINT_SECONDS:
            for loop in loops:
                loop.save()
            saved = time.monotonic()
        for loop in [loop for loop in loops if loop.done]:
            loops.remove(loop)
            yield loop.number, loop.outcome()


def train_block(cell: Cell, block: Block, mode: Mode, checkpoint: Path, report: Report) -> BlockResult:
    """Train one block on its own, see `train_together`."""
    ((_, outcome),) = train_together([Request(cell, block, checkpoint, report)], mode)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _advance(loops: Sequence["_Loop"], draw: Draw) -> Iterator[tuple["_Loop", Exception]]:
    """Train blocks that stand at one step to their next evaluation; yields those that fail."""
    started, step, running = time.monotonic(), loops[0].step, list(loops)

    def each(work: Callable[..., None], *values: Any) -> Iterator[tuple[_Loop, Exception]]:
        for loop in tuple(running):
            try:
                work(loop, *values)
            except Exception as error:  # the caller stores and reports it
                running.remove(loop)
                yield loop, error

    yield from each(_Loop.prepare)
    for index in range(loops[0].cell.recipe.log_every):
        yield from each(_Loop.update, draw(step + index + 1), index)
    yield from each(_Loop.evaluate)
    for loop in running:
        loop.seconds += (time.monotonic() - started) / len(running)


class _Loop:
    """One block while it trains."""

    def __init__(self, request: Request, mode: Mode, number: int = 0) -> None:
        self.request = request
        self.number = number
        self.cell = request.cell
        self.device = torch.device(mode.device)
        self.data = Data(self.cell, request.block.seeds, self.device)
        self.program: Program = program_of(self.cell, mode)
        self.step = 0
        self.seconds = 0.0
        self.log = Log(1 + self.cell.recipe.steps // self.cell.recipe.log_every)
        self.schedule: list[tuple[Tensor, ...]] = []
        self.below = torch.zeros(WIDTH, dtype=torch.bool)
        self.state = self.program.initial_state(request.block.seeds, self.device)
        self.selected = Selected(
            error=torch.full((WIDTH,), torch.inf, dtype=torch.float64, device=self.device),
            step=torch.full((WIDTH,), -1, dtype=torch.int64, device=self.device),
            parameters=self.state.parameters,
        )
        self.draws = Draws.first(WIDTH, self.device)
        lanes = {"lanes": ranges_text(request.block.seeds), "format": FORMAT}
        self.identity = mode.describe() | lanes | self.cell.identity()
        snapshot = checkpoint.load(request.checkpoint, self.identity)
        if snapshot:
            self.restore(snapshot)
            self.report()
        else:
            self.evaluate()

    @property
    def done(self) -> bool:
        """Whether the last step has been made."""
        return self.step >= self.cell.recipe.steps

    def prepare(self) -> None:
        """Compute what changes with the step, for every step to the next evaluation: see `Program.step`."""
        recipe = self.cell.recipe
        steps = torch.arange(self.step + 1, self.step + recipe.log_every + 1, device=self.device)
        ramps = self._ramps(steps)
        columns = [*corrections(recipe, steps), *(ramps[name] for name in self.program.penalties)]
        self.schedule = list(zip(steps.unbind(), *(values.float().unbind() for values in columns), strict=True))

    def update(self, numbers: Tensor, index: int) -> None:
        """One step of the optimiser on the batch made of `numbers`; `index` counts from the last evaluation."""
        self.state = self.program.step(self.state, numbers, self.data.constants, self.schedule[index])
        self.step += 1

    def _ramps(self, steps: Tensor) -> Tensors:
        """λ(t) of every penalty at the given steps, float64; the first step has t = 0, as in the authors' loop."""
        scale = self.cell.recipe.ramp_scale
        ramps = {}
        for name, penalty in self.cell.model.penalties.items():
            start, end = penalty.start * scale, penalty.end * scale
            ramps[name] = penalty.weight * ((steps.double() - 1 - start) / (end - start)).clamp(0, 1)
        return ramps

    def evaluate(self) -> None:
        """Errors on every evaluated split, entered into the log; the best parameters are kept."""
        values: Tensors = {}
        for split, examples in self.data.evaluated.items():
            for name, error in self.program.evaluate(self.state.parameters, examples).items():
                values[f"{split}_{name}"] = torch.where(self.state.alive, error, torch.nan)
        values["sparsity_error"] = torch.where(
            self.state.alive, self.program.sparsity_error(self.state.parameters), torch.nan
        )
        values["train_loss"] = self.state.loss
        if self.cell.recipe.reinitialize_after:
            values["reinitialized"] = self.draws.count
        self.log.append(self.step, values)
        error = values[f"{self.cell.task.evaluated[0]}_mse"].double()
        self._select(error)
        if self.cell.recipe.reinitialize_after and self.step > 0:
            self._reinitialize(error)
        self.report()

    def _select(self, error: Tensor) -> None:
        recipe = self.cell.recipe
        if self.step == 0 and recipe.steps > 0:
            return  # the papers' rule: every evaluation but the untrained one
        better = error.isfinite() & ((error < self.selected.error) | (recipe.selection == "last"))
        mask = {name: better.view(-1, *[1] * (old.ndim - 1)) for name, old in self.selected.parameters.items()}
        self.selected = Selected(
            error=torch.where(better, error, self.selected.error),
            step=torch.where(better, self.step, self.selected.step),
            parameters={
                name: torch.where(mask[name], self.state.parameters[name], old)
                for name, old in self.selected.parameters.items()
            },
        )

    def _reinitialize(self, error: Tensor) -> None:
        self.draws, due = self.draws.judged(error, self.state.alive, self.cell.recipe)
        if due.any():
            self.state = self.program.restarted(self.state, due, self.draws.count, self.request.block.seeds)

    def report(self) -> None:
        """Tell the step, and the seeds asked for whose error has been below the threshold in this process."""
        if self.request.threshold is not None:
            self.below |= self.log.columns[f"{self.cell.task.judge}_mse"][-1] < self.request.threshold
        self.request.report(self.step, int(self.below[self.request.block.lanes].sum()))

    def outcome(self) -> BlockResult | Exception:
        """The result, or what went wrong in making it."""
        try:
            return self.result()
        except Exception as error:  # the caller stores and reports it
            return error

    def result(self) -> BlockResult:
        """The runs of the seeds that were asked for."""
        lanes = self.request.block.lanes
        weights = self.program.weights(self.selected.parameters)
        tested: dict[str, np.ndarray] = {}
        for split in self.cell.task.tested:
            errors = self.program.test(self.selected.parameters, self.data.examples(split))
            tested |= {f"{split}_{name}": error.cpu().numpy()[lanes] for name, error in errors.items()}
        predictions = None
        if self.data.probes is not None:
            predictions = self.program.predictions(self.selected.parameters, self.data.probes).cpu().numpy()[lanes]
        return BlockResult(
            block=self.request.block,
            steps=np.array(self.log.steps, np.int64),
            columns={name: column.numpy()[:, lanes] for name, column in self.log.columns.items()},
            selected_step=self.selected.step.cpu().numpy()[lanes],
            diverged_at=self.state.diverged_at.cpu().numpy()[lanes],
            weights={name: matrix.cpu().numpy()[lanes] for name, matrix in weights.items()},
            tested=tested,
            predictions=predictions,
            seconds=self.seconds,
        )

    def save(self) -> None:
        """Write the checkpoint."""
        checkpoint.save(self.request.checkpoint, self.snapshot() | {"identity": self.identity})

    def snapshot(self) -> checkpoint.Snapshot:
        """Everything that `restore` needs, as tensors and plain values."""
        return {
            "step": self.step,
            "seconds": self.seconds,
            "steps": self.log.steps,
            "log": {name: column.clone() for name, column in self.log.columns.items()},
            "state": _entries(self.state),
            "selected": _entries(self.selected),
            "draws": _entries(self.draws),
        }

    def restore(self, snapshot: checkpoint.Snapshot) -> None:
        """Go on from a snapshot."""
        self.step = snapshot["step"]
        self.seconds = snapshot["seconds"]
        self.log.restore(snapshot["steps"], snapshot["log"])
        self.state = State(**_to(snapshot["state"], self.device))
        self.selected = Selected(**_to(snapshot["selected"], self.device))
        self.draws = Draws(**_to(snapshot["draws"], self.device))


def _entries(part: State | Selected | Draws) -> dict[str, Any]:
    """The fields of a dataclass by name."""
    return {entry.name: getattr(part, entry.name) for entry in fields(part)}


def _to(value: Any, device: torch.device) -> Any:
    """Tensors in nested dictionaries, on the device."""
    if isinstance(value, Tensor):
        return value.to(device)
    return {key: _to(entry, device) for key, entry in value.items()}
