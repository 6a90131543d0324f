"""Several processes, one store: what one trains, the others leave to it."""

import contextlib
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import psutil
import pytest

from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.machine import Machine
from nalu_bench.running import elsewhere, runner, work
from nalu_bench.running.jobs import Job, pending
from nalu_bench.store import leases
from nalu_bench.store.leases import Lease, LeaseLostError, Leases, OwnLease, System
from nalu_bench.store.reader import Store
from nalu_bench.training import loop

MakeCell = Callable[..., Cell]
MACHINE = Machine("cpu", compile=False, workers=1)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


def jobs(store: Store, *cells: Cell) -> list[Job]:
    return pending([Wanted(cell, (0,)) for cell in cells], store, MACHINE)


def test_a_block_that_another_process_trains_is_waited_for_after_all_else_is_done(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = make_cell("nau nmu"), make_cell("nau nau")
    todo = jobs(store, first, second)
    other = Leases()
    owned = other.take(todo[0].lease, 20)
    assert owned is not None

    line, told = elsewhere._line, threading.Event()

    def tell(left: list[Job]) -> str:
        text = line(left)
        told.set()
        return text

    monkeypatch.setattr(elsewhere, "_line", tell)

    def finish() -> None:
        assert told.wait(60)
        assert store.stored_seeds(second)
        assert not store.stored_seeds(first)
        todo[0].part.parent.mkdir(parents=True)
        todo[1].part.rename(todo[0].part)  # any sound part will do
        other.release(owned)

    thread = threading.Thread(target=finish)
    thread.start()
    assert runner.run_jobs(todo, MACHINE) == []
    thread.join()
    error = capsys.readouterr().err
    assert f"1 block is being trained by process {os.getpid()} on " in error
    assert "blocks 2/2" in error
    assert not store.stored_seeds(second), "it is not trained again: what was renamed is there"


def test_a_block_that_another_process_gives_up_is_taken_over(store: Store, make_cell: MakeCell) -> None:
    (job,) = todo = jobs(store, make_cell())
    other = Leases()
    owned = other.take(job.lease, 20)
    assert owned is not None
    thread = threading.Timer(1.5, other.release, [owned])
    thread.start()
    assert runner.run_jobs(todo, MACHINE) == []
    thread.join()
    assert job.part.exists()


def test_a_block_that_was_stored_since_the_plan_was_made_is_not_trained(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    todo = jobs(store, make_cell())
    assert runner.run_jobs(todo, MACHINE) == []
    monkeypatch.setattr(loop, "train_together", lambda *_: pytest.fail("trained again"))
    assert runner.run_jobs(todo, MACHINE) == []
    assert not list(todo[0].lease.parent.iterdir())


def test_an_owner_that_lost_its_lease_stops_and_leaves_the_block(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make_cell("nau nmu"), make_cell("nau nau")
    todo = jobs(store, first, second)
    reached, steps = OwnLease.reached, list[int]()

    def lost(owned: OwnLease, step: int) -> None:
        reached(owned, step)
        if owned.path == todo[0].lease:
            steps.append(step)
            if step == 10 and steps.count(10) == 1:
                raise LeaseLostError

    monkeypatch.setattr(OwnLease, "reached", lost)
    told = list[tuple[str, int]]()
    outcome = work.train_group(todo, lambda label, steps, solved: told.append((label, steps)))
    assert outcome.failures == []
    assert outcome.left == [todo[0]]
    made = {job.label: sum(steps for label, steps in told if label == job.label) for job in todo}
    assert made == {todo[0].label: 0, todo[1].label: 20}, "the bar counts it when it is stored"
    assert steps == [0, 5, 10]
    assert store.stored_seeds(second)
    assert not store.failures(first)


@pytest.mark.parametrize("error", [None, RuntimeError, KeyboardInterrupt])
def test_a_lease_ends_with_its_block_however_that_ends(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch, error: type[BaseException] | None
) -> None:
    (job,) = todo = jobs(store, make_cell())
    evaluate, seen = loop._Loop.evaluate, list[bool]()

    def checked(self: loop._Loop) -> None:
        seen.append(job.lease.exists())
        evaluate(self)
        if error:
            raise error("no luck")

    monkeypatch.setattr(loop._Loop, "evaluate", checked)
    if error is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            runner.run_jobs(todo, MACHINE)
    else:
        assert len(runner.run_jobs(todo, MACHINE)) == (1 if error else 0)
    assert seen
    assert all(seen)
    assert not list(job.lease.parent.iterdir())


def test_a_store_that_cannot_be_written_is_found_before_training(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    todo = jobs(store, make_cell())
    monkeypatch.setattr(leases.System, "write", full)
    monkeypatch.setattr(loop, "train_together", lambda *_: pytest.fail("trained"))
    (line,) = runner.run_jobs(todo, MACHINE)
    assert "no space left on device" in line


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "curves.parquet not there"), (b"cut", "curves.parquet must have the SHA-256 of manifest.json")],
)
def test_a_damaged_part_is_set_aside_and_its_block_trained_again(
    store: Store, make_cell: MakeCell, capsys: pytest.CaptureFixture[str], content: bytes | None, why: str
) -> None:
    (job,) = todo = jobs(store, make_cell())
    runner.run_jobs(todo, MACHINE)
    expected = store.curves(job.cell)
    store = Store(store.root, hashed=True)
    (job.part / "curves.parquet").unlink()
    if content is not None:
        (job.part / "curves.parquet").write_bytes(content)
    assert store.stored_seeds(job.cell) == set()
    assert jobs(store, job.cell) == todo
    assert runner.run_jobs(todo, MACHINE) == []
    assert f"parts/0-24 is damaged ({why}" in capsys.readouterr().err
    pd.testing.assert_frame_equal(store.curves(job.cell), expected, check_exact=True)
    assert store.sorted_out(job.cell)[1] == {}
    assert len(list((store.root / job.cell.folder / "damaged").iterdir())) == 1


@pytest.mark.parametrize("put", [Path.touch, os.mkfifo, lambda path: path.symlink_to("nowhere")])
def test_whatever_is_no_folder_in_the_place_of_a_part_is_set_aside_and_its_block_trained(
    store: Store, make_cell: MakeCell, capsys: pytest.CaptureFixture[str], put: Callable[[Path], None]
) -> None:
    (job,) = todo = jobs(store, make_cell())
    job.part.parent.mkdir(parents=True)
    put(job.part)
    assert runner.run_jobs(todo, MACHINE) == []
    assert "parts/0-24 is damaged (it must be a folder" in capsys.readouterr().err
    assert len(store.runs(job.cell)) == len(job.block.seeds)


CAMPAIGN = [
    "-m", "task=ten_parameter", "model=nau,nmu,nac,linear", "seeds=75", "recipe.steps=200", "recipe.log_every=20",
    "recipe.evaluation_size=100", "budget=smoke", "compile=false",
]  # fmt: skip
BLOCKS = 12


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kills", [3, pytest.param(8, marks=pytest.mark.thorough)])
def test_four_processes_that_are_killed_at_random_lose_no_block_and_train_none_twice(
    kills: int, tmp_path: Path
) -> None:
    chance, alone, shared = random.Random(time.time_ns()), tmp_path / "alone", tmp_path / "shared"
    with contextlib.ExitStack() as stack:

        def start(home: Path, workers: int) -> "subprocess.Popen[bytes]":
            command = [sys.executable, "-m", "nalu_bench", "run", *CAMPAIGN, f"device.workers={workers}"]
            environment = os.environ | {"NALU_BENCH_HOME": str(home)}
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        log = stack.enter_context((tmp_path / "log").open("w", encoding="utf-8"))
        assert start(alone, 1).wait() == 0
        running = [start(shared, workers) for workers in (1, 1, 1, 2)]
        for _ in range(kills):
            time.sleep(chance.uniform(0, 1))
            number = training(shared, running, chance)
            running[number].kill()
            running[number].wait()
            running[number] = start(shared, 1 + number // 3)
        assert [process.wait() for process in running] == [0] * 4
    text = (tmp_path / "log").read_text(encoding="utf-8")
    for trouble in ("stored by another process already", "is damaged", "Traceback"):
        assert trouble not in text
    expected, found = (sorted(home.glob("runs/*/*/*/parts/[0-9]*")) for home in (alone, shared))
    assert len(expected) == BLOCKS
    assert [part.relative_to(shared) for part in found] == [part.relative_to(alone) for part in expected]
    for one, other in zip(expected, found, strict=True):
        for name in ("curves.parquet", "runs.parquet", "parameters.npz", "weights.parquet"):
            assert (one / name).read_bytes() == (other / name).read_bytes()
    assert not list(shared.glob("runs/*/*/*/leases/*"))
    assert not list(shared.glob("runs/*/*/*/damaged"))


def training(home: Path, running: "list[subprocess.Popen[bytes]]", chance: random.Random) -> int:
    """The number of a process that trains a block, itself or by a worker; waits for one."""
    numbers = {process.pid: number for number, process in enumerate(running)}
    while True:
        texts = [System().read(path) for path in home.glob("runs/*/*/*/leases/[0-9]*.json")]
        leases = [lease for text in texts if (lease := Lease.parsed(text or "")) and not System().dead(lease)]
        with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
            owners = {lease.process: psutil.Process(lease.process).ppid() for lease in leases}
            found = [numbers[process] for pair in owners.items() for process in pair if process in numbers]
            if found:
                return chance.choice(found)
        time.sleep(0.1)


def test_a_block_is_named_by_its_span(store: Store, make_cell: MakeCell) -> None:
    (job,) = jobs(store, make_cell())
    assert job.block == Block(0)
    assert (job.part.name, job.lease.name) == ("0-24", "0-24.json")
