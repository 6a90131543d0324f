"""The memory that a process keeps for its next step."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nalu_bench.running import process

STEPS = """
import resource
from nalu_bench.running import process
if {tuned}:
    process.tune()
import torch

def step():
    arrays = [torch.zeros(2**21) for _ in range(8)]  # 8 MB each

for _ in range(10):  # until every array has found its place
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="this library of C has no mallopt")
def test_a_step_gets_no_new_pages_from_the_system() -> None:
    as_is, tuned = (pages(tuned) for tuned in (False, True))
    assert tuned < 100 < as_is


def pages(tuned: bool) -> int:
    """Pages that the system gives to ten steps of a process with large pages, tuned or not."""
    command = [sys.executable, "-c", STEPS.format(tuned=tuned)]
    environment = os.environ | {"THP_MEM_ALLOC_ENABLE": "1"}
    return int(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


@pytest.mark.parametrize("taken", ["link", "open"])
def test_compiled_graphs_lie_where_nobody_else_can_write(
    taken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for first in (True, False):  # monkeypatch brings the variable back
        monkeypatch.setenv(process.CACHE, "")
        monkeypatch.delenv(process.CACHE)
        process.make_cache()
        folder = Path(os.environ[process.CACHE])
        assert folder.stat().st_mode & 0o077 == 0
        assert folder.is_relative_to(tmp_path) == first
        if first and taken == "link":
            folder.rename(tmp_path / "elsewhere")
            folder.symlink_to(tmp_path / "elsewhere")
        elif first:
            folder.chmod(0o777)


def test_a_cache_that_others_may_write_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(process.CACHE, str(tmp_path))
    tmp_path.chmod(0o700)
    process.warn_of_cache()
    tmp_path.chmod(0o777)
    with pytest.warns(UserWarning, match=r"TORCHINDUCTOR_CACHE_DIR: .* must be a folder that its user alone may write"):
        process.warn_of_cache()
