"""Penalties beside the loss, tasks with their own objective and measures, and programs that tasks may not share."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.losses.regression import mse, smooth_l1
from nalu_bench.models.model import Penalty
from nalu_bench.models.network import Stack
from nalu_bench.plan.blocks import WIDTH, Block
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.result import BlockResult
from nalu_bench.tasks.arithmetic import Arithmetic
from nalu_bench.tasks.task import Task
from nalu_bench.tasks.ten_parameter import TenParameter
from nalu_bench.training.compilation import Mode
from nalu_bench.training.data import Data, training_numbers
from nalu_bench.training.loop import Request, train_block, train_together
from nalu_bench.training.objective import in_turn, objective
from nalu_bench.training.program import program_of
from nalu_bench.training.state import State
from nalu_bench.units import NALU

MakeCell = Callable[..., Cell]
MakeTask = Callable[..., Task]

EAGER = Mode("cpu", compiled=False)
ALL = Block(0)


def train(cell: Cell, path: Path) -> BlockResult:
    return train_block(cell, ALL, EAGER, path / "block.pt", lambda *_: None)


@pytest.mark.parametrize(("below", "acts"), [(None, True), (2.5, True), (2.0, False), (1.0, False)])
def test_a_penalty_acts_only_where_the_loss_is_below_its_limit(below: float | None, acts: bool) -> None:
    w = torch.tensor(3.0, requires_grad=True)

    class Given:
        def objective(self, *_: Any) -> tuple[Tensor, dict[str, Tensor]]:
            return 2.0 * w / w.detach() * 1.0, {"size": w.square()}

    total = objective(Given(), in_turn(mse), {"size": Penalty(1.0, 0, 1, below)})  # type: ignore[arg-type]
    value = total(None, torch.zeros(1), torch.zeros(1), None, {"size": torch.tensor(0.5)})  # type: ignore[arg-type]
    value.backward()
    assert float(value.detach()) == 2.0 + (0.5 * 9.0 if acts else 0.0)
    assert float(w.grad) == pytest.approx(2.0 / 3.0 + (0.5 * 2 * 3.0 if acts else 0.0))


def test_in_training_the_condition_is_each_seeds_own(make_cell: MakeCell, tmp_path: Path) -> None:
    def losses(penalty: Penalty) -> np.ndarray:
        """The losses of all seeds at step 2, the first with the full factor of the penalty."""
        return train(make_cell(penalty=penalty, steps=2, log_every=1), tmp_path).columns["train_loss"][2]

    free = losses(Penalty(0.0, 0, 1))
    limit = float(np.median(free))
    with_all, with_some = losses(Penalty(30.0, 0, 1)), losses(Penalty(30.0, 0, 1, below=limit))
    assert (with_all > free).all()
    np.testing.assert_array_equal(with_some, np.where(free < limit, with_all, free))
    assert 0 < (free < limit).sum() < WIDTH


def test_the_first_loss_is_minimised_and_recorded_before_the_other(make_cell: MakeCell, tmp_path: Path) -> None:
    def recorded(**changes: Any) -> BlockResult:
        cell = make_cell(penalty=Penalty(0.0, 0, 1), steps=4, log_every=1, **changes)
        return train(cell, tmp_path / f"{len(changes)}{changes.get('first_steps')}")

    first = {"first_loss": "correlation", "first_steps": 2}
    both, alone = recorded(**first), recorded(loss="correlation")
    plain, long = recorded(), recorded(first_loss="correlation", first_steps=40, ramp_scale=0.05)
    losses = both.columns["train_loss"]
    np.testing.assert_array_equal(losses[:3], alone.columns["train_loss"][:3])
    np.testing.assert_array_equal(long.columns["train_loss"], losses)
    assert (losses[3] != alone.columns["train_loss"][3]).all()
    assert (losses[1] != plain.columns["train_loss"][1]).all()


@pytest.mark.parametrize(
    ("changes", "must"),
    [
        ({"first_loss": "correlation"}, r"first_steps must be above 0 with recipe\.first_loss=correlation"),
        ({"first_loss": "correlatoin", "first_steps": 2}, "did you mean 'correlation'"),
        ({"first_loss": "cross_entropy", "first_steps": 2}, r"recipe\.first_loss=cross_entropy must get 2 outputs"),
        ({"first_loss": "mse", "first_steps": -1}, "first_steps must be at least 0"),
    ],
)
def test_a_first_loss_that_cannot_be_is_refused(make_cell: MakeCell, changes: dict[str, Any], must: str) -> None:
    with pytest.raises(UsageError, match=must):
        make_cell(**changes).validate()


@pytest.mark.parametrize(
    ("below", "must"), [(0.0, "above 0 and finite"), (-1.0, "above 0 and finite"), (math.inf, "a number up to 3e38")]
)
def test_a_limit_that_cannot_be_is_refused(make_cell: MakeCell, below: float, must: str) -> None:
    with pytest.raises(UsageError, match=rf"model\.penalties\.sparsity\.below must be {must}"):
        make_cell(penalty=Penalty(1.0, 0, 1, below)).validate()


@pytest.mark.parametrize("loss", [mse, smooth_l1])
def test_a_prediction_of_another_shape_than_its_target_is_refused(loss: Callable[..., Tensor]) -> None:
    with pytest.raises(UsageError, match=r"must have the shape of its target, got \(5, 5, 1\) and \(5, 1\)"):
        loss(torch.zeros(5, 5, 1), torch.zeros(5, 1))


class OwnTargets(Arithmetic):
    """The same inputs under the same names, with targets of its own."""

    def targets(self, totals: Tensor, *constants: dict[str, Tensor]) -> Tensor:
        return -super().targets(totals, *constants)


def test_a_task_with_targets_of_its_own_does_not_get_its_parents_program(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path
) -> None:
    parent = make_task("add", features=8)
    child = OwnTargets(**vars(parent))
    assert child.program() == parent.program()
    assert type(child).sample is type(parent).sample
    cells = [make_cell("linear linear", task) for task in (parent, child)]
    assert program_of(cells[0], EAGER) is not program_of(cells[1], EAGER)
    first, second = (train(cell, tmp_path) for cell in cells)
    assert (first.columns["train_loss"][1] != second.columns["train_loss"][1]).all()


class Largest(TenParameter):
    """Selects and judges by the largest error."""

    larger_is_better = True


def test_the_largest_figure_is_selected_and_solves_where_larger_is_better(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path
) -> None:
    task = Largest(**vars(make_task()))
    reported: list[int] = []
    cell = make_cell("linear linear", task, learning_rate=0.3)
    limit = float(np.median(train(cell, tmp_path).columns["extrapolation_mse"][0]))
    request = Request(cell, ALL, tmp_path / "block.pt", lambda _, solved: reported.append(solved), limit)
    ((_, result),) = train_together([request], EAGER)
    assert isinstance(result, BlockResult)
    errors = result.columns["validation_mse"][1:]
    assert (result.selected_step == result.steps[1:][errors.argmax(axis=0)]).all()
    assert len(set(result.selected_step.tolist())) > 1
    above = np.maximum.accumulate(result.columns["extrapolation_mse"] > limit, axis=0)
    assert reported == above.sum(axis=1).tolist()
    assert 0 < reported[0] < WIDTH


class Seeing(TenParameter):
    """A task whose network is trained on ones instead of the inputs, and whose gates are computed there."""

    def objective(self, network: Any, x: Tensor, *rest: Any) -> tuple[Tensor, dict[str, Tensor]]:
        return super().objective(network, torch.ones_like(x), *rest)

    def gates(self, network: Any, x: Tensor) -> dict[str, Tensor]:
        return super().gates(network, torch.ones_like(x)[:2])


def test_a_task_says_on_which_inputs_gates_are_looked_at(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path
) -> None:
    cell = make_cell("nalu nalu", Seeing(**vars(make_task())), steps=5)
    result = train(cell, tmp_path)
    network = Stack(NALU(cell.task.input_size, 2), NALU(2, 1))
    network.load_state_dict({name: torch.from_numpy(value[4]) for name, value in result.parameters.items()})
    with torch.no_grad():
        gates = network.gates(torch.ones(1, cell.task.input_size))
    assert set(gates) == set(result.gates)
    for name, gate in gates.items():
        np.testing.assert_allclose(result.gates[name][4], gate[0], rtol=1e-5)


def test_a_penalty_without_a_ramp_acts_from_its_step_on(make_cell: MakeCell, tmp_path: Path) -> None:
    def losses(start: int, weight: float) -> np.ndarray:
        cell = make_cell(penalty=Penalty(weight, start, start), steps=3, log_every=1)
        return train(cell, tmp_path).columns["train_loss"]

    free, at_once, later = losses(0, 0.0), losses(0, 30.0), losses(1, 30.0)
    assert (at_once[1] > free[1]).all()
    np.testing.assert_array_equal(later[1], free[1])
    assert (later[2] > free[2]).all()


def test_a_part_of_a_network_may_have_its_own_learning_rate(make_cell: MakeCell) -> None:
    cell = make_cell()
    cell = replace(cell, recipe=replace(cell.recipe, optimizer="sgd"))
    program = program_of(cell, EAGER)
    name = program.names[0]
    moved = []
    for rates in ({}, {name: 3.0}):
        program.rates = rates
        before = program.initial_state(list(range(WIDTH)), torch.device("cpu"))
        numbers = training_numbers(cell, list(range(WIDTH)), EAGER)(1)
        factors = [torch.tensor(0.0) for _ in program.penalties]
        schedule = (torch.tensor(1), torch.tensor(1e-5), torch.tensor(1.0), *factors)
        constants = Data(cell, list(range(WIDTH)), torch.device("cpu")).constants
        after = State.of(program.names, program.step(before.tensors(), numbers, None, constants, schedule, {}))
        moved.append({key: after.parameters[key] - before.parameters[key] for key in program.names})
    program.rates = {}
    torch.testing.assert_close(moved[1][name], 3 * moved[0][name], rtol=1e-3, atol=1e-6)
    for other in program.names[1:]:
        torch.testing.assert_close(moved[1][other], moved[0][other])
