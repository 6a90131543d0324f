"""The choice of the C++ compiler, and the messages if it does not work."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nalu_bench.cli import main
from nalu_bench.running import compiler

CELL = ["run", "task=ten_parameter", "model=nmu", "device.workers=1", "seeds=1", "budget=smoke"]


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    compiler.works.cache_clear()
    yield
    compiler.works.cache_clear()


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that exists and fails."""
    path = tmp_path / "broken++"
    path.write_text("#!/bin/sh\nexit 1\n")
    path.chmod(0o755)
    monkeypatch.setenv("CXX", str(path))
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    return path


def test_a_compiler_that_is_missing_or_broken_does_not_work(broken: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not compiler.works()
    compiler.works.cache_clear()
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert not compiler.works()


def test_without_a_compiler_training_is_eager_and_says_so_once(
    broken: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*CELL, "compile=null"]) == 0
    assert capsys.readouterr().err.count(f"no working C++ compiler ({broken}): training eagerly") == 1
    (manifest,) = broken.parent.glob("runs/*/*/*/parts/*/manifest.json")
    assert json.loads(manifest.read_text())["mode"] == "eager"


def test_compilation_that_is_asked_for_needs_a_compiler(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CELL, "compile=true"]) == 2
    assert f"compile=true needs a C++ compiler, and {broken} does not work" in capsys.readouterr().err
