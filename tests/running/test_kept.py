"""The line that says what an interrupted run has kept."""

from collections.abc import Callable
from pathlib import Path

from nalu_bench.plan.blocks import WIDTH
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.machine import Machine
from nalu_bench.running import runner
from nalu_bench.running.jobs import pending
from nalu_bench.running.kept import kept
from nalu_bench.store import schema
from nalu_bench.store.reader import Store

MakeCell = Callable[..., Cell]


def test_blocks_are_counted_by_what_the_store_holds_of_them(make_cell: MakeCell, tmp_path: Path) -> None:
    wanted = [Wanted(make_cell(), tuple(range(4 * WIDTH)))]
    todo = pending(wanted, Store(tmp_path), Machine("cpu", False, 1))
    folder = tmp_path / todo[0].cell.folder
    assert kept(todo) == "stopped: nothing yet of 4 blocks; the same command starts them."
    note = schema.checkpoint_path(folder, todo[1].block.span).with_suffix(".json")
    note.parent.mkdir(parents=True)
    note.write_text('{"step": 12400}')
    saved = f"1 kept by a checkpoint ({todo[1].label} at step 12,400)"
    assert kept(todo) == f"stopped: {saved}, nothing yet of 3 blocks; the same command goes on from there."
    runner.run_jobs(todo[:1], Machine("cpu", False, 1), quiet=True)
    assert kept(todo[:3]) == (
        f"stopped: 1 block stored, {saved}, nothing yet of 1 block; the same command goes on from there."
    )
