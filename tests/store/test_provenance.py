"""The commit of a run is a help, and its absence no fault."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nalu_bench import paths
from nalu_bench.store import provenance


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    provenance.commit.cache_clear()
    yield
    provenance.commit.cache_clear()


def test_the_commit_is_that_of_the_checkout() -> None:
    head = subprocess.run(["git", "-C", paths.CHECKOUT, "rev-parse", "HEAD"], check=False, capture_output=True)
    if head.returncode:
        pytest.skip("no repository")
    assert head.stdout.decode().startswith(provenance.commit().removesuffix("+"))


@pytest.mark.parametrize("how", ["absent", "may not run", "fails", "is no program", "says more"])
def test_without_git_the_commit_is_unknown(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if how != "absent":
        says = "echo a notice; echo 0123456789ab" if how == "says more" else "exit 128"
        (tmp_path / "git").write_text("" if how == "is no program" else f"#!/bin/sh\n{says}\n")
        (tmp_path / "git").chmod(0o600 if how == "may not run" else 0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.commit() == "unknown"


def test_a_git_that_hangs_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "git").write_text("#!/bin/sh\nexec /bin/sleep 300\n")
    (tmp_path / "git").chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(provenance, "LONGEST", 0.1)
    assert provenance.commit() == "unknown"


def test_a_repository_that_is_not_the_checkouts_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one that git's variables name, nor one around a checkout that was unpacked without its own."""
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    if shutil.which("git") is None:
        pytest.skip("no git")
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "another"], check=True)
    ours = provenance.commit()
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    provenance.commit.cache_clear()
    assert provenance.commit() == ours
    (tmp_path / "inner").mkdir()
    monkeypatch.setattr(paths, "CHECKOUT", tmp_path / "inner")
    monkeypatch.setattr(paths, "in_checkout", lambda: True)
    provenance.commit.cache_clear()
    assert provenance.commit() == "unknown"
