"""The estimate of memory, and how the runner uses it."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.machine import Machine
from nalu_bench.running import memory, runner
from nalu_bench.running.available import group_rests
from nalu_bench.running.jobs import pending
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


def test_the_estimate_grows_with_the_hidden_size(make_cell: MakeCell) -> None:
    needs = [memory.needed([resized(make_cell("nau nau"), size)]) for size in (2, 1_000, 1_000_000)]
    # 5 parameters a hidden unit, 25 seeds, 4 bytes: 12 copies of these are the least
    assert needs[1] > needs[0]
    assert needs[2] - needs[1] > 12 * 25 * 4 * 5 * 999_000


def test_a_network_beyond_what_can_be_counted_is_an_estimate_too(make_cell: MakeCell) -> None:
    assert memory.needed([resized(make_cell("nau nau"), 10**18)]) > 2**60


def resized(cell: Cell, hidden_size: int) -> Cell:
    return replace(cell, model=replace(cell.model, hidden_size=hidden_size))  # type: ignore[call-arg]


GROWTH = """
import ctypes, sys
from pathlib import Path
import psutil, torch
from nalu_bench.plan import compose
from nalu_bench.plan.blocks import Block
from nalu_bench.running import memory
from nalu_bench.training.compilation import Mode
from nalu_bench.training.loop import train_block

def train(*overrides):
    cell = compose.plan_cells([*overrides, "budget=smoke"], multirun=False).cells[0].cell
    train_block(cell, Block(0), Mode("cpu", False), Path("absent"), lambda *given: None)
    return cell

torch.set_num_threads(1)
train("task=ten_parameter")
give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)  # what is freed already is no part of the base
if give_back:
    give_back(0)
base = psutil.Process().memory_info().rss
cell = train(*sys.argv[1:])
peak = 1024 * int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
print(base, peak, memory.needed([cell]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak of a process is read from /proc")
@pytest.mark.parametrize(
    "overrides",
    [
        ["task=ten_parameter", "model=nmu", "recipe.evaluation_size=300000"],
        ["task=arithmetic", "model=nalu", "model.hidden_size=40"],
        ["task=arithmetic", "model=nac", "recipe.batch_size=3000"],
    ],
)
def test_a_process_needs_no_more_than_the_estimate_and_its_block_not_far_less(overrides: list[str]) -> None:
    command = [sys.executable, "-c", GROWTH, *overrides]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    base, peak, needed = map(int, done.stdout.split())
    assert peak <= needed
    assert needed - memory.PROCESS <= 4 * (peak - base)


@pytest.mark.parametrize(
    "overrides",
    [
        ["model=nau", "model.hidden_size=1000000"],
        ["task=recurrent_arithmetic", "model=lstm", "model.hidden_size=2000000000"],
        ["task=identity", "model=mlp", "model.hidden=[1000000,1000000]"],
        ["model=linear", "task.operation=add", "task.features=2000000000"],
    ],
)
def test_a_size_that_cannot_fit_is_refused_at_once_with_the_key_to_lower(
    overrides: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import torch  # whose import is not what is timed

    assert torch.__version__
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    monkeypatch.setattr(memory, "available", lambda: 8 * 2**30)
    before, started = psutil.Process().memory_info().rss, time.monotonic()
    assert main(["run", *overrides, "budget=smoke"]) == 2
    assert time.monotonic() - started < 5  # 0.3 s on an idle machine
    assert psutil.Process().memory_info().rss - before < 200 * 2**20
    message = capsys.readouterr().err
    assert "must fit into the 8.0 GB of memory that are free" in message
    assert f"lower {overrides[-1].partition('=')[0]}" in message or "the task's inputs" in message


def test_this_system_tells_what_is_free() -> None:
    assert 2**20 < memory.available() <= psutil.virtual_memory().total


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("0::/job/step", ("memory.max", "memory.current", "inactive_file")),
        (
            "4:cpu,memory:/job/step",
            ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "total_inactive_file"),
        ),
    ],
)
def test_the_limit_of_a_group_around_the_process_counts(tmp_path: Path, line: str, names: tuple[str, str, str]) -> None:
    limit, used, cached = names
    top, _, file = limit.rpartition("/")
    for folder, most in ((tmp_path / top / "job", "1000"), (tmp_path / top / "job/step", "max")):
        folder.mkdir(parents=True)
        (folder / file).write_text(most + "\n")
        (folder / used.rpartition("/")[2]).write_text("300\n")
        (folder / "memory.stat").write_text(f"anon 200\n{cached} 50\n")
    (tmp_path / "groups").write_text(f"1:pids:/\n{line}\n")
    assert list(group_rests(tmp_path / "groups", tmp_path)) == [1000 - 300 + 50]
    assert list(group_rests(tmp_path / "absent", tmp_path)) == []
    (tmp_path / top / "job" / "memory.stat").unlink()
    assert list(group_rests(tmp_path / "groups", tmp_path)) == [1000 - 300]
    (tmp_path / top / "job" / used.rpartition("/")[2]).unlink()
    assert list(group_rests(tmp_path / "groups", tmp_path)) == []


@pytest.mark.parametrize(("room", "workers"), [(10**12, 2), (2**30, 1)])
def test_fewer_groups_are_trained_at_a_time_where_memory_is_short(
    make_cell: MakeCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    room: int, workers: int,
) -> None:  # fmt: skip
    started: list[int] = []
    monkeypatch.setattr(memory, "available", lambda: room)
    monkeypatch.setattr(runner, "_in_pool", lambda parts, count, progress: started.append(count) or [])
    store = Store(tmp_path / "runs")
    wanted = [Wanted(make_cell(steps=0, log_every=every), (0,)) for every in (5, 10)]
    runner.run_jobs(pending(wanted, store, TWO_WORKERS), TWO_WORKERS, quiet=True)
    assert (started or [1]) == [workers]
    assert ("training 1 group of cells at a time" in capsys.readouterr().err) == (workers == 1)


def test_groups_get_smaller_before_workers_get_fewer(
    make_cell: MakeCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [make_cell(evaluation_size=1_000_000, learning_rate=rate / 1000) for rate in range(1, 13)]
    todo = pending([Wanted(cell, (0,)) for cell in cells], Store(tmp_path / "runs"), TWO_WORKERS)
    whole, half = (memory.needed(cells[:size]) for size in (6, 3))
    for room, expected in ((2 * whole, ([6, 6], 2)), (2 * half, ([3] * 4, 2)), (half, ([3] * 4, 1))):
        monkeypatch.setattr(memory, "available", lambda room=room: room)
        parts, workers = runner._affordable(todo, 2)
        assert ([len(part) for part in parts], workers) == expected


def test_a_group_that_does_not_fit_is_split_and_a_cell_that_does_not_fit_is_refused(
    make_cell: MakeCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [make_cell(layers, evaluation_size=1_000_000) for layers in ("nau nau", "nac nac", "nau nmu")]
    todo = pending([Wanted(cell, (0,)) for cell in cells], Store(tmp_path / "runs"), TWO_WORKERS)
    alone = max(memory.needed([cell]) for cell in cells)
    monkeypatch.setattr(memory, "available", lambda: alone + 1)
    parts, workers = runner._affordable(todo, 1)
    assert ([len(part) for part in parts], workers) == ([1, 1, 1], 1)
    monkeypatch.setattr(memory, "available", lambda: alone - 1)
    with pytest.raises(
        UsageError, match=r"a block of ten_parameter .* must fit into .* that are free.*; lower model\.hidden_size, "
    ):
        runner.run_jobs(todo, TWO_WORKERS, quiet=True)
