"""The loop of one block: a fixed number of seeds of one cell, trained together."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nalu_bench.cell import Cell
from nalu_bench.seeds import WIDTH, Block, BlockResult, ranges_text
from nalu_bench.training import checkpoint, streams
from nalu_bench.training.ensemble import Program, State, Tensors, program
from nalu_bench.training.optimizers import corrections

CHECKPOINT_SECONDS = 60.0

Report = Callable[[int, int], None]
"""Called after every evaluation with the step and the number of seeds below the threshold so far."""


@dataclass(frozen=True)
class Mode:
    """How a block is computed; may change its bits, never its meaning."""

    device: str
    compiled: bool

    def describe(self) -> dict[str, str]:
        """For the part's manifest and the checkpoint's identity."""
        return {
            "device": self.device,
            "mode": "compiled" if self.compiled else "eager",
            "torch": str(torch.__version__),
        }


@dataclass
class Log:
    """What the evaluations of a block gave: one entry an evaluation, each (S,) float32."""

    steps: list[int] = field(default_factory=list)
    columns: dict[str, list[Tensor]] = field(default_factory=dict)

    def append(self, step: int, values: Tensors) -> None:
        self.steps.append(step)
        for name, value in values.items():
            self.columns.setdefault(name, []).append(value.cpu())


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


def train_block(
    cell: Cell, block: Block, mode: Mode, checkpoint_path: Path, report: Report, threshold: float | None = None
) -> BlockResult:
    """Train the seeds of a block from the start, or from its checkpoint, to the last step.

    Args:
        cell: what to train.
        block: which seeds.
        mode: device and compilation.
        checkpoint_path: where the block's state is kept while it trains.
        report: called at every evaluation.
        threshold: extrapolation error below which a seed counts as solved in `report`; changes nothing else.
    """
    started = time.monotonic()
    loop = _Loop(cell, block, mode)
    identity = mode.describe() | {"cell": cell.digest, "lanes": ranges_text(block.seeds)}
    snapshot = checkpoint.load(checkpoint_path, identity)
    if snapshot:
        loop.restore(snapshot)
    else:
        loop.evaluate()
    saved = time.monotonic()
    report(loop.step, loop.solved(block, threshold))
    while loop.step < cell.recipe.steps:
        loop.advance()
        loop.evaluate()
        report(loop.step, loop.solved(block, threshold))
        if time.monotonic() - saved > CHECKPOINT_SECONDS:
            checkpoint.save(checkpoint_path, loop.snapshot() | {"identity": identity})
            saved = time.monotonic()
    return loop.result(block, time.monotonic() - started)


class _Loop:
    """A block between two evaluations."""

    def __init__(self, cell: Cell, block: Block, mode: Mode) -> None:
        self.cell = cell
        self.device = torch.device(mode.device)
        self.program: Program = program(cell, mode.compiled)
        self.keys = streams.stream_keys("data", block.seeds).to(self.device)
        self.seed_parameters = self._seed_parameters(block.seeds)
        self.split_parameters = {
            split: self._to_device(cell.task.split_parameters(split)) for split in ("train", *cell.task.evaluated)
        }
        self.inputs = {split: self._inputs(split) for split in cell.task.evaluated}
        self.step = 0
        self.log = Log()
        self.below = torch.zeros(WIDTH, dtype=torch.bool)
        self.state = self.program.initial_state(block.seeds, self.device)
        self.selected = Selected(
            error=torch.full((WIDTH,), torch.inf, dtype=torch.float64, device=self.device),
            step=torch.full((WIDTH,), -1, dtype=torch.int64, device=self.device),
            parameters=self.state.parameters,
        )

    def _to_device(self, arrays: dict[str, np.ndarray]) -> Tensors:
        return {name: torch.from_numpy(array).to(self.device) for name, array in arrays.items()}

    def _seed_parameters(self, seeds: list[int]) -> Tensors:
        drawn = [self.cell.task.seed_parameters(streams.numpy_generator("task", seed)) for seed in seeds]
        return self._to_device({name: np.stack([one[name] for one in drawn]) for name in drawn[0]})

    def _inputs(self, split: str) -> Tensor:
        """The uniform numbers (I, B) of a split, the same for every seed."""
        size, count = self.cell.task.input_size, self.cell.recipe.evaluation_size
        key = streams.stream_keys(split, [0])[0]
        return streams.uniforms(key, torch.tensor(0), size * count).view(size, count).to(self.device)

    def advance(self) -> None:
        """Train to the next evaluation."""
        recipe = self.cell.recipe
        steps = torch.arange(self.step + 1, self.step + recipe.log_every + 1, device=self.device)
        step_size, correction = (values.float().unbind() for values in corrections(recipe, steps))
        factors = {name: ramp.float().unbind() for name, ramp in self._ramps(steps).items()}
        train = self.split_parameters["train"]
        for index, step in enumerate(steps.unbind()):
            self.state = self.program.step(
                self.state, self.keys, self.seed_parameters, train, step, step_size[index], correction[index],
                {name: values[index] for name, values in factors.items()},
            )  # fmt: skip
        self.step += recipe.log_every

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
        for split, u in self.inputs.items():
            errors = self.program.evaluate(self.state.parameters, u, self.seed_parameters, self.split_parameters[split])
            for name, error in errors.items():
                values[f"{split}_{name}"] = torch.where(self.state.alive, error, torch.nan)
        values["sparsity_error"] = torch.where(
            self.state.alive, self.program.sparsity_error(self.state.parameters), torch.nan
        )
        values["train_loss"] = self.state.loss
        self.log.append(self.step, values)
        self._select(values[f"{self.cell.task.evaluated[0]}_mse"].double())

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

    def solved(self, block: Block, threshold: float | None) -> int:
        """Seeds asked for whose extrapolation error has been below the threshold in this process."""
        if threshold is not None:
            self.below |= self.log.columns[f"{self.cell.task.evaluated[-1]}_mse"][-1] < threshold
        return int(self.below[block.lanes].sum())

    def result(self, block: Block, seconds: float) -> BlockResult:
        """The runs of the seeds that were asked for."""
        lanes = block.lanes
        weights = self.program.weights(self.selected.parameters)
        return BlockResult(
            block=block,
            steps=np.array(self.log.steps, np.int64),
            columns={name: torch.stack(column).numpy()[:, lanes] for name, column in self.log.columns.items()},
            selected_step=self.selected.step.cpu().numpy()[lanes],
            diverged_at=self.state.diverged_at.cpu().numpy()[lanes],
            weights={name: matrix.cpu().numpy()[lanes] for name, matrix in weights.items()},
            seconds=seconds,
        )

    def snapshot(self) -> checkpoint.Snapshot:
        """Everything that `restore` needs, as tensors and plain values."""
        state, selected = self.state, self.selected
        return {
            "step": self.step,
            "steps": self.log.steps,
            "log": {name: torch.stack(column) for name, column in self.log.columns.items()},
            "state": {key: getattr(state, key) for key in state.__dataclass_fields__},
            "selected": {key: getattr(selected, key) for key in selected.__dataclass_fields__},
        }

    def restore(self, snapshot: checkpoint.Snapshot) -> None:
        """Go on from a snapshot."""
        self.step = snapshot["step"]
        self.log = Log(snapshot["steps"], {name: list(rows.unbind()) for name, rows in snapshot["log"].items()})
        self.state = State(**_to(snapshot["state"], self.device))
        self.selected = Selected(**_to(snapshot["selected"], self.device))


def _to(value: Any, device: torch.device) -> Any:
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return {key: _to(entry, device) for key, entry in value.items()}
    return tuple(_to(entry, device) for entry in value)
