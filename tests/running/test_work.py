"""What training a group records."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nalu_bench.errors import Interrupted
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.machine import Machine
from nalu_bench.running import stop, work
from nalu_bench.running.jobs import Job, groups, pending
from nalu_bench.store.reader import Store


@pytest.fixture
def job(make_cell: Callable[..., Cell], tmp_path: Path) -> Job:
    return pending([Wanted(make_cell(), tuple(range(3)))], Store(tmp_path), Machine("cpu", False, 1))[0]


@pytest.mark.parametrize("raised", [True, False], ids=["raised", "yielded"])
def test_an_error_that_a_signal_brought_about_is_no_failure(
    job: Job, monkeypatch: pytest.MonkeyPatch, raised: bool
) -> None:
    """A signal to a whole group of processes ends compilers, too."""

    def train(*_: Any) -> Iterator[tuple[int, Exception]]:
        os.kill(os.getpid(), signal.SIGTERM)
        if raised:
            raise RuntimeError("the compiler died")
        yield 0, RuntimeError("the compiler died")

    monkeypatch.setattr(work, "_train_leased", train)
    with stop.after_the_step(lambda: ""), pytest.raises(Interrupted):
        work.train_group(next(iter(groups([job], 1))), lambda *_: None)
    assert not list(job.root.glob("**/failures/*"))


def test_any_other_error_is_a_failure(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "_train_leased", lambda *_: iter([(0, RuntimeError("the compiler died"))]))
    (line,) = work.train_group(next(iter(groups([job], 1))), lambda *_: None).failures
    assert "the compiler died" in line
    assert len(list(job.root.glob("**/failures/*"))) == 1
