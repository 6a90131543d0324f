"""Compiled kernels: one compilation for all processes, and none that fails where nothing can be written."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """
from numba import int64

from nalu_bench.training.random.kernel import kernel


@kernel(int64(int64))
def twice(x):
    return 2 * x
"""


def imported(path: Path) -> Any:
    """A new import of a file, as another process does it."""
    spec = importlib.util.spec_from_file_location("own_kernel", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "own_kernel.py").write_text(PROGRAM)
    return tmp_path / "own_kernel.py"


def test_the_second_import_compiles_nothing_and_a_change_compiles_again(file: Path) -> None:
    assert sum(imported(file).twice.stats.cache_hits.values()) == 0
    assert sum(imported(file).twice.stats.cache_hits.values()) == 1
    file.write_text(PROGRAM.replace("2 * x", "3 * x * 1"))
    assert imported(file).twice(5) == 15


def test_a_kernel_is_compiled_where_no_folder_can_be_written(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    assert imported(file).twice(5) == 10
