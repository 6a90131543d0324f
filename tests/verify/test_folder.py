"""`nalu-bench verify` passes on what is committed, and names what was edited, even where its hash was edited too."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.files import hashes
from nalu_bench.verify.folder import targets

NAME = "madsen2020/table1"

COMMITTED = list(targets([], paths.CHECKOUT / "results"))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMITTED)
def test_committed_results_are_verified(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", name]) == 0
    own, in_all = capsys.readouterr().out.splitlines()
    runs = pd.read_csv(paths.CHECKOUT / "results" / name / "runs.csv")
    assert "no faults" in own
    assert in_all.startswith("in all")
    assert f"{len(runs):,} runs" in in_all


def deep(folder: Path) -> None:
    (folder / "manifest.json").write_text("[" * 200_000)


def changed(**entries: object) -> Callable[[Path], None]:
    """A damage: other values in the manifest."""

    def change(folder: Path) -> None:
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(manifest | entries))

    return change


def a_part_without_end(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    cell, part = next(iter(manifest["cells"])), next(iter(manifest["parts"].values()))
    changed(parts={f"{cell}/0-99999999999": part | {"seeds": "0-99999999999"}})(folder)


def piped(name: str) -> Callable[[Path], None]:
    """A damage: a pipe in the place of a file. Nobody writes into it, so that reading it would never end."""

    def change(folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return change


def of_parts(key: str, value: object) -> Callable[[Path], None]:
    """A damage: another value in every part."""

    def change(folder: Path) -> None:
        manifest = json.loads((folder / "manifest.json").read_text())
        for part in manifest["parts"].values():
            part[key] = value
        (folder / "manifest.json").write_text(json.dumps(manifest))

    return change


def twice(folder: Path) -> None:
    manifest = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(manifest.replace('"runs":', '"runs": 1,\n "runs":', 1))


def runs_as(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """A damage: the same runs in another text, with the hash of it."""

    def damage(folder: Path) -> None:
        (folder / "runs.csv").write_bytes(change((folder / "runs.csv").read_bytes()))
        rehash(folder)

    return damage


def linked(name: str) -> Callable[[Path], None]:
    """A damage: a link in the place of a file."""

    def change(folder: Path) -> None:
        elsewhere = folder.with_name(f"{folder.name}.elsewhere")
        elsewhere.mkdir()
        (folder / name).rename(elsewhere / name)
        (folder / name).symlink_to(elsewhere / name)

    return change


DAMAGES: list[tuple[Callable[[Path], None], str]] = [
    (deep, "manifest.json must not be nested so deep"),
    (changed(budget=[]), "budget must be a mapping in manifest.json, got []"),
    (changed(budget={}), "KeyError('name')"),
    (changed(files=["runs.csv"]), "files must be a mapping of texts in manifest.json, got ['runs.csv']"),
    (changed(parts={"x": None}), "parts must be a mapping of mappings in manifest.json"),
    (changed(runs="many"), "runs must be a whole number in manifest.json, got 'many'"),
    (a_part_without_end, "a block must have at most 10,000 seeds, got 0-99999999999"),
    (changed(runs=True), "runs must be a whole number in manifest.json, got True"),
    (twice, "every key must be there once, and runs is there again"),
    (
        changed(budget={"name": "paper", "overrides": [1]}),
        "overrides must be a list of texts in the budget of manifest",
    ),
    (changed(budget={"name": None}), "name must be a text in the budget of manifest.json, got None"),
    (changed(cells={"x": {"criteria": []}}), "criteria must be a mapping in cell x of manifest.json, got []"),
    (of_parts("processor", None), "processor must be a text in part "),
    (of_parts("numpy", ["2"]), "numpy must be a text in part "),
    (of_parts("finished", 5), "finished must be a text in part "),
    (of_parts("seconds", -1.0), "seconds must be a number with a point, from 0 up in part "),
    (of_parts("seconds", float("nan")), "seconds must be a number with a point, from 0 up in part "),
    (of_parts("width", True), "width must be a whole number in part "),
    (runs_as(lambda text: b"\xef\xbb\xbf" + text), r"has '\ufeffrole' for 'role' in line 1"),
    (runs_as(lambda text: text.replace(b"\n", b"\r\n")), "has other ends of lines, quotes or empty lines"),
    (runs_as(lambda text: text + b"\n"), "has other ends of lines, quotes or empty lines"),
    (runs_as(lambda text: text.replace(b",cpu,", b", cpu ,")), "device is  cpu , and cpu in manifest.json"),
    (runs_as(lambda text: text.replace(b",mul,", b",mul ,", 1)), "operation is mul , and must be mul"),
    (runs_as(lambda text: text.replace(b",0.", b",00.", 1)), "has '00."),
    (runs_as(lambda text: text.replace(b"cpu", b"c\0u", 1)), "runs.csv must be a text, and has a NUL byte at byte"),
    (runs_as(lambda text: text.replace(b"cpu", b"c\xffu", 1)), "runs.csv must be a CSV in UTF-8: 'utf-8' codec"),
    (runs_as(lambda text: text.replace(b"status", b"state", 1)), "runs.csv has no column status"),
    (linked("runs.csv"), "runs.csv must be a file of its own, and is a link"),
    (linked("manifest.json"), "manifest.json must be a file of its own, and is a link"),
    (piped("manifest.json"), "manifest.json must be a file, and is a pipe or a device"),
    (piped("runs.csv"), "runs.csv must be a file, and is a pipe or a device"),
    (piped("curves.parquet"), "curves.parquet must be a file, and is a pipe or a device"),
    (piped("table.csv"), "table.csv must be a file, and is a pipe or a device"),
]


def test_whatever_is_in_a_folder_costs_it_a_fault_and_no_other_its_check(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One command checks all of them, and last a folder that is sound."""
    damaged = {folder.parents[2] / f"{number}" / NAME: entry for number, entry in enumerate(DAMAGES)}
    for copy, (damage, _) in damaged.items():
        shutil.copytree(folder, copy)
        damage(copy)
    sound = folder.parents[2] / "sound" / "madsen2020" / "figure2"
    shutil.copytree(paths.CHECKOUT / "results" / "madsen2020" / "figure2", sound)
    assert main(["verify", *map(str, damaged), str(sound)]) == 1
    said = capsys.readouterr()
    faults = {copy: [line for line in said.err.splitlines() if line.startswith(f"  {copy}: ")] for copy in damaged}
    assert [words for copy, (_, words) in damaged.items() if not any(words in line for line in faults[copy])] == []
    assert sum(map(len, faults.values())) == len(said.err.splitlines())
    (line,) = [line for line in said.out.splitlines() if line.startswith(str(sound))]
    assert "8 files match; 0 runs" in line
    assert "no faults" in line


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        *((asked, "runs.csv") for asked in ([], [NAME], ["results"], [f"results/{NAME}"], ["."])),
        ([], "table.md"),
        ([], "figure.csv"),
    ],
)
def test_a_folder_of_results_without_its_manifest_is_a_fault(
    folder: Path, asked: list[str], kept: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder.parents[2])
    for path in folder.iterdir():
        if path.name != kept:
            path.unlink()
    (line,) = said(capsys, 1, "verify", *asked).splitlines()
    assert f"{NAME} must have a manifest.json; restore it from git, or remove the folder" in line


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    copy = tmp_path / "results" / NAME
    shutil.copytree(paths.CHECKOUT / "results" / NAME, copy)
    return copy


def edit_runs(folder: Path, column: str, value: str, where: str, rows: int = 1) -> None:
    """Set a column of the first `rows` runs that have a value in the column `where`, and enter the new hash."""
    runs = pd.read_csv(folder / "runs.csv", dtype=str, keep_default_na=False)
    runs.loc[runs.index[runs[where] != ""][:rows], column] = value
    runs.to_csv(folder / "runs.csv", index=False, lineterminator="\n")
    rehash(folder)


def rehash(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"] = {name: digest for name, digest in hashes(folder).items() if name != "manifest.json"}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def said(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    """What a command says that must end with `code`."""
    assert main(list(arguments)) == code
    return capsys.readouterr().err


def test_edited_missing_and_foreign_files_are_named_with_what_to_do(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "table.csv").write_text("edited")
    (folder / "figure.png").unlink()
    (folder / "notes.txt").write_text("foreign")
    lines = said(capsys, 1, "verify", NAME).splitlines()
    for words in (
        "table.csv must have the SHA-256 of manifest.json, and has another",
        "figure.png is missing, and stands in manifest.json",
        "notes.txt is not in manifest.json",
    ):
        (line,) = [line for line in lines if words in line]
        assert "restore this folder from git" in line
    assert said(capsys, 1, "verify", str(folder)).splitlines()[0].endswith(lines[0].partition(": ")[2])


@pytest.mark.parametrize("file", ["runs.csv", "curves.parquet", "manifest.json"])
def test_a_truncated_file_is_named_without_a_traceback(
    folder: Path, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / file).write_bytes((folder / file).read_bytes()[:300])
    assert f"{folder} is damaged" in said(capsys, 1, "verify", NAME)


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("solved_at", "1000", "solved_at is contradicted by its curve (step 1,000"),
        ("solved_at", "1234", "solved_at is contradicted by its curve (step 1,234"),
        ("solved", "False", "solved is contradicted by its curve"),
        ("extrapolation_mse", "1e-12", "errors is contradicted by its curve"),
        ("selected_step", "3000", "is contradicted by its curve"),
        ("status", "diverged", "status is contradicted by its curve"),
        ("model", "nalu", "model is nalu, and "),
        ("steps", "100000", "steps is 100000, and must be 200000"),
        ("seed", "7", "there are two rows for this run"),
        ("part", "0-24", "its part 0-24 is not in manifest.json, or holds other seeds"),
        ("cell", "0" * 16, "its cell is not in the plan"),
    ],
)
def test_a_forged_run_with_a_matching_hash_is_named_by_verify_and_refused_by_report(
    folder: Path, column: str, value: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edit_runs(folder, column, value, "solved_at", rows=30 if column == "part" else 1)
    before = (folder / "table.md").read_bytes()
    assert words in said(capsys, 1, "verify", NAME)
    report = said(capsys, 2, "report", NAME)
    assert "Traceback" not in report
    assert column == "cell" or words in report
    assert (folder / "table.md").read_bytes() == before


@pytest.mark.parametrize("column", ["solved_at", "status", "part", "selected_step", "validation_mse", "sparsity_error"])
def test_a_lost_column_with_a_matching_hash_is_named_by_verify_and_refused_by_report(
    folder: Path, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = (folder / "runs.csv").read_text()
    (folder / "runs.csv").write_text(runs.replace(column, f"x_{column}", 1))
    rehash(folder)
    for code, verb in ((1, "verify"), (2, "report")):
        assert column in said(capsys, code, verb, NAME)


def test_a_threshold_that_is_no_number_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    next(iter(manifest["cells"].values()))["criteria"]["threshold"] = "low"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert f"{folder} is damaged" in said(capsys, 1, "verify", NAME)


def test_23_forged_solved_steps_are_all_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit_runs(folder, "solved_at", "1000", "solved_at", rows=23)
    faults = said(capsys, 1, "verify", NAME).splitlines()
    assert sum("solved_at is contradicted" in line for line in faults) == 23


def test_a_table_that_is_not_its_runs_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = (folder / "table.csv").read_text()
    (folder / "table.csv").write_text(table.replace("nmu,success_rate,", "nmu,success_rate,1"))
    rehash(folder)
    assert "table.csv is not what runs.csv and the printed numbers give" in said(capsys, 1, "verify", NAME)


def test_a_configuration_at_another_address_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    for cell in manifest["cells"].values():
        cell["identity"]["recipe"]["learning_rate"] = 0.5
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "identity recipe learning_rate is 0.5 in manifest.json, and must be 0.001" in said(capsys, 1, "verify", NAME)


def test_a_manifest_without_hashes_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["files"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert "manifest.json has no files" in said(capsys, 1, "verify", NAME)
    assert "manifest.json has no files" in said(capsys, 2, "report", NAME)


def test_results_that_cannot_be_written_are_a_plain_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read_only(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("os.replace", read_only)
    error = said(capsys, 2, "report", NAME)
    assert f"{folder} cannot be written: [Errno 30] Read-only file system; make room or set NALU_BENCH_HOME" in error


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", bytes(range(256)), b"cell,seed,status\nx,many,finished\n"])
@pytest.mark.parametrize("hashed", [False, True])
def test_a_broken_file_of_runs_costs_only_its_own_experiment(
    folder: Path, content: bytes, hashed: bool, capsys: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    (folder / "runs.csv").write_bytes(content)
    if hashed:
        rehash(folder)
    assert main(["status", "experiment=trask2018/table1", "budget=smoke"]) == 0
    assert not list(recwarn)
    assert main(["status", f"experiment={NAME}", "budget=smoke"]) == 0
    assert [f"{folder / 'runs.csv'} is damaged" in str(one.message) for one in recwarn] == [True]


def test_results_that_only_this_folder_has_are_found_by_their_name(tmp_path: Path) -> None:
    shutil.copytree(paths.CHECKOUT / "results" / NAME, tmp_path / "local" / NAME)
    assert targets([NAME], tmp_path) == {NAME: tmp_path / "local" / NAME}


def test_what_is_neither_an_experiment_nor_a_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "did you mean 'madsen2020/table1'?" in said(capsys, 2, "verify", "madsen2020/tabel1")
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("NALU_BENCH_HOME", str(tmp_path))
        assert f"{tmp_path / 'results'} holds none (NALU_BENCH_HOME" in said(capsys, 2, "verify", NAME)
    assert "unknown folder or experiment with results ''. Known: " in said(capsys, 2, "verify", "")
    assert "unknown folder or experiment with results" in said(capsys, 2, "verify", "x" * 5000)
    assert "must be a folder of results, a run store or the folder of a cell" in said(
        capsys, 2, "verify", str(tmp_path)
    )
