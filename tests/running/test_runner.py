"""The order of blocks, which are trained side by side, and what else a process meets in the store."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nalu_bench.errors import Interrupted
from nalu_bench.plan.blocks import WIDTH
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.machine import Machine
from nalu_bench.running import runner
from nalu_bench.running.jobs import Job, groups, pending
from nalu_bench.store import writer
from nalu_bench.store.reader import Store
from nalu_bench.tasks.task import Task

MakeCell = Callable[..., Cell]
MakeTask = Callable[..., Task]
MACHINE = Machine("cpu", False, 2)


@pytest.fixture
def todo(make_cell: MakeCell, make_task: MakeTask, tmp_path: Path) -> list[Job]:
    """Five cells of one draw and one of other inputs, two blocks each."""
    cells = [make_cell("nau nmu", make_task(operation, features=8)) for operation in ("mul", "add", "sub")]
    cells += [make_cell("nau nau", make_task(features=8)), make_cell("nalu nalu", make_task(features=8))]
    cells += [make_cell("nau nmu", make_task())]
    wanted = [Wanted(cell, tuple(range(2 * WIDTH))) for cell in cells]
    return pending(wanted, Store(tmp_path / "runs"), MACHINE)


def test_every_cell_gets_its_first_seeds_before_any_gets_more(todo: list[Job]) -> None:
    assert [job.block.number for job in todo] == [0] * 6 + [1] * 6
    models = ["nau_nmu"] * 3 + ["nau_nau", "nalu_nalu", "nau_nmu"]
    assert [job.cell.model.name for job in todo] == models * 2


def test_jobs_of_one_draw_and_one_block_are_trained_side_by_side(todo: list[Job]) -> None:
    parts = groups(todo, workers=2, most=3)
    assert [len(group) for group in parts] == [3, 2, 1, 3, 2, 1]
    largest_first = [4, 0, 1, 2, 3, 5]  # of the jobs of a block
    assert [job for group in parts for job in group] == [todo[start + at] for start in (0, 6) for at in largest_first]
    for group in parts:
        assert len({(job.block.number, job.cell.task.input_size) for job in group}) == 1


def test_groups_hold_one_model_and_follow_one_of_another_untrained_ones_and_the_largest_first(
    make_cell: MakeCell, make_task: MakeTask, tmp_path: Path
) -> None:
    operations = ("add", "sub", "mul", "div", "square", "sqrt")
    models = {"nau nmu": 5, "nalu nalu": 5, "nac nac": 0}
    cells = [make_cell(model, make_task(name), steps=steps) for name in operations for model, steps in models.items()]
    todo = pending([Wanted(cell, tuple(range(WIDTH))) for cell in cells], Store(tmp_path / "runs"), MACHINE)
    found = [[job.cell.model.name for job in group] for group in groups(todo, workers=2, most=3)]
    assert found == [["nac_nac"] * 3, ["nalu_nalu"] * 3, ["nau_nmu"] * 3] * 2


def test_every_worker_gets_a_group_where_there_are_few_jobs(todo: list[Job]) -> None:
    assert [len(group) for group in groups(todo[:3], workers=2)] == [2, 1]
    assert [len(group) for group in groups(todo[:3], workers=3)] == [1, 1, 1]
    assert [len(group) for group in groups(todo[:3], workers=1)] == [3]
    assert groups([], workers=2) == []


def test_models_that_gain_by_compiling_are_apart_from_those_that_do_not(
    todo: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mode of a group is that of its first cell, and other modes have other bits."""
    monkeypatch.setattr(type(todo[3].cell.model), "compiles", property(lambda model: model.name != "nau_nau"))
    for group in groups(todo, workers=2):
        assert len({job.cell.model.compiles for job in group}) == 1


def test_a_damaged_part_that_another_process_moves_first_stops_nothing(
    todo: list[Job], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = {}

    def at_the_same_time(root: Path, cell: Cell, part: Path) -> Path:
        moved[part] = writer_set_aside(root, cell, part)
        return writer_set_aside(root, cell, part)

    writer_set_aside = writer.set_aside
    todo[0].part.mkdir(parents=True)
    (todo[0].part / "runs.parquet").touch()
    monkeypatch.setattr(writer, "set_aside", at_the_same_time)
    runner._set_aside_damaged(todo)
    assert list(moved) == [todo[0].part]
    assert not capsys.readouterr().err, "who moved it says so"


def test_a_signal_while_the_last_block_is_stored_is_not_lost(
    make_cell: MakeCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_a_signal(*given: Any) -> bool:
        signal.raise_signal(signal.SIGTERM)
        return written(*given)

    written, store, cell = writer.write_part, Store(tmp_path / "runs"), make_cell()
    monkeypatch.setattr(writer, "write_part", with_a_signal)
    machine = Machine("cpu", False, 1)
    with pytest.raises(Interrupted):
        runner.run_jobs(pending([Wanted(cell, (0,))], store, machine), machine, quiet=True)
    assert store.stored_seeds(cell) == set(range(WIDTH))
