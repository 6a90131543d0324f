"""What standard output and error do not take is lost; commands go on, and training above all."""

import fcntl
import io
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import nalu_bench
from nalu_bench import output
from nalu_bench.cli import main
from nalu_bench.plan.result import BlockResult
from nalu_bench.running import loggers
from nalu_bench.store.leases import System

COMMAND = [sys.executable, "-m", "nalu_bench"]
PIPE = 4096
"""The least bytes that a pipe can hold."""

TINY = ["task=ten_parameter", "model=nmu", "budget=smoke", "seeds=2", "compile=false"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    return tmp_path


def ended(*words: str, **files: Any) -> int:
    return subprocess.run([*COMMAND, *words], check=False, timeout=120, **files).returncode


def stored(home: Path) -> list[str]:
    assert not list(home.glob("runs/*/*/*/failures/*"))
    return sorted(part.parents[2].name for part in home.glob("runs/*/*/*/parts/*"))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.thorough), 2])
def test_training_goes_on_when_the_reader_of_its_log_dies(home: Path, workers: int) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = ["run", "-m", *TINY, "model=nmu,nau", f"device.workers={workers}"]
    words.remove("model=nmu")
    with os.fdopen(writing, "wb") as log:
        assert ended(*words, stdout=log, stderr=log) == 0
    assert stored(home) == ["nau", "nmu"]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_training_goes_on_when_its_log_fills_the_disk_and_the_command_says_so(home: Path) -> None:
    words = ["run", *TINY, "device.workers=1"]
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*COMMAND, *words], check=False, stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 1
        assert done.stderr.endswith("error: cannot write to standard output: No space left on device.\n")
        assert "Traceback" not in done.stderr
        assert ended("show", "model=nmu", stdout=full, stderr=full) == 1
    assert stored(home) == ["nmu"]


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["2>&-", "0<&- 1>&- 2>&-"])
def test_training_needs_no_standard_files_and_nothing_else_takes_their_numbers(home: Path, closed: str) -> None:
    words = " ".join([*TINY, "device.workers=1"])
    code = f"exec {sys.executable} -m nalu_bench run {words} {closed}"
    assert subprocess.run(["sh", "-c", code], check=False, timeout=120).returncode == 0
    assert stored(home) == ["nmu"]
    said = f"exec {sys.executable} -c '{NUMBERS}' {closed}"
    assert subprocess.run(["sh", "-c", said], check=False).returncode == 0


NUMBERS = """
import os
from nalu_bench import output
output.open_standard_files()
assert os.open(os.devnull, os.O_RDONLY) > 2
assert all(os.get_inheritable(number) for number in range(3))
"""


@pytest.mark.parametrize("words", [["show", "model=nmu"], ["--help"]])
def test_a_reader_that_has_enough_is_no_error(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run([*COMMAND, *words], check=False, stdout=closed, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0
    assert "rror" not in done.stderr


def test_a_reader_that_is_slow_gets_everything_from_a_pipe_that_does_not_wait() -> None:
    command = [*COMMAND, "list", "unit"]
    expected = subprocess.run(command, check=True, capture_output=True).stdout
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, PIPE)
    os.set_blocking(writing, False)
    process = subprocess.Popen(command, stdout=writing)
    os.close(writing)
    time.sleep(2)  # it has filled the pipe
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == expected
    assert process.wait() == 0
    assert len(expected) > PIPE


@pytest.mark.parametrize("words", ["list unit", "show model=nmu", "status task=ten_parameter", "--help"])
def test_a_command_whose_standard_output_is_closed_says_so_and_fails(words: str) -> None:
    code = f"exec {sys.executable} -m nalu_bench {words} >&-"
    done = subprocess.run(["sh", "-c", code], check=False, timeout=120, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: cannot write to standard output: Bad file descriptor.\n"


def test_status_stops_to_watch_when_nobody_reads_it() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        assert ended("status", "--watch", *TINY, stdout=closed) == 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_letters_that_an_encoding_lacks_are_replaced(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", encoding)
    done = subprocess.run([*COMMAND, "list", "unit"], check=False, capture_output=True)
    assert done.returncode == 0
    assert "?" in done.stdout.decode(encoding)
    assert not done.stderr


class Broken(io.StringIO):
    """A stream whose reader is gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")

    def flush(self) -> None:
        self.write("")


def test_a_script_trains_without_a_reader_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, Broken())
    found = nalu_bench.run(*TINY, "device.workers=1")
    assert isinstance(sys.stderr, Broken)
    assert len(found.runs) == 2
    assert stored(home) == ["nmu"]


def test_a_stream_that_is_closed_or_missing_takes_everything() -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (closed, None):
        one = output.Lenient(stream)
        print("a line", file=one)  # type: ignore[call-overload]
        one.flush()
    assert not output.Lenient(None).isatty()


def test_a_logger_that_raises_costs_no_block(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def write(self: loggers.Nothing, root: Path, cell: object, result: BlockResult) -> None:
        raise OSError("the other program is not there")

    monkeypatch.setattr(loggers.Nothing, "write", write)
    assert main(["run", *TINY, "device.workers=1"]) == 0
    assert "stored, but logger=none did not end its copy: OSError: the other program" in capsys.readouterr().err
    assert stored(home) == ["nmu"]


def test_a_lease_that_cannot_be_removed_costs_no_block(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def remove(self: System, path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(System, "remove", remove)
    assert main(["run", *TINY, "device.workers=1"]) == 0
    assert stored(home) == ["nmu"]
