"""Several processes, one store: what one trains, the others leave to it."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.machine import Machine
from nalu_bench.run import runner
from nalu_bench.run.runner import Job
from nalu_bench.store import claims
from nalu_bench.store.claims import ClaimLostError, Claims, Held
from nalu_bench.store.reader import Store
from nalu_bench.training import loop

MakeCell = Callable[..., Cell]
MACHINE = Machine("cpu", compile=False, workers=1)

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


def jobs(store: Store, *cells: Cell) -> list[Job]:
    return runner.jobs([Wanted(cell, (0,)) for cell in cells], store, MACHINE)


def test_a_block_that_another_process_trains_is_waited_for_after_all_else_is_done(
    store: Store, make_cell: MakeCell, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = make_cell("nau nmu"), make_cell("nau nau")
    todo = jobs(store, first, second)
    other = Claims()
    held = other.take(todo[0].claim, 20)
    assert held is not None

    def finish() -> None:
        while not store.stored_seeds(second):
            time.sleep(0.05)
        assert not store.stored_seeds(first)
        todo[0].part.parent.mkdir(parents=True)
        todo[1].part.rename(todo[0].part)  # any sound part will do
        other.release(held)

    thread = threading.Thread(target=finish)
    thread.start()
    assert runner.run(todo, MACHINE) == []
    thread.join()
    error = capsys.readouterr().err
    assert f"1 block is being trained by process {os.getpid()} on " in error
    assert "blocks 2/2" in error
    assert not store.stored_seeds(second), "it is not trained again: what was renamed is there"


def test_a_block_that_another_process_gives_up_is_taken_over(store: Store, make_cell: MakeCell) -> None:
    (job,) = todo = jobs(store, make_cell())
    other = Claims()
    held = other.take(job.claim, 20)
    assert held is not None
    thread = threading.Timer(1.5, other.release, [held])
    thread.start()
    assert runner.run(todo, MACHINE) == []
    thread.join()
    assert job.part.exists()


def test_a_block_that_was_stored_since_the_plan_was_made_is_not_trained(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    todo = jobs(store, make_cell())
    assert runner.run(todo, MACHINE) == []
    monkeypatch.setattr(loop, "train_together", lambda *_: pytest.fail("trained again"))
    assert runner.run(todo, MACHINE) == []
    assert not list(todo[0].claim.parent.iterdir())


def test_an_owner_that_lost_its_claim_stops_and_leaves_the_block(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = make_cell("nau nmu"), make_cell("nau nau")
    todo = jobs(store, first, second)
    reached, steps = Held.reached, list[int]()

    def lost(held: Held, step: int) -> None:
        reached(held, step)
        if held.path == todo[0].claim:
            steps.append(step)
            if step == 10 and steps.count(10) == 1:
                raise ClaimLostError

    monkeypatch.setattr(Held, "reached", lost)
    outcome = runner.train(todo, lambda *_: None)
    assert outcome.failures == []
    assert outcome.left == [todo[0]]
    assert steps == [0, 5, 10]
    assert store.stored_seeds(second)
    assert not store.failures(first)


@pytest.mark.parametrize("error", [None, RuntimeError, KeyboardInterrupt])
def test_a_claim_ends_with_its_block_however_that_ends(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch, error: type[BaseException] | None
) -> None:
    (job,) = todo = jobs(store, make_cell())
    evaluate, seen = loop._Loop.evaluate, list[bool]()

    def checked(self: loop._Loop) -> None:
        seen.append(job.claim.exists())
        evaluate(self)
        if error:
            raise error("no luck")

    monkeypatch.setattr(loop._Loop, "evaluate", checked)
    if error is KeyboardInterrupt:
        with pytest.raises(KeyboardInterrupt):
            runner.run(todo, MACHINE)
    else:
        assert len(runner.run(todo, MACHINE)) == (1 if error else 0)
    assert seen
    assert all(seen)
    assert not list(job.claim.parent.iterdir())


def test_a_store_that_cannot_be_written_is_found_before_training(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    todo = jobs(store, make_cell())
    monkeypatch.setattr(claims.System, "write", full)
    monkeypatch.setattr(loop, "train_together", lambda *_: pytest.fail("trained"))
    (line,) = runner.run(todo, MACHINE)
    assert "no space left on device" in line


def test_a_damaged_part_is_set_aside_and_its_block_trained_again(
    store: Store, make_cell: MakeCell, capsys: pytest.CaptureFixture[str]
) -> None:
    (job,) = todo = jobs(store, make_cell())
    runner.run(todo, MACHINE)
    expected = store.curves(job.cell)
    (job.part / "curves.parquet").unlink()
    assert store.stored_seeds(job.cell) == set()
    assert jobs(store, job.cell) == todo
    assert runner.run(todo, MACHINE) == []
    assert "parts/0-24 is damaged (curves.parquet not there): moved to" in capsys.readouterr().err
    pd.testing.assert_frame_equal(store.curves(job.cell), expected, check_exact=True)
    assert store.damaged(job.cell) == {}
    assert len(list((store.root / job.cell.folder / "damaged").iterdir())) == 1


CAMPAIGN = [
    "-m", "task=ten_parameter", "model=nau,nmu,nac,linear", "seeds=75", "recipe.steps=1500", "recipe.log_every=100",
    "budget=smoke", "compile=false",
]  # fmt: skip
BLOCKS = 12
KILLS = 12


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_four_processes_that_are_killed_at_random_lose_no_block_and_train_none_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(time.time_ns())
    log = (tmp_path / "log").open("w+", encoding="utf-8")

    def start(home: str, workers: int) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "nalu_bench", "run", *CAMPAIGN, f"device.workers={workers}"]
        environment = os.environ | {"NALU_BENCH_HOME": str(tmp_path / home)}
        return subprocess.Popen(command, env=environment, stdout=log, stderr=log)

    assert start("alone", 1).wait() == 0
    running = [start("shared", workers) for workers in (1, 1, 1, 2)]
    for _ in range(KILLS):
        time.sleep(chance.uniform(0.5, 6))
        number = chance.randrange(len(running))
        running[number].send_signal(signal.SIGKILL)
        running[number].wait()
        running[number] = start("shared", 1 + number // 3)
    assert [process.wait() for process in running] == [0] * 4

    log.seek(0)
    text = log.read()
    assert "stored by another process already" not in text, "trained twice"
    assert "is damaged" not in text
    assert "Traceback" not in text
    alone, shared = ({path.parent: path for path in parts(tmp_path / home)} for home in ("alone", "shared"))
    assert len(alone) == len(shared) == BLOCKS
    for one, other in zip(sorted(alone), sorted(shared), strict=True):
        assert one.relative_to(tmp_path / "alone") == other.relative_to(tmp_path / "shared")
        for name in ("curves.parquet", "runs.parquet", "parameters.npz", "weights.parquet"):
            assert (one / name).read_bytes() == (other / name).read_bytes()
    assert not list((tmp_path / "shared").glob("runs/*/*/*/claims/*"))
    assert not list((tmp_path / "shared").glob("runs/*/*/*/damaged"))


def parts(home: Path) -> list[Path]:
    return list(home.glob("runs/*/*/*/parts/[0-9]*/manifest.json"))


def test_a_block_is_named_by_its_span(store: Store, make_cell: MakeCell) -> None:
    (job,) = jobs(store, make_cell())
    assert job.block == Block(0)
    assert (job.part.name, job.claim.name) == ("0-24", "0-24.json")
