"""The run store: written once, read as a union, and whole after a failure half-way."""

import errno
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nalu_bench import files
from nalu_bench.errors import UsageError
from nalu_bench.models.layer import Layer
from nalu_bench.plan.blocks import WIDTH, Block
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.identity import canonical
from nalu_bench.plan.machine import Machine
from nalu_bench.plan.result import BlockResult
from nalu_bench.running import check, runner
from nalu_bench.running.jobs import Job, pending
from nalu_bench.store import reader, schema, writer
from nalu_bench.store.reader import Store
from nalu_bench.training import loop
from nalu_bench.training.compilation import Mode
from nalu_bench.training.loop import train_block

MakeCell = Callable[..., Cell]

MACHINE = Machine("cpu", compile=False, workers=1)
EAGER = Mode("cpu", compiled=False)
ALL = Block(0)


def missing(store: Store, cell: Cell, seeds: range) -> list[Job]:
    return pending([Wanted(cell, tuple(seeds))], store, MACHINE)


def train(store: Store, cell: Cell, seeds: range) -> list[str]:
    return runner.run_jobs(missing(store, cell, seeds), MACHINE)


def trained(cell: Cell, path: Path, block: Block = ALL) -> BlockResult:
    return train_block(cell, block, EAGER, path / "unused.pt", lambda step, solved: None)


def write(store: Store, cell: Cell, result: BlockResult) -> None:
    writer.write_part(store.root, cell, result, EAGER.describe() | {"commit": "unknown"})


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An empty store, in which no temporary file may be left behind."""
    store = Store(tmp_path / "runs")
    yield store
    left = [path.name for path in store.root.rglob("*") if path.name.endswith(".tmp") or path.suffix == ".pt"]
    assert not left


def test_what_was_trained_is_read_back(store: Store, make_cell: MakeCell, tmp_path: Path) -> None:
    cell = make_cell()
    assert train(store, cell, range(2)) == []
    result = trained(cell, tmp_path)

    curves = store.curves(cell)
    assert curves["seed"].tolist() == [seed for seed in range(WIDTH) for _ in range(5)]
    assert curves["step"].tolist() == [0, 5, 10, 15, 20] * WIDTH
    for name, column in result.columns.items():
        np.testing.assert_array_equal(curves[name], column.T.ravel())

    runs = store.runs(cell)
    assert runs["seed"].tolist() == list(range(WIDTH))
    assert set(runs["status"]) == {"finished"}
    assert set(runs["last_step"]) == {20}
    assert runs["diverged_at"].isna().all()
    assert runs["selected_step"].tolist() == result.selected_step.tolist()
    for name, column in result.columns.items():
        at_selected = [
            column[result.steps.tolist().index(step), lane] for lane, step in enumerate(runs["selected_step"])
        ]
        np.testing.assert_array_equal(runs[name], at_selected)
    assert set(runs["part"]) == {"0-24"}
    assert set(runs["device"]) == {"cpu"}
    assert set(runs["mode"]) == {"eager"}

    weights = store.weights(cell)
    for row in weights.itertuples():
        W = result.weights[str(row.name)][row.seed]
        np.testing.assert_array_equal(np.reshape(row.values, row.shape), W)
    assert len(weights) == WIDTH * len(result.weights)


def test_the_folder_of_a_cell_says_what_its_address_is_the_hash_of(store: Store, make_cell: MakeCell) -> None:
    cell = make_cell(steps=0)
    train(store, cell, range(1))
    identity = json.loads((store.root / cell.folder / schema.CELL).read_text())
    assert hashlib.sha256(canonical(identity).encode()).hexdigest()[:16] == cell.digest == cell.folder.name
    (manifest,) = store.manifests(cell)
    assert manifest["seeds"] == "0-24"
    assert {"device", "mode", "torch", "numpy", "python", "commit", "processor", "finished"} <= set(manifest)


@pytest.mark.parametrize("text", ["[]", "{", "\xff"])
def test_a_damaged_configuration_is_written_again_with_the_next_part(
    store: Store, make_cell: MakeCell, text: str
) -> None:
    cell = make_cell(steps=0)
    train(store, cell, range(1))
    path = store.root / cell.folder / schema.CELL
    before = path.read_bytes()
    path.write_text(text, encoding="latin-1")
    train(store, cell, range(WIDTH, WIDTH + 1))
    assert path.read_bytes() == before


def test_an_unknown_cell_has_no_runs(store: Store, make_cell: MakeCell) -> None:
    cell = make_cell()
    assert store.stored_seeds(cell) == set()
    assert store.runs(cell).empty
    assert store.failures(cell) == {}


def test_a_block_is_stored_whole_so_that_more_of_its_seeds_train_nothing(store: Store, make_cell: MakeCell) -> None:
    cell = make_cell(steps=0)
    train(store, cell, range(10))
    before = contents(store.root)
    assert missing(store, cell, range(25)) == []
    assert [job.block for job in missing(store, cell, range(27))] == [Block(1)]
    train(store, cell, range(27))
    assert [part.name for part in store.parts(cell)] == ["0-24", "25-49"]
    assert contents(store.root).items() >= before.items()
    assert missing(store, cell, range(50)) == []


def test_an_older_part_of_fewer_seeds_counts_and_its_block_is_stored_beside_it(
    store: Store, make_cell: MakeCell, tmp_path: Path
) -> None:
    cell = make_cell()
    older(store, cell, tmp_path)
    assert store.stored_seeds(cell) == set(range(10))
    assert missing(store, cell, range(10)) == []
    before = contents(store.root)
    train(store, cell, range(11))
    assert [part.name for part in store.parts(cell)] == ["0-24", "0-9"]
    assert contents(store.root).items() >= before.items()
    assert store.runs(cell)["seed"].tolist() == list(range(25))
    for name, column in trained(cell, tmp_path).columns.items():
        np.testing.assert_array_equal(store.curves(cell)[name], column.T.ravel())


def older(store: Store, cell: Cell, path: Path) -> None:
    """Store the first ten seeds of a block, as earlier versions did when no more were asked for."""
    whole, ten = trained(cell, path), slice(10)
    arrays = {name: {key: value[ten] for key, value in getattr(whole, name).items()} for name in FIRST_AXIS}
    columns = {name: column[:, ten] for name, column in whole.columns.items()}
    facts = {"selected_step": whole.selected_step[ten], "diverged_at": whole.diverged_at[ten]}
    write(store, cell, replace(whole, block=Block(0, 10), columns=columns, **facts, **arrays))


FIRST_AXIS = ("parameters", "weights", "gates", "tested", "arrays")


def test_seeds_of_several_blocks_become_several_jobs(store: Store, make_cell: MakeCell) -> None:
    cell = make_cell(steps=0)
    assert [job.block.number for job in missing(store, cell, range(20, 60))] == [0, 1, 2]
    train(store, cell, range(24, 27))
    assert [part.name for part in store.parts(cell)] == ["0-24", "25-49"]
    assert store.runs(cell)["seed"].tolist() == list(range(50))


def test_a_part_is_never_overwritten(store: Store, make_cell: MakeCell, tmp_path: Path) -> None:
    cell = make_cell(steps=0)
    result = trained(cell, tmp_path)
    write(store, cell, result)
    before = contents(store.root)
    other = {name: column + 1 for name, column in result.columns.items()}
    write(store, cell, replace(result, columns=other))
    assert contents(store.root) == before


def test_overlapping_parts_give_one_row_a_seed(store: Store, make_cell: MakeCell, tmp_path: Path) -> None:
    cell = make_cell(steps=5)
    for block in (Block(0, 2), Block(0, 3), Block(2, 1)):
        write(store, cell, trained(cell, tmp_path, block))
    assert [part.name for part in store.parts(cell)] == ["0-1", "0-2", "2"]
    assert store.stored_seeds(cell) == {0, 1, 2}
    assert store.runs(cell)["seed"].tolist() == [0, 1, 2]
    assert store.curves(cell)["seed"].tolist() == [0, 0, 1, 1, 2, 2]
    assert not store.weights(cell).duplicated(["seed", "name"]).any()


def test_diverged_runs_are_stored_with_what_became_of_them(store: Store, make_cell: MakeCell) -> None:
    cell = make_cell("linear linear", learning_rate=1e30)
    assert train(store, cell, range(2)) == []
    runs = store.runs(cell)
    assert runs["status"].tolist() == ["diverged"] * WIDTH
    assert runs["diverged_at"].tolist() == runs["last_step"].tolist() == [2] * WIDTH
    assert runs["selected_step"].isna().all()
    assert runs["validation_mse"].isna().all()
    assert missing(store, cell, range(2)) == []


def test_parts_with_and_without_diverged_runs_are_read_together(
    store: Store, make_cell: MakeCell, tmp_path: Path
) -> None:
    cell = make_cell(steps=5)
    write(store, cell, trained(cell, tmp_path, Block(0, 1)))
    result = trained(cell, tmp_path, Block(1, 1))
    write(store, cell, replace(result, diverged_at=np.array([4]), selected_step=np.array([-1])))
    runs = store.runs(cell)
    assert runs["status"].tolist() == ["finished", "diverged"]
    assert runs["diverged_at"].isna().tolist() == [True, False]
    assert runs["selected_step"].isna().tolist() == [False, True]


def fail(message: str, error: type[BaseException] = RuntimeError) -> Callable[..., Any]:
    def raising(*arguments: Any) -> Any:
        raise error(message)

    return raising


def test_a_cell_that_fails_is_stored_as_failed_and_tried_again(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = make_cell(steps=0)
    with monkeypatch.context() as patch:
        patch.setattr(loop._Loop, "__init__", fail("out of memory"))
        (line,) = train(store, cell, range(2))
    assert "RuntimeError: out of memory" in line
    path = schema.failure_path(store.root / cell.folder, "0-24")
    assert str(path) in line
    assert json.loads(path.read_text())["seeds"] == ALL.seeds
    assert store.failures(cell) == dict.fromkeys(ALL.seeds, "RuntimeError: out of memory")
    assert store.runs(cell).empty
    assert len(missing(store, cell, range(2))) == 1
    assert train(store, cell, range(2)) == []
    assert store.failures(cell) == {}
    assert not path.exists()


def test_a_failure_is_forgotten_once_its_seeds_are_stored_in_another_part(
    store: Store, make_cell: MakeCell, tmp_path: Path
) -> None:
    cell = make_cell(steps=0)
    writer.write_failure(store.root, cell, "0-1", {"seeds": [0, 1], "traceback": "Traceback\nRuntimeError: why"})
    write(store, cell, trained(cell, tmp_path, Block(0, 1)))
    assert store.failures(cell) == {1: "RuntimeError: why"}


@pytest.mark.parametrize(
    "wrong", [{"layers": [Layer("nau", {"no_such": 1}), Layer("nau", {})]}, {"penalties": {}}], ids=["option", "factor"]
)
def test_a_network_that_cannot_be_built_is_refused_before_anything_is_trained(
    store: Store, make_cell: MakeCell, wrong: dict[str, Any]
) -> None:
    cell, sound = make_cell("nau nau", steps=0), make_cell("nmu nmu", steps=0)
    broken = replace(cell, model=replace(cell.model, **wrong))
    wanted = [Wanted(cell, (0,)) for cell in (sound, broken)]
    with pytest.raises(UsageError, match=r"no_such|must name its units' penalties \(sparsity\), got none"):
        check.check(MACHINE, pending(wanted, store, MACHINE))
    assert store.stored_seeds(sound) == set()
    assert store.failures(broken) == {}


def test_one_cell_that_fails_does_not_cost_the_others(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, sound = make_cell("nau nau", steps=0), make_cell("nmu nmu", steps=0)
    result = loop._Loop.result

    def fail_for_broken(loop: loop._Loop) -> BlockResult:
        if loop.cell == broken:
            raise RuntimeError("no luck")
        return result(loop)

    monkeypatch.setattr(loop._Loop, "result", fail_for_broken)
    wanted = [Wanted(cell, (0,)) for cell in (broken, sound)]
    failures = runner.run_jobs(pending(wanted, store, MACHINE), MACHINE)
    assert len(failures) == 1
    assert "no luck" in failures[0]
    assert store.stored_seeds(sound) == set(ALL.seeds)
    assert list(store.failures(broken)) == ALL.seeds


def test_an_interruption_is_not_a_failure(store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = make_cell(steps=0)
    monkeypatch.setattr(loop._Loop, "__init__", fail("", KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        train(store, cell, range(1))
    assert store.failures(cell) == {}


def test_checkpoints_are_removed_once_the_block_is_stored(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    cell = make_cell()
    train(store, cell, range(1))
    assert list((store.root / cell.folder / "checkpoints").iterdir()) == []


def commit(folder: Path, *lines: str) -> None:
    """A folder of results with these runs."""
    folder.mkdir(parents=True)
    (folder / "runs.csv").write_text("\n".join(["cell,seed,status", *lines]) + "\n")
    (folder / "manifest.json").write_text(json.dumps({"files": files.hashes(folder)}))


def test_committed_results_count_as_finished(make_cell: MakeCell, tmp_path: Path) -> None:
    cell, other = make_cell(), make_cell(steps=40)
    rows = [
        f"{cell.digest},0,finished", f"{cell.digest},1,diverged", f"{cell.digest},2,failed",
        f"{cell.digest},3,skipped", f"{other.digest},7,finished",
    ]  # fmt: skip
    for folder, lines in (("paper/table1", rows), ("local/paper/table1", [f"{cell.digest},4,finished"])):
        commit(tmp_path / "results" / folder, *lines)
    store = Store(tmp_path / "runs", tmp_path / "results")
    assert store.finished_seeds(cell) == {0, 1}
    assert store.stored_seeds(cell) == set()
    assert missing(store, cell, range(2)) == []
    assert [job.block for job in missing(store, cell, range(5))] == [ALL]
    assert store.finished_seeds(other) == {7}


def test_an_experiment_counts_only_the_results_that_its_report_has(make_cell: MakeCell, tmp_path: Path) -> None:
    cell = make_cell()
    for name, seed in (("paper/table1", 0), ("paper/table2", 1)):
        commit(tmp_path / name, f"{cell.digest},{seed},finished")
    assert Store(tmp_path / "runs", tmp_path, ["paper/table1"]).finished_seeds(cell) == {0}
    assert Store(tmp_path / "runs", tmp_path).finished_seeds(cell) == {0, 1}


def test_a_failed_write_leaves_nothing_under_a_final_name(tmp_path: Path) -> None:
    def half(path: Path) -> None:
        path.write_text("half")
        raise OSError("disk full")

    def half_folder(folder: Path) -> None:
        half(folder / "runs.parquet")

    with pytest.raises(OSError, match="disk full"):
        files.write_atomically(tmp_path / "one" / "file.json", half)
    with pytest.raises(OSError, match="disk full"):
        files.write_folder_once(tmp_path / "parts" / "0-1", half_folder)
    assert contents(tmp_path) == {}
    assert list((tmp_path / "parts").iterdir()) == []


def test_a_failed_write_keeps_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    files.write_atomically(path, lambda temporary: temporary.write_text("old"))
    with pytest.raises(ValueError, match="no"):
        files.write_atomically(path, fail("no", ValueError))
    assert contents(tmp_path) == {"file.json": b"old"}


def test_a_folder_that_another_process_wrote_first_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "parts" / "0-1"

    def overtaken(folder: Path) -> None:
        (folder / "runs").write_text("ours")
        path.mkdir()
        (path / "runs").write_text("theirs")

    assert not files.write_folder_once(path, overtaken)
    assert not files.write_folder_once(path, lambda folder: (folder / "runs").write_text("later"))
    assert contents(tmp_path) == {"parts/0-1/runs": b"theirs"}


@pytest.mark.parametrize("file", [schema.RUNS, schema.CURVES, schema.MANIFEST])
@pytest.mark.parametrize("damage", ["missing", "truncated"])
def test_a_damaged_part_is_named(store: Store, make_cell: MakeCell, file: str, damage: str) -> None:
    cell = make_cell()
    train(store, cell, range(2))
    path = store.root / cell.folder / "parts" / "0-24" / file
    if damage == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(UsageError, match=r"parts/0-24 is damaged .* delete this folder, and repeat the nalu-bench run"):
        store.curves(cell) if file == schema.CURVES else store.runs(cell)


def test_a_part_that_cannot_be_reached_just_now_is_not_damaged(
    store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(store, cell := make_cell(), range(1))

    def stale(path: Path) -> None:
        raise OSError(errno.ESTALE, "Stale file handle", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(reader, "read_json", stale)
        with pytest.raises(OSError, match="Stale file handle"):
            Store(store.root, hashed=True).stored_seeds(cell)
    assert store.stored_seeds(cell) == set(range(WIDTH))


def test_blocks_in_progress_tell_their_step(store: Store, make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(loop._Loop, "result", fail("stopped at the end"))
    cell = make_cell()
    assert store.in_progress(cell) == {}
    train(store, cell, range(26))
    assert store.in_progress(cell) == {"0-24": 20, "25-49": 20}
    monkeypatch.undo()
    train(store, cell, range(26))
    assert store.in_progress(cell) == {}
    left = store.root / cell.folder / "checkpoints" / "0-24.json"
    left.write_text('{"step": 20}')
    assert store.in_progress(cell) == {}, "a block that is stored needs no checkpoint"
