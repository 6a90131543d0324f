"""Whether torch can compile here is tried before training, and told in one line if it cannot."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nalu_bench.cli import main
from nalu_bench.running import compiler

CELL = ["run", "task=ten_parameter", "model=nmu", "device.workers=1", "seeds=1", "budget=smoke"]

NO_OPENMP = """#!/bin/sh
for word in "$@"; do
    case "$word" in -fopenmp*) echo "fatal error: 'omp.h' file not found" >&2; exit 1;; esac
done
exec g++ "$@"
"""

SPACE = 'import sysconfig\nsysconfig.get_config_vars()["LIBDIR"] = "/no such/folder"\n'


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A store, folders for temporary files and for the cache, and records of trials of the test's own."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    compiler.works.cache_clear()
    yield tmp_path
    compiler.works.cache_clear()


def command(home: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> Path:
    """A compiler of our own."""
    path = home / "our++"
    path.write_text(program)
    path.chmod(0o755)
    monkeypatch.setenv("CXX", str(path))
    return path


def modes(home: Path) -> set[str]:
    manifests = home.glob("runs/*/*/*/parts/*/manifest.json")
    assert not list(home.glob("runs/*/*/*/failures/*"))
    return {json.loads(manifest.read_text())["mode"] for manifest in manifests}


class Trials:
    """Trials that are not made: what comes out is given."""

    def __init__(self) -> None:
        self.outcome = ""
        self.made = 0

    def __call__(self, device: str) -> str:
        self.made += 1
        return self.outcome


@pytest.fixture
def trials(home: Path, monkeypatch: pytest.MonkeyPatch) -> Trials:
    found = Trials()
    monkeypatch.setattr(compiler, "_tried", found)
    command(home, monkeypatch, "")
    return found


def test_without_a_compiler_nothing_is_tried(trials: Trials, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert compiler.refusal() == "there is no compiler no-such-compiler"
    assert not compiler.works()
    assert trials.made == 0


def test_what_came_out_costs_nothing_the_second_time(trials: Trials) -> None:
    assert compiler.refusal() == compiler.refusal() == ""
    assert trials.made == 1
    assert compiler.refusal("cuda") == ""
    assert trials.made == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda home, patch: command(home, patch, "another"),
        lambda home, patch: patch.setenv("TORCHINDUCTOR_CACHE_DIR", str(home / "tmp" / "file" / "cache")),
        lambda home, patch: patch.setenv("LD_LIBRARY_PATH", "elsewhere"),
        lambda home, patch: patch.setattr(compiler, "version", lambda _: "0.1"),
        lambda home, patch: shutil.rmtree(home / "tmp" / f"nalu_bench_{os.getuid()}"),
    ],
    ids=["compiler", "cache", "variable", "torch", "restart"],
)
def test_another_compiler_torch_or_folder_is_tried_again(
    change: Any, trials: Trials, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compiler.works()
    change(home, monkeypatch)
    trials.outcome = "no more"
    assert compiler.refusal() == "no more"


def test_a_failure_is_believed_for_a_while_unless_compilation_is_asked_for(
    trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials.outcome = "no omp.h"
    assert compiler.refusal() == compiler.refusal() == "no omp.h"
    assert trials.made == 1
    trials.outcome = ""
    later = time.time() + 2 * compiler.BELIEVED
    with monkeypatch.context() as patch:
        patch.setattr(time, "time", lambda: later)
        assert compiler.refusal() == ""
    trials.outcome = "no omp.h"
    assert compiler.refusal() == ""


def test_asking_for_compilation_tries_a_failure_again(trials: Trials) -> None:
    trials.outcome = "no omp.h"
    assert compiler.refusal() == "no omp.h"
    trials.outcome = ""
    assert compiler.refusal(again=True) == compiler.refusal() == ""


def test_a_record_that_cannot_be_kept_or_read_is_no_error(trials: Trials, home: Path) -> None:
    folder = home / "tmp" / f"nalu_bench_{os.getuid()}"
    folder.write_text("")
    assert compiler.refusal() == compiler.refusal() == ""
    assert trials.made == 2
    folder.unlink()
    assert compiler.refusal() == ""
    (record,) = folder.iterdir()
    record.write_text("{")
    assert compiler.refusal() == ""
    assert trials.made == 4


def test_a_record_that_others_could_have_written_is_not_believed(trials: Trials, home: Path) -> None:
    trials.outcome = "no omp.h"
    assert compiler.refusal() == "no omp.h"
    (home / "tmp" / f"nalu_bench_{os.getuid()}").chmod(0o777)
    trials.outcome = ""
    assert compiler.refusal() == compiler.refusal() == ""
    assert trials.made == 3


def test_compilation_that_is_asked_for_is_refused_with_the_reason(
    trials: Trials, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trials.outcome = "no omp.h"
    assert main([*CELL, "compile=true"]) == 2
    assert "compile=true needs what torch cannot do here, compile (no omp.h); see CXX" in capsys.readouterr().err
    assert modes(home) == set()


def test_setup_says_whether_training_will_be_compiled() -> None:
    environment = {**os.environ, "CXX": "no_such_compiler"}
    words = [sys.executable, "-m", compiler.__name__]
    told = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout
    assert told.startswith("torch cannot compile here (there is no compiler no_such_compiler): training eagerly")


@pytest.mark.slow
def test_training_is_eager_where_torch_cannot_compile_and_says_so_once(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command(home, monkeypatch, NO_OPENMP)
    assert main([*CELL, "compile=null"]) == 0
    told = (
        "torch cannot compile here (fatal error: 'omp.h' file not found): training eagerly, several times slower; see"
    )
    assert capsys.readouterr().err.count(told) == 1
    assert modes(home) == {"eager"}


@pytest.mark.slow
def test_a_compiler_that_only_fails_cannot_compile(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command(home, monkeypatch, "#!/bin/sh\nexit 1\n")
    assert compiler.refusal()


@pytest.mark.slow
@pytest.mark.thorough
def test_a_python_in_a_folder_with_a_space_trains_eagerly(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "site").mkdir()
    (home / "site" / "sitecustomize.py").write_text(SPACE)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(home / "site"), *sys.path]))
    run = [sys.executable, "-m", "nalu_bench", *CELL]
    done = subprocess.run([*run, "compile=null"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "torch cannot compile here (" in done.stderr
    assert modes(home) == {"eager"}
    assert subprocess.run([*run, "compile=true", "first_seed=25"], capture_output=True, check=False).returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.thorough), 2])
def test_a_cache_that_cannot_be_made_trains_eagerly_in_every_process(
    home: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "file").write_text("")
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(home / "file" / "cache"))
    words = [*CELL[:3], "budget=smoke", "seeds=30", f"device.workers={workers}", "compile=null"]
    done = subprocess.run([sys.executable, "-m", "nalu_bench", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "torch cannot compile here (" in done.stderr
    assert modes(home) == {"eager"}


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("option", ["noexec", "size=8k", "ro"])
def test_a_folder_that_runs_nothing_is_full_or_read_only_trains_eagerly(
    home: Path, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        pytest.skip("only root mounts folders")
    folder = home / "mounted"
    folder.mkdir()
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR")
    run = f"TORCHINDUCTOR_CACHE_DIR={folder} {sys.executable} -m nalu_bench {' '.join(CELL)} compile=null"
    script = f"mount -t tmpfs -o {option} tmpfs {folder} && {run}"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "torch cannot compile here (" in done.stderr
    assert modes(home) == {"eager"}


@pytest.mark.slow
@pytest.mark.compiled
def test_a_trial_compiles_where_training_does() -> None:
    assert compiler._tried("cpu") == ""
