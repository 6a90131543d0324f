"""Units that ask for noise: in training it comes from a stream of its own, in evaluation there is none."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.models.network import Network, Recurrence, Stack
from nalu_bench.models.two_layer import TwoLayer
from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell
from nalu_bench.tasks.task import Task
from nalu_bench.training.check import check_network
from nalu_bench.training.compilation import Mode
from nalu_bench.training.data import training_numbers
from nalu_bench.training.loop import Request, _Group, _Loop
from nalu_bench.training.random import streams
from nalu_bench.units import Linear

MakeCell = Callable[..., Cell]

EAGER = Mode("cpu", compiled=False)
ALL = Block(0)
KEPT = 0.75


class Dropout(Linear):
    """y = W (m ⊙ x / p) + b in training, m_i = 1 if its random number is below p; y = W x + b otherwise."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__(in_features, out_features)
        self.noise = in_features

    def disturbed(self, x: Tensor, noise: Tensor) -> Tensor:
        return self(x * (noise.mT < KEPT) / KEPT)


@dataclass
class DropoutModel(TwoLayer):
    """Two layers with dropout before each."""

    def network(self, task: Task) -> Network:
        return Stack(Dropout(task.input_size, 2), Dropout(2, 1))


@pytest.fixture
def cells(make_cell: MakeCell) -> tuple[Cell, Cell]:
    """The same cell with and without dropout."""
    plain = make_cell("linear linear", learning_rate=0.1)
    return replace(plain, model=DropoutModel(**vars(plain.model) | {"name": "dropout"})), plain


def loop_of(cell: Cell) -> _Loop:
    return _Loop(Request(cell, ALL, Path("unused/block.pt"), lambda *_: None), EAGER)


def trained(cell: Cell) -> _Loop:
    """The loop of a cell, trained until its first evaluation after step 0."""
    loop = loop_of(cell)
    assert list(_Group([loop], training_numbers(cell, ALL.seeds, EAGER)).advance()) == []
    return loop


def numbers(step: int, seed: int, count: int, batch: int) -> Tensor:
    """The noise of a seed at a step, from the definition of its stream."""
    key = torch.tensor(streams.stream_key("noise", seed))
    return streams.uniforms(key, torch.tensor(step), count * batch).view(count, batch)


def test_the_noise_comes_from_a_stream_of_its_own_and_leaves_the_data_alone(cells: tuple[Cell, Cell]) -> None:
    noisy, plain = cells
    loop = loop_of(noisy)
    assert loop.program.noise == noisy.task.input_size + 2
    assert loop.noise is not None
    for step in (1, 9):
        noise = loop.noise(step)
        for seed in (0, 24):
            assert torch.equal(noise[seed], numbers(step, seed, loop.program.noise, noisy.recipe.batch_size))
        draws = [training_numbers(cell, ALL.seeds, EAGER)(step).clone() for cell in cells]
        assert torch.equal(*draws)
        assert not torch.equal(noise[:, : draws[0].shape[1]], draws[0])
    assert loop_of(plain).noise is None


def test_training_uses_the_numbers_of_the_step_for_one_unit_after_the_other(cells: tuple[Cell, Cell]) -> None:
    noisy, _ = cells
    once = replace(noisy, recipe=replace(noisy.recipe, log_every=1, steps=1))
    before, after = loop_of(once), trained(once)
    task, seed, batch = once.task, 3, once.recipe.batch_size
    network = once.model.build(task)
    network.load_state_dict(
        {name.removeprefix("network."): value[seed] for name, value in before.state.parameters.items()}
    )
    noise = numbers(1, seed, task.input_size + 2, batch)
    constants = {name: value[seed] for name, value in before.data.seeds.items()}
    split = {name: torch.from_numpy(value) for name, value in task.split_parameters("train").items()}
    x, t = task.sample(training_numbers(once, ALL.seeds, EAGER)(1)[seed], constants, split)
    first, second = network.layers
    hidden = first(x * (noise[: task.input_size].T < KEPT) / KEPT)
    y = second(hidden * (noise[task.input_size :].T < KEPT) / KEPT)
    torch.testing.assert_close(after.state.loss[seed], (y - t).square().mean().detach())
    undisturbed = (network(x) - t).square().mean()
    assert not torch.isclose(after.state.loss[seed], undisturbed, rtol=1e-3)


def test_an_evaluation_is_without_noise(cells: tuple[Cell, Cell]) -> None:
    noisy, plain = cells
    loop, other = trained(noisy), loop_of(plain)
    first = {name: column[0] for name, column in loop.log.columns.items()}
    assert torch.equal(first["validation_mse"], other.log.columns["validation_mse"][0])
    same = other.program.evaluate(loop.state.parameters, other.data.evaluated["validation"])
    assert torch.equal(loop.log.columns["validation_mse"][1], same["mse"])


def test_a_network_that_hands_no_noise_to_a_unit_that_asks_is_refused(make_cell: MakeCell) -> None:
    network: Any = Recurrence(Dropout(3, 2), Linear(2, 1))
    with pytest.raises(UsageError, match="must do without noise, got cell that ask for it"):
        check_network(make_cell("linear linear"), network)
