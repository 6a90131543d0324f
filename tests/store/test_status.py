"""What the run store tells of a plan: done, running, failed, missing."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nalu_bench.cli import main
from nalu_bench.plan import compose
from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.result import BlockResult
from nalu_bench.store import schema, status, writer
from nalu_bench.store.leases import Leases
from nalu_bench.store.reader import Store

MakeCell = Callable[..., Cell]


def write(store: Store, cell: Cell, number: int = 0) -> Path:
    """Store an invented block."""
    zeros = np.zeros(25, int)
    columns = {f"{split}_{kind}": np.zeros((1, 25)) for split in cell.task.evaluated for kind in ("mse", "mae")}
    result = BlockResult(Block(number), np.array([0]), columns, zeros, zeros - 1, {}, {}, {}, {}, {}, 1.0)
    writer.write_part(store.root, cell, result, {"device": "cpu", "mode": "eager", "commit": "none"})
    return schema.parts_dir(store.root / cell.folder) / Block(number).span


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


def test_every_seed_asked_for_is_counted_once(store: Store, make_cell: MakeCell) -> None:
    cell, other = make_cell(steps=1000), make_cell("nau nau", steps=1000)
    write(store, cell)
    writer.write_failure(store.root, cell, "25-49", {"seeds": Block(1).seeds, "traceback": "Traceback\nno luck"})
    checkpoint = schema.checkpoint_path(store.root / cell.folder, "75-99").with_suffix(".json")
    checkpoint.parent.mkdir()
    checkpoint.write_text(json.dumps({"step": 400}))
    owner = Leases()
    owned = owner.take(schema.lease_path(store.root / cell.folder, "50-74"), 1000)
    assert owned is not None
    owned.lease = replace(owned.lease, step=300, rate=10.0)
    owner.beat()
    found = status.read(store, [Wanted(cell, tuple(range(90))), Wanted(other, (0, 1))])
    one = found.cells[0]
    assert (one.done, one.failed, one.running, one.missing) == (25, 25, 25, 15)
    name, running, stopped, last, total = found.lines()
    assert name.endswith("25/90 runs, 25 running, 25 failed, 15 missing")
    where = f"process {owned.lease.process} on {owned.lease.host}, since {owned.lease.since}"
    assert running == f"  seeds 50-74: step 300 of 1,000 at 10 steps/s, 0:01:10 left; {where}"
    assert stopped == "  seeds 75-99: stopped at step 400 of 1,000"
    assert last.endswith("0/2 runs, 2 missing")
    left = "10 steps/s, about 0:03:50 left"  # 700 steps of one block, 600 and 1,000 of the others
    assert total == f"total: 0/2 cells, 25/92 runs, 25 running, 25 failed, 17 missing; {left}"
    assert not found.over
    writer.write_failure(store.root, other, "0-24", {"seeds": Block(0).seeds, "traceback": "Traceback\nno luck"})
    assert status.read(store, [Wanted(cell, tuple(range(50))), Wanted(other, (0, 1))]).over


def test_the_lease_of_a_dead_process_is_not_shown_as_running(store: Store, make_cell: MakeCell) -> None:
    cell = make_cell()
    path = schema.lease_path(store.root / cell.folder, "0-24")
    owned = Leases().take(path, 1000)
    assert owned is not None
    path.write_text(replace(owned.lease, started=0.0).text())
    assert status.read(store, [Wanted(cell, (0,))]).lines()[0].endswith("0/1 runs, 1 missing")


def rename(part: Path) -> None:
    part.rename(part.with_name("0-49"))


def truncate(part: Path) -> None:
    (part / "manifest.json").write_text('{"seeds"')


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (rename, "0-49 (manifest.json says seeds 0-24)"),
        (lambda part: (part / "curves.parquet").unlink(), "0-24 (curves.parquet not there)"),
        (lambda part: (part / "parameters.npz").unlink(), "0-24 (parameters.npz not there)"),
        (lambda part: (part / "manifest.json").unlink(), "0-24 (manifest.json is not there)"),
        (truncate, "0-24 (manifest.json cannot be read: "),
        (lambda part: (part / "manifest.json").write_text("[]"), "0-24 (manifest.json cannot be read: "),
    ],
)
def test_a_damaged_part_is_named_and_its_seeds_are_missing(
    store: Store, make_cell: MakeCell, damage: Callable[[Path], None], why: str
) -> None:
    cell = make_cell()
    damage(write(store, cell))
    name, damaged, total = status.read(store, [Wanted(cell, (0, 1))]).lines()
    assert name.endswith("0/2 runs, 2 missing")
    assert damaged.startswith(f"  damaged, does not count: {store.root / cell.folder}/parts/{why}")
    assert "0/2 runs" in total


def test_a_thousand_cells_are_read_in_about_a_second(store: Store, make_cell: MakeCell) -> None:
    cells = [make_cell(learning_rate=0.001 * number) for number in range(1, 1001)]
    for number in (0, 1):
        part = write(store, cells[0], number)
    folder = store.root / cells[0].folder
    for cell in cells[1:]:
        for part in (folder / "parts").iterdir():
            copy = store.root / cell.folder / "parts" / part.name
            copy.mkdir(parents=True)
            for file in part.iterdir():
                (copy / file.name).hardlink_to(file)
            text = (copy / "manifest.json").read_text().replace(cells[0].digest, cell.digest)
            (copy / "manifest.json").unlink()
            (copy / "manifest.json").write_text(text)
    wanted = [Wanted(cell, tuple(range(50))) for cell in cells]
    started = time.process_time()
    found = status.read(store, wanted)
    seconds = time.process_time() - started
    assert found.total() == "total: 1,000/1,000 cells, 50,000/50,000 runs"
    assert seconds < 3.0  # 0.4 s on an idle machine


def test_status_takes_the_name_of_an_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    for name in ("madsen2020/table1", "experiment=madsen2020/table1"):
        assert main(["status", name, "budget=smoke"]) == 0
        assert "total: 0/6 cells, 0/12 runs, 12 missing" in capsys.readouterr().out
    assert main(["status", "madsen2020/tabel1"]) == 2
    assert "did you mean 'madsen2020/table1'" in capsys.readouterr().err


@pytest.mark.parametrize("interrupted", [True, False])
def test_watch_draws_until_all_is_done_or_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], interrupted: bool
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    arguments = ["task=ten_parameter", "model=nmu", "budget=smoke", "seeds=2"]
    (want,) = compose.plan_cells(arguments, multirun=False).cells
    pauses = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if interrupted:
            raise KeyboardInterrupt
        write(Store(tmp_path / "runs"), want.cell)

    monkeypatch.setattr(status.time, "sleep", sleep)
    assert main(["status", "--watch", *arguments]) == 0
    drawn = capsys.readouterr()
    assert "interrupted" not in drawn.err
    assert len(pauses) == 1
    totals = [line for line in drawn.out.splitlines() if line.startswith("total")]
    expected = ["total: 0/1 cells, 0/2 runs, 2 missing", "total: 1/1 cells, 2/2 runs"]
    assert totals == expected[: 1 if interrupted else 2]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["seeds=1000000000"], "seeds must be at most 100,000, got 1,000,000,000."),
        (["first_seed=2147483648", "seeds=1"], "first_seed + seeds must be at most 2,000,000,000, got 2,147,483,649."),
        (["first_seed=1999999990", "seeds=20"], "first_seed + seeds must be at most 2,000,000,000, got 2,000,000,010."),
    ],
)
@pytest.mark.parametrize("verb", ["run", "status"])
def test_seeds_that_cannot_be_meant_are_refused_at_once(
    verb: str, overrides: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    started = time.monotonic()
    assert main([verb, "task=ten_parameter", "model=nmu", "budget=smoke", *overrides]) == 2
    assert message in capsys.readouterr().err
    assert time.monotonic() - started < 5


def test_the_last_seeds_that_are_allowed_can_be_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    cell = ["task=ten_parameter", "model=nmu", "budget=smoke", "device.workers=1"]
    assert main(["run", *cell, "seeds=1", "first_seed=1999999999", "device.width=7"]) == 0
    assert "Runs: 1 finished" in capsys.readouterr().out
