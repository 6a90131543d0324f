"""Updates in turns compared with a plain loop in the order of the authors' code, and what is refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.func import functional_call

from nalu_bench.errors import UsageError
from nalu_bench.models.model import Penalty
from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.result import BlockResult
from nalu_bench.training import data
from nalu_bench.training.check import check_network
from nalu_bench.training.compilation import Mode
from nalu_bench.training.loop import Request, _Loop, train_block

MakeCell = Callable[..., Cell]

ALL = Block(0)
STEPS, START, LIMIT = 26, 12, 310.0
ALTERNATING: dict[str, Any] = {
    "optimizer": "rmsprop_tf", "learning_rate": 0.01, "beta1": 0.0, "beta2": 0.9, "epsilon": 1e-10,
    "clipping": "value", "clip_at": 0.1, "updates": "alternating", "steps": STEPS, "log_every": STEPS,
}  # fmt: skip


@pytest.fixture
def alternating(make_cell: MakeCell) -> Cell:
    """Two iNALUs; their penalty acts from step `START` on, on the seeds whose loss is below `LIMIT`."""
    return make_cell("inalu inalu", penalty=Penalty(0.05, START, START, below=LIMIT), **ALTERNATING)


def trained(cell: Cell, mode: Mode) -> tuple[list[dict[str, Tensor]], list[Tensor]]:
    """The stacked parameters before the first and after every step, and the losses."""
    loop = _Loop(Request(cell, ALL, Path("unused/block.pt"), lambda *_: None), mode)
    draw = data.training_numbers(cell, ALL.seeds, mode)
    loop.prepare(STEPS)
    states, losses = [loop.state.parameters], []
    for step in range(1, STEPS + 1):
        loop.update(draw(step), {})
        states.append(loop.state.parameters)
        losses.append(loop.state.loss)
    return states, losses


def by_a_plain_loop(cell: Cell, seed: int, start: dict[str, Tensor]) -> tuple[dict[str, Tensor], list[float], int]:
    """One seed, update by update as TensorFlow's RMSprop makes them: parameters, losses, updates by the penalty."""
    network = cell.model.build(cell.task).double()
    values = {name.removeprefix("network."): value[seed].double() for name, value in start.items()}
    squares = {name: torch.ones_like(value) for name, value in values.items()}
    draw = data.training_numbers(cell, [seed], Mode("cpu", compiled=False))
    constants = data.Data(cell, [seed], torch.device("cpu"))
    seed_parameters = {name: value[0] for name, value in constants.seeds.items()}
    split_parameters = data.tensors(cell.task.split_parameters("train"))
    losses, penalised = [], 0

    def apply(goal: Callable[[Tensor, dict[str, Tensor]], Tensor], x: Tensor, t: Tensor, names: list[str]) -> float:
        leaves = {name: value.clone().requires_grad_() for name, value in values.items()}
        y, penalties = functional_call(_Predicting(network), {f"network.{n}": v for n, v in leaves.items()}, (x,))
        loss = (y - t).square().mean()
        gradients = torch.autograd.grad(goal(loss, penalties), [leaves[name] for name in names])
        for name, gradient in zip(names, gradients, strict=True):
            clipped = gradient.clamp(-0.1, 0.1)
            squares[name] = squares[name] + 0.1 * (clipped.square() - squares[name])
            values[name] = values[name] - 0.01 * clipped / (squares[name] + 1e-10).sqrt()
        return loss.item()

    gates = [name for name in values if name.endswith(".G")]
    weights = [name for name in values if name not in gates]
    for batch in range(STEPS):
        x, t = (v.double() for v in cell.task.sample(draw(batch + 1)[0], seed_parameters, split_parameters))
        losses.append(apply(lambda loss, _: loss, x, t, weights if batch % 10 < 8 else gates))
        if batch >= START and losses[-1] < LIMIT:
            penalised += 1
            for names in (weights, gates):
                apply(lambda _, penalties: 0.05 * penalties["saturation"], x, t, names)
    return values, losses, penalised


class _Predicting(torch.nn.Module):
    def __init__(self, network: torch.nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, x: Tensor) -> Any:
        return self.network.predict(x)  # type: ignore[operator]


@pytest.mark.parametrize(
    "compiled", [False, pytest.param(True, marks=[pytest.mark.compiled, pytest.mark.slow, pytest.mark.thorough])]
)
def test_weights_gates_and_penalties_are_updated_in_the_order_of_the_authors(alternating: Cell, compiled: bool) -> None:
    states, losses = trained(alternating, Mode("cpu", compiled))
    acted = []
    for seed in (0, 1, 2, 7):
        values, expected, penalised = by_a_plain_loop(alternating, seed, states[0])
        acted.append(penalised)
        np.testing.assert_allclose([float(loss[seed]) for loss in losses], expected, rtol=2e-4)
        for name, value in values.items():
            torch.testing.assert_close(states[-1][f"network.{name}"][seed].double(), value, rtol=2e-4, atol=2e-5)
    assert any(acted), "the penalty must act on a seed"
    assert min(acted) < STEPS - START, "and not always"


def test_gates_rest_while_weights_are_trained_and_weights_while_gates_are(alternating: Cell) -> None:
    states, _ = trained(alternating, Mode("cpu", compiled=False))
    for step in range(START):
        for name, before in states[step].items():
            moved = bool((states[step + 1][name] != before).any())
            assert moved == (name.endswith(".G") == (step % 10 >= 8)), (step, name)


@pytest.mark.parametrize("stop", [14, 19])
def test_a_run_goes_on_bit_for_bit(
    alternating: Cell, killed_and_resumed: Callable[..., tuple[BlockResult, BlockResult]], stop: int
) -> None:
    cell = replace(alternating, recipe=replace(alternating.recipe, steps=30, log_every=5))
    whole, resumed = killed_and_resumed(cell, ALL, stop)
    for name, column in whole.columns.items():
        np.testing.assert_array_equal(column, resumed.columns[name], err_msg=name)
    for name, value in whole.parameters.items():
        np.testing.assert_array_equal(value, resumed.parameters[name], err_msg=name)


def test_without_penalties_there_is_one_update_a_step(make_cell: MakeCell, tmp_path: Path) -> None:
    cell = make_cell("nalu nalu", **ALTERNATING)
    result = train_block(cell, ALL, Mode("cpu", compiled=False), tmp_path / "block.pt", lambda *_: None)
    assert np.isfinite(result.columns["train_loss"][-1]).all()


def test_what_cannot_be_trained_in_turns_is_refused(make_cell: MakeCell) -> None:
    with pytest.raises(UsageError, match=r"recipe.updates=alternating must have an optimiser whose corrections"):
        make_cell("nalu nalu", updates="alternating").recipe.validate()
    make_cell("nalu nalu", updates="alternating", optimizer="adam_tf").recipe.validate()  # says what it does then
    with pytest.raises(UsageError, match="unknown update rule 'alternate'; did you mean 'alternating'"):
        make_cell("nalu nalu", updates="alternate").recipe.validate()
    cell = make_cell("nau nmu", **ALTERNATING)
    with pytest.raises(UsageError, match=r"alternating must train a network with gates .*nau_nmu has none"):
        check_network(cell, cell.model.build(cell.task))
    for layers in ("nalu nalu", "inalu inalu", "gated_nau_nmu nau"):
        cell = make_cell(layers, **ALTERNATING)
        check_network(cell, cell.model.build(cell.task))
