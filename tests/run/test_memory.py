"""The estimate of memory, and what the runner makes of it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.machine import Machine
from nalu_bench.run import memory, runner
from nalu_bench.store.reader import Store
from nalu_bench.tasks.task import Task

MakeCell = Callable[..., Cell]
TWO_WORKERS = Machine("cpu", False, 2)


def test_the_estimate_grows_with_what_is_held(make_cell: MakeCell, make_task: Callable[..., Task]) -> None:
    small, wide = make_cell(), make_cell(task=make_task(features=100_000))
    base = memory.needed([small])
    assert memory.PROCESS < base < memory.PROCESS + 2**20
    assert memory.needed([small, small]) > base
    assert memory.needed([make_cell(evaluation_size=100_000)]) > base + 100 * 2**20
    # 25 seeds x 16 examples x 100,000 inputs x 4 bytes are 160 MB, of which a step holds four
    assert memory.needed([wide]) > memory.PROCESS + 600 * 2**20


def test_this_system_tells_what_is_free() -> None:
    room = memory.available()
    assert room is None or room > 2**20


@pytest.mark.parametrize(("room", "workers"), [(None, 2), (10**12, 2), (2**30, 1)])
def test_fewer_groups_are_trained_at_a_time_where_memory_is_short(
    make_cell: MakeCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    room: int | None, workers: int,
) -> None:  # fmt: skip
    started: list[int] = []
    monkeypatch.setattr(memory, "available", lambda: room)
    monkeypatch.setattr(runner, "_in_pool", lambda parts, count, progress: started.append(count) or [])
    store = Store(tmp_path / "runs")
    wanted = [Wanted(make_cell(steps=0, log_every=every), (0,)) for every in (5, 10)]
    runner.run(runner.jobs(wanted, store, TWO_WORKERS), TWO_WORKERS, quiet=True)
    assert (started or [1]) == [workers]
    assert ("training 1 group of cells at a time" in capsys.readouterr().err) == (workers == 1)


def test_a_group_that_does_not_fit_is_split_and_a_cell_that_does_not_fit_is_refused(
    make_cell: MakeCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [make_cell(layers, evaluation_size=1_000_000) for layers in ("nau nau", "nac nac", "nau nmu")]
    todo = runner.jobs([Wanted(cell, (0,)) for cell in cells], Store(tmp_path / "runs"), TWO_WORKERS)
    alone = memory.needed([cells[0]])
    monkeypatch.setattr(memory, "available", lambda: alone + 1)
    parts, workers = runner._affordable(todo, 1)
    assert ([len(part) for part in parts], workers) == ([1, 1, 1], 1)
    monkeypatch.setattr(memory, "available", lambda: alone - 1)
    with pytest.raises(
        UsageError, match=r"a block of ten_parameter .* needs about .* GB of memory, and .* GB are free"
    ):
        runner.run(todo, TWO_WORKERS, quiet=True)
