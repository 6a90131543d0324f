"""Work in other processes."""

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tqdm import tqdm

from nalu_bench.errors import Interrupted
from nalu_bench.running import pool, stop


def square(item: int, tell: Callable[..., None]) -> int:
    """The square of a number; -1 kills its process."""
    if item == -1:
        os._exit(1)
    tell(item, "seen")
    return item * item


def kind_of_lock(item: int, tell: Callable[..., None]) -> str:
    """What a bar that is drawn in this process locks."""
    with tqdm(total=item, file=io.StringIO()):
        return type(tqdm.get_lock()).__module__


def stay(item: int, tell: Callable[..., None]) -> None:
    tell("at work")
    time.sleep(30)


def save(folder: Path, tell: Callable[..., None]) -> None:
    """Work until it is to stop, then leave a file; work in a folder named `deaf` goes on for ever."""
    tell(os.getpid())
    while not stop.asked() or folder.name == "deaf":
        time.sleep(0.01)
    (folder / "saved").write_text("")
    raise Interrupted


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / "one", tmp_path / "two"]
    for path in paths:
        path.mkdir()
    return paths


@pytest.fixture
def ask() -> Iterator[Callable[..., None]]:
    """Listens to two workers, and sends this process SIGTERM once both are at work."""
    seen: list[int] = []

    def listen(worker: int) -> None:
        seen.append(worker)
        if len(seen) == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    with stop.after_the_step(lambda: ""):
        yield listen
        for _ in range(100):
            if not any(psutil.pid_exists(worker) for worker in seen):
                return
            time.sleep(0.1)
        pytest.fail("a worker outlives the work")


def test_a_parent_that_is_asked_to_stop_lets_its_workers_save(folders: list[Path], ask: Callable[..., None]) -> None:
    with pytest.raises(Interrupted):
        list(pool.outcomes(save, folders, 2, ask))
    assert all((folder / "saved").exists() for folder in folders)
    assert stop.exit_code() == 143


def test_a_worker_that_takes_too_long_to_save_is_killed(
    tmp_path: Path, folders: list[Path], ask: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stop, "SECONDS", 0.5)  # here; the worker's own limit stays
    deaf = tmp_path / "deaf"
    with pytest.raises(Interrupted):
        list(pool.outcomes(save, [folders[0], deaf], 2, ask))
    assert (folders[0] / "saved").exists()


def test_a_worker_that_gets_sigterm_itself_saves_and_so_do_the_others(folders: list[Path]) -> None:
    seen: list[int] = []

    def listen(worker: int) -> None:
        seen.append(worker)
        if len(seen) == 2:
            os.kill(worker, signal.SIGTERM)

    with pytest.raises(Interrupted):
        list(pool.outcomes(save, folders, 2, listen))
    assert all((folder / "saved").exists() for folder in folders)


def test_workers_without_work_end_at_once(folders: list[Path]) -> None:
    def both(*event: int) -> None:
        if len(event) == 2:  # the square: one worker is at work then, and one soon has none
            time.sleep(1)
            os.kill(os.getpid(), signal.SIGTERM)

    started = time.monotonic()
    with pytest.raises(Interrupted), stop.after_the_step(lambda: ""):
        list(pool.outcomes(square_or_save, [folders[0], 2], 2, both))
    assert (folders[0] / "saved").exists()
    assert time.monotonic() - started < stop.SECONDS


def square_or_save(item: Any, tell: Callable[..., None]) -> Any:
    return save(item, tell) if isinstance(item, Path) else square(item, tell)


SCRIPT = """
from nalu_bench.errors import UsageError
from nalu_bench.running import pool
from tests.running.test_pool import square
{guard}
    try:
        print(sorted(pool.outcomes(square, [1, 2, 3], 2, lambda *event: None)))
    except UsageError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("guard", "said"),
    [
        ("if True:", 'below the line `if __name__ == "__main__":`'),
        ("if __name__ == '__main__':", "[(1, 1), (2, 4), (3, 9)]"),
    ],
    ids=["without", "with"],
)
def test_a_script_without_a_main_guard_is_told_so(tmp_path: Path, guard: str, said: str) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.format(guard=guard))
    environment = os.environ | {"PYTHONPATH": f"{Path(__file__).parents[2]}:{os.environ.get('PYTHONPATH', '')}"}
    command = [sys.executable, str(tmp_path / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=environment)
    assert said in done.stdout
    assert "Traceback" not in done.stderr


def test_a_script_that_was_piped_into_python_is_told_so() -> None:
    environment = os.environ | {"PYTHONPATH": f"{Path(__file__).parents[2]}:{os.environ.get('PYTHONPATH', '')}"}
    script = SCRIPT.format(guard="if __name__ == '__main__':")
    done = subprocess.run(
        [sys.executable, "-"], input=script, capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert "must be a file, because every worker imports it, got <stdin>" in done.stdout


def test_what_the_work_makes_and_tells_arrives() -> None:
    told: list[Any] = []
    found = dict(pool.outcomes(square, [1, 2, 3], 2, lambda *event: told.append(event)))
    assert found == {1: 1, 2: 4, 3: 9}
    assert sorted(told) == [(1, "seen"), (2, "seen"), (3, "seen")]


def test_a_bar_in_a_worker_makes_no_lock_that_a_stopped_worker_would_leak() -> None:
    assert dict(pool.outcomes(kind_of_lock, [1], 1, lambda *_: None)) == {1: "_thread"}


def test_workers_import_nothing_that_lies_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "multiprocessing.py").write_text("raise SystemExit('ran')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert dict(pool.outcomes(square, [3], 1, lambda *_: None)) == {3: 9}


def test_a_process_that_dies_costs_its_own_work_alone() -> None:
    found = dict(pool.outcomes(square, [1, -1, 2, 3], 2, lambda *event: None))
    assert isinstance(found.pop(-1), pool.WorkerDiedError)
    assert found == {1: 1, 2: 4, 3: 9}


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_a_parent_that_is_killed(ending: signal.Signals) -> None:
    code = "from nalu_bench.running import pool; from tests.running.test_pool import stay; import sys\n"
    code += "if __name__ == '__main__': list(pool.outcomes(stay, [1], 1, lambda words: print(words, flush=True)))"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "at work\n"
        parent.send_signal(ending)
        parent.communicate(timeout=10)  # the end of the output: no process holds it any more
