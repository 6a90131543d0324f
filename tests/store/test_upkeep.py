"""The store's folder before training: refused if it cannot be written, rid of what killed processes left."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nalu_bench import files
from nalu_bench.errors import UsageError
from nalu_bench.store import upkeep

HOUR, DAY = 3600, 24 * 3600


def test_a_cell_that_is_closed_to_this_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cell/parts").mkdir(parents=True)
    upkeep.check_cell(tmp_path / "cell")
    upkeep.check_cell(tmp_path / "none")
    closed = tmp_path / "cell/parts"
    monkeypatch.setattr(os, "access", lambda path, mode, may=os.access: path != closed and may(path, mode))
    with pytest.raises(UsageError, match="parts must be open to this user, to read and to write"):
        upkeep.check_cell(tmp_path / "cell")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_store_that_cannot_take_a_file_is_refused_with_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(path: Path, content: bytes) -> None:
        path.touch()
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    with pytest.raises(UsageError, match=rf"{tmp_path}.* cannot be written: {os.strerror(number)}; free .*HOME"):
        upkeep.prepare(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_is_noticed_where_it_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(upkeep, "to_disk", full)
    with pytest.raises(UsageError, match="No space left on device"):
        upkeep.prepare(tmp_path)


def test_a_store_that_can_be_written_is_left_as_it_was(tmp_path: Path) -> None:
    upkeep.prepare(tmp_path / "runs")
    assert list((tmp_path / "runs").iterdir()) == []


def gone() -> int:
    """The id of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def leave(folder: Path, name: str, age: float) -> Path:
    """A folder with a file, both last changed `age` seconds ago."""
    path = folder / name
    path.mkdir(parents=True)
    (path / "runs.parquet").write_text("half")
    changed = path.stat().st_mtime - age
    for entry in (path / "runs.parquet", path):
        os.utime(entry, (changed, changed))
    return path


def test_what_a_killed_process_left_is_removed_once_it_is_old(tmp_path: Path) -> None:
    cell = tmp_path / "task" / "model" / "0123"
    ours, theirs = f"{files.HOST}.{gone()}", f"another.{gone()}"
    alive = f"{files.HOST}.{os.getpid()}"
    abandoned = [
        leave(cell / "parts", f".0-9.{ours}.tmp", 2 * HOUR),
        leave(cell / "parts", f".0-9.{theirs}.tmp", 2 * DAY),
        leave(cell / "checkpoints", f".0-24.pt.{ours}.tmp", 2 * HOUR),
        leave(cell / "checkpoints", "0-24.123.tmp", 2 * DAY),
        leave(cell, f".cell.json.{ours}.tmp", 2 * HOUR),
        leave(tmp_path, f".probe.{ours}.tmp", 2 * HOUR),
    ]
    stays = [
        leave(cell / "parts", f".10-19.{ours}.tmp", 60),
        leave(cell / "parts", f".20-29.{theirs}.tmp", 2 * HOUR),
        leave(cell / "parts", f".30-39.{alive}.tmp", 2 * DAY),
        leave(cell / "parts", "40-49", 2 * DAY),
    ]
    fresh = leave(cell / "parts", f".50-59.{theirs}.tmp", 2 * DAY)
    (fresh / "curves.parquet").write_text("being written")
    upkeep.prepare(tmp_path)
    assert not [path for path in abandoned if path.exists()]
    assert all(path.exists() for path in (*stays, fresh))


def test_a_name_is_given_only_to_what_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(files, "to_disk", lambda path: synced.append(path) if path.exists() else None)
    files.write_atomically(tmp_path / "file", lambda path: path.write_text("all"))
    files.write_folder_once(tmp_path / "folder", lambda path: (path / "runs").write_text("all"))
    file, runs, folder, place = synced
    assert (file.name[:6], folder.name[:8], runs, place) == (".file.", ".folder.", folder / "runs", tmp_path)
