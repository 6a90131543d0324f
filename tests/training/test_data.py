"""Fixed data and chunks, as training and evaluation see them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nalu_bench.errors import UsageError
from nalu_bench.models.layer import Layer
from nalu_bench.models.recurrent import Recurrent
from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.result import BlockResult
from nalu_bench.tasks.task import DROP, KEEP, Rows, Task
from nalu_bench.tasks.ten_parameter import TenParameter
from nalu_bench.training.check import check_network
from nalu_bench.training.compilation import Mode
from nalu_bench.training.data import check_rows, tensors
from nalu_bench.training.loop import train_block
from nalu_bench.training.rebuild import network as rebuilt

MakeCell = Callable[..., Cell]
MakeTask = Callable[..., Task]

EAGER = Mode("cpu", compiled=False)
ALL = Block(0)


def train(cell: Cell, path: Path) -> BlockResult:
    return train_block(cell, ALL, EAGER, path / "block.pt", lambda *_: None)


class Chunked(TenParameter):
    """A task that is evaluated on seven examples at a time: 32 are four chunks and a rest."""

    def chunk(self, split: str) -> int:
        return 7


@pytest.mark.parametrize("layers", ["nau nmu", "nalu nalu"])
def test_an_evaluation_in_chunks_is_the_whole_one_to_rounding(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path, layers: str
) -> None:
    task = make_task()
    whole, chunked = (train(make_cell(layers, one), tmp_path) for one in (task, Chunked(**vars(task))))
    assert set(whole.columns) == set(chunked.columns)
    for name, column in whole.columns.items():
        np.testing.assert_allclose(chunked.columns[name], column, rtol=2e-5, err_msg=name)
        assert chunked.columns[name].dtype == column.dtype
    for name, gate in whole.gates.items():
        np.testing.assert_allclose(chunked.gates[name], gate, rtol=2e-6)
    assert all(np.array_equal(chunked.parameters[name], value) for name, value in whole.parameters.items())


class Listed(TenParameter):
    """A task of rows from a read-only table; its inputs are sums of `per_example` rows."""

    count = 20
    remainder = KEEP
    per_example = 1

    def rows(self, split: str) -> Rows:
        return Rows(self.count, remainder=self.remainder)

    def example_size(self, split: str) -> int:
        return self.per_example

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        rows = np.random.default_rng(len(split)).random((self.count, self.input_size), np.float32)
        rows.flags.writeable = False
        return {"rows": rows}

    def seed_parameters(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {}

    def sample(self, numbers: Tensor, seeds: Any, split: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        x = split["rows"][numbers].sum(0)
        return x, x.sum(-1, keepdim=True)


def listed(task: Task, **changes: Any) -> Listed:
    kind = type("Listed", (Listed,), changes)
    made: Listed = kind(**vars(task))
    return made


def test_data_that_cannot_be_written_are_copied_and_others_are_not() -> None:
    fixed, free = np.arange(3.0), np.arange(3.0)
    fixed.flags.writeable = False
    found = tensors({"fixed": fixed, "free": free})
    assert found["free"].data_ptr() == free.ctypes.data
    found["fixed"][0] = 7.0
    assert fixed[0] == 0.0


def test_the_last_batch_of_an_epoch_may_be_smaller(make_cell: MakeCell, make_task: MakeTask, tmp_path: Path) -> None:
    cell = make_cell("linear linear", listed(make_task()), batch_size=8, steps=4, log_every=1)
    result = train(cell, tmp_path)
    assert np.isfinite(result.columns["train_loss"][1:]).all()
    whole = replace(cell, recipe=replace(cell.recipe, batch_size=20, learning_rate=1e-30, optimizer="sgd"))
    still = train(whole, tmp_path).columns["train_loss"][1:]  # every batch is the whole split, in another order
    np.testing.assert_allclose(still, still[:1].repeat(4, axis=0), rtol=1e-5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"remainder": DROP}, "recipe.batch_size must be at most 20 examples of the training split .*, got 32"),
        ({"count": 2, "per_example": 3}, "the split train of ten_parameter must hold an example of 3 rows, got 2 rows"),
        ({"count": 0}, "must hold an example of 1 rows, got 0 rows"),
    ],
)
def test_too_few_rows_are_refused(
    make_cell: MakeCell, make_task: MakeTask, changes: dict[str, Any], message: str
) -> None:
    cell = make_cell("linear linear", listed(make_task(), **changes), batch_size=32)
    with pytest.raises(UsageError, match=message):
        check_rows(cell)


def test_one_row_is_enough_where_a_smaller_batch_is_kept(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path
) -> None:
    cell = make_cell("linear linear", listed(make_task(), count=1), steps=2, log_every=1)
    check_network(cell, cell.model.build(cell.task))
    assert np.isfinite(train(cell, tmp_path).columns["validation_mse"]).all()


class RunningProducts(TenParameter):
    """t_n = x_1 ... x_n at every step n of a sequence."""

    inputs = "sequence"

    @property
    def input_size(self) -> int:
        return 1

    def example_size(self, split: str) -> int:
        return 4

    def seed_parameters(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {}

    def sample(self, numbers: Tensor, *constants: Any) -> tuple[Tensor, Tensor]:
        x = numbers.mT.unsqueeze(-1)
        return x, x.cumprod(-2)


def recurrent(**changes: Any) -> Recurrent:
    return Recurrent(
        kind="recurrent", name="recurrent", penalties={}, cell=Layer("nac_mul", {}), head=Layer("linear", {}),
        hidden_size=1, **changes,
    )  # fmt: skip


def test_a_recurrence_from_one_is_read_at_every_step(make_cell: MakeCell, make_task: MakeTask, tmp_path: Path) -> None:
    task = RunningProducts(**vars(make_task()))
    cell = replace(make_cell(task=task), model=recurrent(initial_state=1.0, outputs="every"))
    check_network(cell, cell.model.build(task))
    result = train(cell, tmp_path)
    network = rebuilt(cell, {name: value[2] for name, value in result.parameters.items()})
    x, t = task.sample(torch.rand(4, 6) + 1, {}, {})
    with torch.no_grad():
        y = network(x)
        steps = [torch.ones(6, 1)]
        for number in range(4):
            steps.append(network.cell(torch.cat([x[:, number], steps[-1]], dim=-1)))
    assert y.shape == t.shape == (6, 4, 1)
    torch.testing.assert_close(y, torch.stack([network.head(state) for state in steps[1:]], dim=1))


def test_a_recurrence_that_is_read_at_other_steps_than_the_task_asks_for_is_refused(
    make_cell: MakeCell, make_task: MakeTask
) -> None:
    task = RunningProducts(**vars(make_task()))
    cell = replace(make_cell(task=task), model=recurrent())
    with pytest.raises(UsageError, match=r"got \(2, 1\) and \(2, 4, 1\) for 2 examples; choose a model"):
        check_network(cell, cell.model.build(task))


def test_a_program_is_shared_only_where_the_data_are_those_of_the_fingerprint(make_task: MakeTask) -> None:
    class Marked(TenParameter):
        mark = "one"

        def program(self) -> tuple[Any, ...]:
            return Task.program(self)

        def fingerprint(self) -> dict[str, str]:
            return {"file": self.mark}

    first, second = Marked(**vars(make_task())), Marked(**vars(make_task()))
    assert first.program() == second.program()
    second.mark = "two"
    assert first.program() != second.program()
