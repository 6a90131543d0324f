"""What the data give is computed once for all cells on a draw, and changes nothing for any of them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell
from nalu_bench.tasks.task import Task
from nalu_bench.training.compilation import Mode
from nalu_bench.training.data import training_numbers, unify
from nalu_bench.training.kernels.kind import Shared
from nalu_bench.training.loop import Request, _Loop, train_block

MakeCell, MakeTask = Callable[..., Cell], Callable[..., Task]

COMPILED, ALL = Mode("cpu", compiled=True), Block(0)

pytestmark = pytest.mark.compiled


def silent(step: int, solved: int) -> None:
    pass


def first_step(cells: list[Cell]) -> Shared:
    """What the first step of some cells on one draw shares."""
    loops = [_Loop(Request(cell, ALL, Path("unused/block.pt"), silent), COMPILED) for cell in cells]
    unify([loop.data for loop in loops])
    numbers, shared = training_numbers(cells[0], ALL.seeds, COMPILED)(1), Shared()
    for loop in loops:
        loop.prepare(1)
        loop.update(numbers, shared)
    return shared


@pytest.mark.slow
def test_cells_on_one_draw_share_the_sums_and_the_logarithms_of_their_inputs(
    make_cell: MakeCell, make_task: MakeTask
) -> None:
    sums = make_task("mul", features=16)
    one = make_cell("nalu nalu", sums, kernels="own")
    assert len(first_step([one])) == 2  # the subsets' sums, and log(|x| + ε)
    others = [
        make_cell("nac nac", make_task("add", features=16), kernels="own"),
        make_cell("nalu nalu", make_task("sub", features=16), kernels="own"),
    ]
    assert len(first_step([one, *others])) == 2
    other_sums = make_cell("nac nac", make_task("add", features=16, subset_ratio=0.5), kernels="own")
    assert len(first_step([one, other_sums])) == 3, "sums of other subsets are others"


def test_in_eager_mode_all_kernels_are_torchs(make_cell: MakeCell, make_task: MakeTask, tmp_path: Path) -> None:
    cell = make_cell("nau nmu", make_task(features=16))
    own = replace(cell, recipe=replace(cell.recipe, kernels="own"))
    assert own.digest != cell.digest
    results = [train_block(one, ALL, Mode("cpu", compiled=False), tmp_path / one.digest, silent) for one in (cell, own)]
    for name, value in results[0].weights.items():
        assert torch.equal(torch.from_numpy(value), torch.from_numpy(results[1].weights[name]))
