"""Work in other processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nalu_bench.run import pool


def square(item: int, tell: Callable[..., None]) -> int:
    """The square of a number; -1 kills its process."""
    if item == -1:
        os._exit(1)
    tell(item, "seen")
    return item * item


def stay(item: int, tell: Callable[..., None]) -> None:
    tell("at work")
    time.sleep(30)


def test_what_the_work_makes_and_tells_arrives() -> None:
    told: list[Any] = []
    found = dict(pool.outcomes(square, [1, 2, 3], 2, lambda *event: told.append(event)))
    assert found == {1: 1, 2: 4, 3: 9}
    assert sorted(told) == [(1, "seen"), (2, "seen"), (3, "seen")]


def test_a_process_that_dies_costs_its_own_work_alone() -> None:
    found = dict(pool.outcomes(square, [1, -1, 2, 3], 2, lambda *event: None))
    assert isinstance(found.pop(-1), pool.WorkerDiedError)
    assert found == {1: 1, 2: 4, 3: 9}


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_a_parent_that_is_killed(ending: signal.Signals) -> None:
    code = "from nalu_bench.run import pool; from tests.run.test_pool import stay; import sys\n"
    code += "if __name__ == '__main__': list(pool.outcomes(stay, [1], 1, lambda words: print(words, flush=True)))"
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "at work\n"
        parent.send_signal(ending)
        parent.communicate(timeout=10)  # the end of the output: no process holds it any more
