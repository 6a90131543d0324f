"""`nalu-bench verify` passes on what is committed, and names what was edited."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.files import hashes


def test_all_committed_results_are_verified(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify"]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == len(list((paths.CHECKOUT / "results").glob("[!l]*/*/manifest.json")))
    assert "FAULTS" not in out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    copy = tmp_path / "results" / "madsen2020" / "table1"
    shutil.copytree(paths.CHECKOUT / "results" / "madsen2020" / "table1", copy)
    return copy


def test_an_edited_a_missing_and_a_foreign_file_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "table.csv").write_text("edited")
    (folder / "figure.png").unlink()
    (folder / "notes.txt").write_text("foreign")
    assert main(["verify", "madsen2020/table1"]) == 1
    said = capsys.readouterr().err
    assert all(name in said for name in ("table.csv", "figure.png", "notes.txt"))


def test_an_edited_fact_is_named_even_where_the_hash_was_edited_too(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = pd.read_csv(folder / "runs.csv", dtype=str, keep_default_na=False)
    runs.loc[runs.index[runs["solved_at"] != ""][0], "solved_at"] = "1000"
    runs.to_csv(folder / "runs.csv", index=False, lineterminator="\n")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["runs.csv"] = hashes(folder)["runs.csv"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert main(["verify", "madsen2020/table1"]) == 1
    assert "solved_at is contradicted by its curve (step 1,000" in capsys.readouterr().err


def test_results_that_do_not_exist_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "madsen2020/tabel1"]) == 2
    assert "did you mean 'madsen2020/table1'?" in capsys.readouterr().err
