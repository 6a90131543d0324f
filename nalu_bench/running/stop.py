"""What SIGINT, SIGTERM and the like do: a line and the end, or, while blocks train, an end after their next step."""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from nalu_bench.errors import Interrupted

SECONDS = 8.0
"""The time in which blocks must have reached their next step and saved it; a process then ends without them."""

SPARE = 1.0
"""A parent waits longer than its workers, so that it can say what they have saved."""

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""A terminal that is closed, or a connection that breaks, sends SIGHUP; under nohup it is ignored."""

LIMITS = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGXCPU, signal.SIGQUIT)
"""What batch systems send when time is nearly up, a limit of processor time, and Ctrl-\\.

Whoever handles one already goes on to, as submitit does with its own.
"""

TO_ALL = (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
"""A terminal and a batch system send these to all processes of a command at once."""

AT_ONCE = "stopped at once; the same command goes on from the last checkpoints."

_asked: int | None = None
_last: int | None = None
_owned = False


def own() -> None:
    """This process runs nothing but our command: a signal may end it.

    In any other process, such as a notebook's, a signal that cannot wait raises KeyboardInterrupt instead.
    """
    global _owned
    _owned = True


def asked() -> bool:
    """Whether a signal has asked this process to stop; training looks after every step."""
    return _asked is not None


def exit_code() -> int:
    """The exit status of a process that was asked to stop, 128 + the signal; that of SIGTERM also to a worker alone."""
    return 128 + (_last or signal.SIGTERM)


@contextlib.contextmanager
def at_once(line: str) -> Iterator[None]:
    """Within, a signal prints the line and ends the process.

    No exception is raised: the import of a module would turn it into another one, or lose it.
    """

    def handle(number: int, _: Any) -> None:
        if not _owned:
            raise KeyboardInterrupt
        _end(128 + number, line)

    with _handled_by(handle):
        yield


@contextlib.contextmanager
def with_a_word() -> Iterator[None]:
    """Within, SIGTERM and SIGHUP end the process with a line; SIGINT raises KeyboardInterrupt, as it always does.

    After a signal that has stopped training, or a first SIGINT, each of them ends the process, while that is still
    being told.
    """
    interrupted = False

    def handle(number: int, _: Any) -> None:
        nonlocal interrupted
        if _last is not None and _owned:
            _end(128 + number, AT_ONCE)
        if number == signal.SIGINT and not (interrupted and _owned):
            interrupted = True
            raise KeyboardInterrupt
        _end(128 + number, "stopped.")

    with _handled_by(handle):
        yield


@contextlib.contextmanager
def through_children() -> Iterator[None]:
    """Within, the first signal goes to all processes below this one, and raises Interrupted once they have ended.

    A second SIGINT ends this process at once.
    """

    def handle(number: int, _: Any) -> None:
        if _noted(number):
            if _owned:
                _end_children()
            raise Interrupted

    with _handled_by(handle):
        try:
            yield
        except BaseException:
            if asked():
                raise Interrupted from None  # who waited for the processes tells of their end in many ways
            raise


@contextlib.contextmanager
def after_the_step(line: Callable[[], str], seconds: float = SECONDS) -> Iterator[None]:
    """Within, the first signal makes `asked` true; a second SIGINT ends the process at once.

    Args:
        line: makes the line that a process of our own prints before it ends, if it is still here after `seconds`; an
            empty one is not printed.
        seconds: the time that training has to reach its next step.
    """
    late = threading.Timer(seconds, lambda: _end(exit_code(), line()))
    late.daemon = True

    def handle(number: int, _: Any) -> None:
        if _noted(number) and _owned:
            late.start()

    with _handled_by(handle):
        try:
            yield
        finally:
            late.cancel()


def _end_children() -> None:
    """Let the processes below this one save what they have, and kill those that take too long.

    Trackers of shared resources are left alone: they ignore the signal, and end with this process.
    """
    import psutil

    children = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has just ended
            if "resource_tracker" not in " ".join(child.cmdline()):
                child.terminate()
                children.append(child)
    for child in psutil.wait_procs(children, SECONDS)[1]:
        child.kill()


def _noted(number: int) -> bool:
    """Note the signal; returns whether it is the first."""
    global _asked, _last
    if _asked is None:
        _asked = _last = number
        return True
    if number == signal.SIGINT:
        if not _owned:
            raise KeyboardInterrupt
        _end(128 + number, AT_ONCE)
    return False


def _end(code: int, line: str) -> None:
    if line:
        with contextlib.suppress(OSError):  # the terminal is gone
            os.write(2, f"\n{line}\n".encode())
    os._exit(code)


def _is_ours(handler: Any) -> bool:
    """Whether a handler is the default one, or stands in this module."""
    return handler == signal.SIG_DFL or getattr(handler, "__module__", "") == __name__


@contextlib.contextmanager
def _handled_by(handle: Callable[[int, Any], None]) -> Iterator[None]:
    """Install a handler of the signals; a signal that is ignored stays so, as SIGINT is in a script's background."""
    global _asked
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals
        return
    numbers = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    numbers += [number for number in LIMITS if _is_ours(signal.getsignal(number))]
    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous or signal.SIG_DFL)
        _asked = None
