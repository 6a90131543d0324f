"""What signals do before and while blocks train."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from nalu_bench.errors import Interrupted
from nalu_bench.running import stop

HANDLED = stop.SIGNALS


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """`nohup` and a shell's background, where the tests may run, ignore these."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGHUP, signal.SIGQUIT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_while_blocks_train_is_noted_and_raises_nothing(number: int, code: int) -> None:
    before = [signal.getsignal(one) for one in HANDLED]
    with stop.after_the_step(lambda: ""):
        assert not stop.asked()
        send(number)
        assert stop.asked()
        send(signal.SIGTERM)  # clusters repeat it
    assert not stop.asked()
    assert stop.exit_code() == code
    assert [signal.getsignal(one) for one in HANDLED] == before


def test_a_second_sigint_interrupts_a_process_that_is_not_our_own() -> None:
    with stop.after_the_step(lambda: ""):
        send(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGINT)


def test_a_signal_before_training_interrupts_a_process_that_is_not_our_own() -> None:
    for number in HANDLED:
        with pytest.raises(KeyboardInterrupt), stop.at_once("stopped."):
            send(number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP], ids=["background", "nohup"])
def test_a_signal_that_is_ignored_stays_so(number: int) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with stop.after_the_step(lambda: ""):
            send(number)
            assert not stop.asked()
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", stop.LIMITS)
def test_a_signal_of_a_batch_system_stops_training_unless_somebody_else_handles_it(number: int) -> None:
    heard: list[int] = []
    with stop.after_the_step(lambda: ""):
        send(number)
        assert stop.asked()
    before = signal.signal(number, lambda number, _: heard.append(number))
    try:
        with stop.with_a_word(), stop.after_the_step(lambda: ""):
            send(number)
            assert not stop.asked()
    finally:
        signal.signal(number, before)
    assert heard == [number]


def test_who_waits_for_other_processes_is_interrupted_whatever_their_end_raises() -> None:
    def wait() -> None:
        try:
            send(signal.SIGTERM)
        except KeyboardInterrupt:
            raise OSError("a worker has ended") from None

    with pytest.raises(Interrupted), stop.through_children():
        wait()
    with pytest.raises(OSError, match="no signal"), stop.through_children():
        raise OSError("no signal")


OWN = (
    "import os, signal, sys, time; from nalu_bench.running import stop\nstop.own(); kill = os.kill; me = os.getpid()\n"
)
AFTER = """
with stop.with_a_word():
    try:
        with stop.through_children(): kill(me, signal.SIGINT)
    except KeyboardInterrupt:
        kill(me, signal.{})
"""


TWICE = """
with stop.with_a_word():
    try:
        kill(me, signal.SIGINT)
    except KeyboardInterrupt:
        kill(me, signal.SIGINT)
"""


@pytest.mark.parametrize(
    ("program", "code", "said"),
    [
        ("with stop.at_once('a line'): kill(me, signal.SIGINT)", 130, "a line"),
        ("with stop.at_once('a line'): kill(me, signal.SIGTERM)", 143, "a line"),
        ("with stop.at_once('a line'): kill(me, signal.SIGHUP)", 129, "a line"),
        ("with stop.with_a_word(): kill(me, signal.SIGTERM)", 143, "stopped."),
        ("os.close(2)\nwith stop.at_once('a line'): kill(me, signal.SIGHUP)", 129, ""),
        ("with stop.after_the_step(lambda: 'late', 0.2): kill(me, signal.SIGTERM); time.sleep(30)", 143, "late"),
        ("with stop.after_the_step(lambda: 'no'): kill(me, signal.SIGTERM); kill(me, signal.SIGINT)", 130, "at once"),
        ("with stop.after_the_step(lambda: 'no', 0.2): kill(me, signal.SIGTERM)\ntime.sleep(0.5); sys.exit(3)", 3, ""),
        (AFTER.format("SIGINT"), 130, "the same command goes on"),
        (AFTER.format("SIGTERM"), 143, "the same command goes on"),
        (TWICE, 130, "stopped."),
    ],
    ids=[
        "before",
        "before-term",
        "before-hup",
        "report",
        "no-terminal",
        "late",
        "second",
        "in-time",
        "told",
        "told-term",
        "twice",
    ],
)
def test_a_process_of_our_own_ends_with_a_line(program: str, code: int, said: str) -> None:
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", OWN + program], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert said in done.stderr.strip()
    assert bool(said) == bool(done.stderr)
    assert time.monotonic() - started < 20
