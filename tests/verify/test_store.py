"""`nalu-bench verify` on a run store: what was edited, cut off, moved or renamed is named, and `report` refuses it."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nalu_bench import files, paths
from nalu_bench.cli import main
from nalu_bench.files import hashes
from nalu_bench.plan import compose, experiment
from nalu_bench.store import schema
from nalu_bench.store.reader import Store

NAME = "madsen2020/table1"
SMOKE = ["model=nac_mul,nmu", "budget=smoke", "seeds=3", "compile=false", "device.workers=1"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a part of an experiment: two cells of three seeds."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NALU_BENCH_HOME", str(home))
        assert main(["run", f"experiment={NAME}", *SMOKE]) == 0
    return home


@pytest.fixture
def part(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A part in a copy of it."""
    shutil.copytree(trained, tmp_path / "home")
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path / "home"))
    return sorted((tmp_path / "home").glob("runs/*/nmu/*/parts/*"))[0]


def rehash(part: Path) -> None:
    manifest = json.loads((part / schema.MANIFEST).read_text())
    manifest["files"] = {name: digest for name, digest in hashes(part).items() if name != schema.MANIFEST}
    (part / schema.MANIFEST).write_text(json.dumps(manifest))


def without_a_row(part: Path) -> None:
    runs = pd.read_parquet(part / schema.RUNS)
    runs.iloc[1:].to_parquet(part / schema.RUNS, index=False)


def without_a_row_but_with_its_hash(part: Path) -> None:
    without_a_row(part)
    rehash(part)


def without_an_evaluation_but_with_its_hash(part: Path) -> None:
    curves = pd.read_parquet(part / schema.CURVES)
    curves.iloc[:-1].to_parquet(part / schema.CURVES, index=False)
    rehash(part)


def with_a_forged_error_and_its_hash(part: Path) -> None:
    runs = pd.read_parquet(part / schema.RUNS)
    runs["extrapolation_mse"] = np.float32(0)
    runs.to_parquet(part / schema.RUNS, index=False)
    rehash(part)


def with_a_run_that_failed_and_its_hash(part: Path) -> None:
    runs = pd.read_parquet(part / schema.RUNS)
    runs.loc[0, "status"] = "failed"
    runs.to_parquet(part / schema.RUNS, index=False)
    rehash(part)


def with_fewer_networks_and_their_hash(part: Path) -> None:
    with np.load(part / schema.PARAMETERS) as arrays:
        np.savez_compressed(part / schema.PARAMETERS, **{name: arrays[name][:1] for name in arrays.files})
    rehash(part)


def renamed(part: Path) -> None:
    part.rename(part.with_name("25-49"))


def renamed_with_its_manifest(part: Path) -> None:
    manifest = json.loads((part / schema.MANIFEST).read_text()) | {"seeds": "25-49"}
    (part / schema.MANIFEST).write_text(json.dumps(manifest))
    renamed(part)


def cut_off(part: Path) -> None:
    path = part / schema.CURVES
    path.write_bytes(path.read_bytes()[:100])


def without_a_file(part: Path) -> None:
    (part / schema.WEIGHTS).unlink()


def with_a_broken_manifest(part: Path) -> None:
    (part / schema.MANIFEST).write_text('{"seeds": ')


def with_values_of_other_types(part: Path) -> None:
    manifest = json.loads((part / schema.MANIFEST).read_text()) | {"processor": None, "files": []}
    (part / schema.MANIFEST).write_text(json.dumps(manifest))


def with_a_key_twice(part: Path) -> None:
    manifest = (part / schema.MANIFEST).read_text()
    (part / schema.MANIFEST).write_text(manifest.replace('"seconds":', '"seconds": 1.0, "seconds":'))


def with_a_pipe(part: Path) -> None:
    (part / schema.CURVES).unlink()
    os.mkfifo(part / schema.CURVES)


DAMAGES = {
    with_values_of_other_types: "processor must be a text in manifest.json, got None",
    with_a_key_twice: "every key must be there once, and seconds is there again",
    with_a_pipe: "curves.parquet must be a file, and is a pipe",
    without_a_row: "runs.parquet must have the SHA-256 of manifest.json, and has another",
    without_a_row_but_with_its_hash: "runs.parquet must have rows of the seeds",
    without_an_evaluation_but_with_its_hash: "curves.parquet must have as many rows for one seed as for another",
    with_a_forged_error_and_its_hash: "errors is contradicted by its curve",
    with_a_run_that_failed_and_its_hash: "runs.parquet must have runs that were trained to their end",
    with_fewer_networks_and_their_hash: "parameters.npz must hold",
    renamed: "its name says seeds 25-49, and its manifest.json says",
    renamed_with_its_manifest: "runs.parquet must have rows of the seeds 25-49, and has",
    cut_off: "curves.parquet must have the SHA-256 of manifest.json, and has another",
    without_a_file: "weights.parquet is missing, and stands in manifest.json",
    with_a_broken_manifest: "its name must be a list of seeds and its manifest.json JSON",
}


@pytest.mark.parametrize(("damage", "words"), DAMAGES.items(), ids=[damage.__name__ for damage in DAMAGES])
def test_a_damaged_part_is_named_by_verify_and_refused_by_report(
    part: Path, damage: Callable[[Path], None], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(part)
    assert main(["verify", "--store"]) == 1
    (line, *_) = [line for line in capsys.readouterr().err.splitlines() if words in line]
    assert f"{part.parents[1].name}/parts/" in line
    assert "delete this folder, and repeat the nalu-bench run that asks for its seeds" in line
    assert main(["report", "--no-page", NAME, *SMOKE]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error


@pytest.mark.parametrize("name", ["notes.txt", ".DS_Store"])
def test_a_file_that_others_leave_in_a_part_costs_no_training(
    part: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (part / name).write_text("mine")
    assert main(["verify", "--store"]) == 1
    assert capsys.readouterr().err.rstrip().endswith(f"parts/{part.name}: {name} is not in manifest.json; remove it")
    assert main(["run", NAME, *SMOKE]) == 0
    assert "nothing to train" in capsys.readouterr().out
    assert part.is_dir()


def test_a_part_of_another_cell_is_named_and_not_reported(part: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (other,) = [path for path in part.parents[3].glob("*/*/parts/*") if path.parts[-4] != part.parts[-4]][:1]
    shutil.rmtree(part)
    shutil.copytree(other, part)
    assert main(["verify", "--store"]) == 1
    digest, stated = part.parents[1].name, other.parents[1].name
    assert f"its place is that of the cell {digest}, and its manifest.json says {stated}" in capsys.readouterr().err
    assert main(["report", "--no-page", NAME, *SMOKE]) == 2
    assert f"its manifest.json says {stated}" in capsys.readouterr().err


@pytest.mark.parametrize("text", [None, "{}"])
def test_a_lost_configuration_is_written_again(
    part: Path, text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    path = part.parents[1] / schema.CELL
    before = path.read_text()
    path.unlink() if text is None else path.write_text(text)
    assert main(["verify", "--store"]) == 1
    assert "repeat the nalu-bench run of this cell, which writes it" in capsys.readouterr().err
    assert main(["run", NAME, *SMOKE]) == 0
    assert "nothing to train" in capsys.readouterr().out
    assert path.read_text() == before


def test_a_store_without_a_finished_block_has_no_faults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    (tmp_path / "runs/arithmetic/nau/0123456789abcdef/checkpoints").mkdir(parents=True)
    assert main(["verify", "--store"]) == 0
    assert "0 runs" in capsys.readouterr().out


def test_a_store_that_is_not_there_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path / "new"))
    assert main(["verify", "--store"]) == 2
    assert "runs must be a run store, and is not there (NALU_BENCH_HOME moves it)" in capsys.readouterr().err


def with_other_parameters(part: Path) -> None:
    with np.load(part / schema.PARAMETERS) as arrays:
        np.savez_compressed(part / schema.PARAMETERS, **{name: arrays[name] * 0 + 1 for name in arrays.files})


def with_parameters_of_another_network(part: Path) -> None:
    with np.load(part / schema.PARAMETERS) as arrays:
        np.savez_compressed(part / schema.PARAMETERS, **{f"other.{name}": arrays[name] for name in arrays.files})


def with_perfect_weights(part: Path) -> None:
    weights = pd.read_parquet(part / schema.WEIGHTS)
    weights["values"] = [np.ones_like(values) for values in weights["values"]]
    weights.to_parquet(part / schema.WEIGHTS, index=False)


def with_negative_errors(part: Path) -> None:
    for file in (schema.RUNS, schema.CURVES):
        pd.read_parquet(part / file).assign(extrapolation_mse=np.float32(-1)).to_parquet(part / file, index=False)


def with_a_figure_that_no_task_measures(part: Path) -> None:
    pd.read_parquet(part / schema.RUNS).assign(praise=1.0).to_parquet(part / schema.RUNS, index=False)


def with_a_curve_that_no_task_follows(part: Path) -> None:
    pd.read_parquet(part / schema.CURVES).assign(praise=1.0).to_parquet(part / schema.CURVES, index=False)


def with_a_mode_that_there_is_not(part: Path) -> None:
    state(part, mode="magic")


def with_an_entry_that_nobody_reads(part: Path) -> None:
    state(part, award="best")


def without_weights(part: Path) -> None:
    (part / schema.WEIGHTS).unlink()


def state(part: Path, **entries: str) -> None:
    manifest = json.loads((part / schema.MANIFEST).read_text()) | entries
    (part / schema.MANIFEST).write_text(json.dumps(manifest))


def with_one_run_for_two_seeds(part: Path) -> None:
    for file in (schema.RUNS, schema.CURVES, schema.WEIGHTS):
        rows = pd.read_parquet(part / file)
        first = rows[rows["seed"] == 0].assign(seed=1)
        pd.concat([rows[rows["seed"] != 1], first]).sort_values("seed", kind="stable").to_parquet(
            part / file, index=False
        )
    with np.load(part / schema.PARAMETERS) as arrays:
        np.savez_compressed(
            part / schema.PARAMETERS, **{name: arrays[name][[0, 0, *range(2, 25)]] for name in arrays.files}
        )


def with_columns_of_the_manifest(part: Path) -> None:
    rows = pd.read_parquet(part / schema.RUNS).assign(note="checked by hand", device="cuda")
    rows.to_parquet(part / schema.RUNS, index=False)


def with_dates_for_steps(part: Path) -> None:
    rows = pd.read_parquet(part / schema.CURVES)
    rows.assign(step=rows["step"].astype("datetime64[ns]")).to_parquet(part / schema.CURVES, index=False)


def with_lists_for_errors(part: Path) -> None:
    rows = pd.read_parquet(part / schema.RUNS)
    rows.assign(extrapolation_mse=[[1.0]] * len(rows)).to_parquet(part / schema.RUNS, index=False)


def of_another_width(part: Path) -> None:
    manifest = json.loads((part / schema.MANIFEST).read_text())
    (part / schema.MANIFEST).write_text(json.dumps(manifest | {"width": 50}))


FORGED = {
    of_another_width: "must be a whole block, and holds the seeds 0-24 of width 50 by manifest.json",
    with_a_mode_that_there_is_not: "states mode 'magic' in manifest.json, which no training writes",
    with_an_entry_that_nobody_reads: "states award in manifest.json, which no training writes",
    without_weights: "must state the file weights.parquet in manifest.json",
    with_one_run_for_two_seeds: "the seeds 0, 1 have one curve",
    with_other_parameters: "is not that of its parameters",
    with_parameters_of_another_network: "its parameters must be those of its network",
    with_perfect_weights: "by its weights",
    with_negative_errors: "extrapolation_mse is -1, which no network has",
    with_columns_of_the_manifest: "its runs have device, note, and its task measures no such figure",
    with_dates_for_steps: "curves.parquet must hold numbers and texts, and step is of type timestamp[ns]",
    with_lists_for_errors: "runs.parquet must hold numbers and texts, and extrapolation_mse is of type list",
    with_a_figure_that_no_task_measures: "its runs have praise, and its task measures no such figure",
    with_a_curve_that_no_task_follows: "its curves have praise, and its task measures no such figure",
}


@pytest.mark.parametrize(("forge", "words"), FORGED.items(), ids=[forge.__name__ for forge in FORGED])
def test_a_part_that_no_training_writes_is_named_though_its_hashes_match(
    part: Path, forge: Callable[[Path], None], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    forge(part)
    rehash(part)
    assert main(["verify", "--store"]) == 1
    assert words in capsys.readouterr().err


def test_a_sound_store_a_cell_and_local_results_pass(part: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, cell = part.parents[4], part.parents[1]
    assert main(["report", "--no-page", NAME, *SMOKE]) == 0
    capsys.readouterr()
    local = store.parent / "results" / "local" / NAME
    for arguments in (["--store"], [str(store)], [str(cell)], [str(local)]):
        assert main(["verify", *arguments]) == 0, arguments
        assert "no faults" in capsys.readouterr().out.splitlines()[0]


def test_a_link_in_the_place_of_a_file_of_a_part_is_named(
    part: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (part / schema.WEIGHTS).rename(tmp_path / "weights")
    (part / schema.WEIGHTS).symlink_to(tmp_path / "weights")
    assert main(["verify", "--store"]) == 1
    assert "weights.parquet must be a file of its own, and is a link" in capsys.readouterr().err


def test_a_point_that_is_left_out_of_a_curve_is_named(part: Path, capsys: pytest.CaptureFixture[str]) -> None:
    curves = pd.read_parquet(part / schema.CURVES)
    middle = sorted(set(curves["step"]))[1]
    curves[curves["step"] != middle].to_parquet(part / schema.CURVES, index=False)
    rehash(part)
    assert main(["verify", "--store"]) == 1
    assert "its curve must have a point at 0 and every" in capsys.readouterr().err


@pytest.mark.parametrize("parts", [False, True])
def test_a_file_in_the_place_of_a_folder_is_named(part: Path, parts: bool, capsys: pytest.CaptureFixture[str]) -> None:
    place = part.parent if parts else part
    shutil.rmtree(place)
    place.touch()
    assert main(["verify", "--store"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{place.relative_to(part.parents[4])}: it must be a folder, and is a file" in line
    assert line.count("delete this folder") == 1


@pytest.mark.parametrize("parts", [False, True])
def test_a_folder_that_is_closed_to_this_user_is_named_and_nobody_is_told_to_delete_it(
    part: Path, parts: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = part.parent if parts else part
    monkeypatch.setattr(os, "access", lambda path, mode, may=os.access: path != place and may(path, mode))
    assert main(["verify", "--store"]) == 1
    told = capsys.readouterr().err
    assert f"{place.name}: {place.name} must be open to this user; change its permissions" in told
    assert "delete" not in told


def test_a_file_that_is_closed_to_this_user_is_not_called_damaged(
    part: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    closed, read = part / schema.RUNS, Path.read_bytes

    def refused(path: Path) -> bytes:
        if path == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(os, "access", lambda path, mode, may=os.access: path != closed and may(path, mode))
    monkeypatch.setattr(Path, "read_bytes", refused)
    assert main(["verify", "--store"]) == 1
    assert "runs.parquet must be open to this user; change its permissions" in capsys.readouterr().err
    assert main(["run", f"experiment={NAME}", *SMOKE]) == 1
    assert "open to this user" in capsys.readouterr().err
    assert main(["report", "--no-page", NAME, *SMOKE]) == 2
    said = capsys.readouterr().err
    assert "runs.parquet must be open to this user; change its permissions" in said
    assert "damaged" not in said
    assert not list(part.parents[1].glob("damaged/*"))


@pytest.mark.usefixtures("part")
def test_files_that_state_more_numbers_than_fit_are_refused_unread(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(files, "MOST_VALUES", 10)
    assert main(["verify", "--store"]) == 1
    told = capsys.readouterr().err
    for name in (schema.CURVES, schema.PARAMETERS):
        assert f"{name} must hold at most 10 numbers, and states" in told


def test_a_cell_of_which_no_block_has_ended_is_no_fault(part: Path) -> None:
    shutil.rmtree(part)
    (part.parents[1] / schema.CELL).unlink()
    assert main(["verify", "--store"]) == 0


def test_a_store_that_is_named_twice_is_counted_once(part: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(paths.runs_dir()), "--store"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_a_cell_at_another_address_is_named(part: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = part.parents[1]
    identity = json.loads((cell / schema.CELL).read_text())
    identity["recipe"]["learning_rate"] = 0.5
    (cell / schema.CELL).write_text(json.dumps(identity))
    assert main(["verify", str(cell)]) == 1
    assert "its configuration belongs to" in capsys.readouterr().err
    (cell / schema.CELL).unlink()
    assert main(["verify", "--store"]) == 1
    assert "cell.json is damaged" in capsys.readouterr().err


def test_half_written_notes_and_failures_are_no_tracebacks(part: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = part.parents[1]
    for path, text in (("failures/25-49.json", '{"seeds": [25,'), ("checkpoints/25-49.json", '{"step"')):
        (cell / path).parent.mkdir(exist_ok=True)
        (cell / path).write_text(text)
    plan = compose.plan_experiment(experiment.load(NAME), SMOKE)
    (want,) = [want for want in plan.cells if want.cell.digest == cell.name]
    store = Store(part.parents[4])
    assert store.in_progress(want.cell) == {"25-49": 0}
    failures = store.failures(want.cell)
    assert list(failures) == [*range(25, 50)]
    assert "25-49.json is damaged; run the same command again" in failures[25]
    assert main(["status", f"experiment={NAME}", *SMOKE]) == 0


def test_a_part_from_before_hashes_is_counted_as_such(part: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((part / schema.MANIFEST).read_text())
    del manifest["files"]
    (part / schema.MANIFEST).write_text(json.dumps(manifest | {"finished": "2026-11-20T00:00:00Z"}))
    assert main(["verify", "--store"]) == 0
    assert "1 parts are older than hashes" in capsys.readouterr().out
