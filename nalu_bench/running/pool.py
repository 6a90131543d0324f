"""Work in processes side by side. Their reports are passed on; a process that dies loses only its own work.

Workers end with their parent, however it ends. A parent that is asked to stop sends SIGTERM to its workers, which save
what they have and end; a worker that gets SIGTERM from elsewhere does the same, and stops the whole work. The signal
is the only message: a flag in shared memory has a lock, and a worker that is killed may hold it.

loky, behind joblib, gives all work up when a process dies, as `concurrent.futures` does, and passes on no reports.
"""

import contextlib
import multiprocessing
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, resource_tracker
from multiprocessing.context import SpawnContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeVar

from tqdm import tqdm

from nalu_bench import output
from nalu_bench.errors import Interrupted, UsageError, plain_warnings
from nalu_bench.running import process, stop

Item = TypeVar("Item")
Result = TypeVar("Result")

Tell = Callable[..., None]
"""The work calls it with anything it has to report."""

UNGUARDED = 97
"""Exit status of a worker in which the script that started it would start workers again."""

GUARD = (
    'a script that trains with several workers must begin its work below the line `if __name__ == "__main__":`, '
    "because every worker imports the script; this one begins it when it is imported. Add the line, or set "
    "device.workers=1."
)

NO_FILE = (
    "a script that trains with several workers must be a file, because every worker imports it, got {file}; save it, "
    "or set device.workers=1."
)

ENDED = {-signal.SIGTERM, 128 + signal.SIGTERM, 128 + signal.SIGXCPU}
"""Exit status of a worker that a signal of its own has ended: between two items, or once it had saved the one it had.

Its processor time is limited for itself alone.
"""


class WorkerDiedError(Exception):
    """A process died in the middle of its work, perhaps killed because memory ran out."""


def outcomes(
    work: Callable[[Item, Tell], Result], items: Sequence[Item], workers: int, listen: Tell
) -> Iterator[tuple[Item, Result | WorkerDiedError]]:
    """Yield (item, result of `work`) as each item ends.

    If a process dies, nobody knows which item killed it. The remaining items are then tried one at a time, and only an
    item whose own process dies is given up.

    Args:
        work: a top-level function of an item and a `Tell`.
        items: one piece of work each.
        workers: number of processes.
        listen: called in this process with everything that the work tells.

    Raises:
        Interrupted if this process or a worker was asked to stop, once the workers have ended.
        UsageError if the workers cannot start, because the script that started them has no `__main__` guard or no file.
    """
    script = getattr(sys.modules["__main__"], "__file__", None)
    if script is not None and not Path(script).exists():  # it was piped into Python
        raise UsageError(NO_FILE.format(file=script))
    left = list(items)
    with process.variable(process.SAFE_PATH, "1"):  # a worker takes over the path of this process, but not at once
        while left:
            for item, result in _until_one_dies(work, left, workers, listen):
                left.remove(item)
                yield item, result
            if left and workers == 1:
                yield left.pop(0), WorkerDiedError("its worker process died, perhaps because memory ran out")
            workers = 1


def _until_one_dies(
    work: Callable[[Item, Tell], Result], items: Sequence[Item], workers: int, listen: Tell
) -> Iterator[tuple[Item, Result]]:
    _start_tracker()
    context: SpawnContext = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    events: Any = context.Queue()
    others = set(multiprocessing.active_children())
    workers = min(workers, len(items))
    pool = ProcessPoolExecutor(workers, context, initializer=_start, initargs=(events, os.getpid()))
    pending: dict[Future[Result], Item] = {}
    processes: set[BaseProcess] = set()
    try:
        with contextlib.suppress(BrokenProcessPool):  # a process may die while others are started
            for item in items:
                pending[_submit(pool, work, item)] = item
                processes |= set(multiprocessing.active_children()) - others
            pool.submit(_nothing)  # the pool looks for workers to watch before it starts the last one, and now again
        while pending:
            if stop.asked():
                raise Interrupted
            _pass_on(events, listen)
            for future in [future for future in pending if future.done()]:
                item = pending.pop(future)
                with contextlib.suppress(BrokenProcessPool):
                    yield item, future.result()
    except BaseException:
        _end(processes)
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    _pass_on(events, listen, wait=0.0)  # a worker has written all that it told when it ends, not when its work ends
    _judge({process.exitcode for process in processes})


def _nothing() -> None:
    pass


def _start_tracker() -> None:
    """Start multiprocessing's tracker of shared resources deaf to what all processes get, as it is to SIGINT.

    A tracker that dies is started anew, and complains of all that it has not seen begin.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*stop.TO_ALL} - {signal.SIGINT})
    try:
        resource_tracker.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _submit(pool: ProcessPoolExecutor, work: Callable[[Item, Tell], Result], item: Item) -> Future[Result]:
    try:
        return pool.submit(_work, work, item)
    except RuntimeError as error:
        if "bootstrapping" in str(error):  # this process is a worker, and has not yet imported the script
            raise SystemExit(UNGUARDED) from None
        raise


def _judge(ends: set[int | None]) -> None:
    """Raise the error that the exit statuses of the workers stand for; a worker that was killed stands for none."""
    if UNGUARDED in ends:
        raise UsageError(GUARD)
    if ends & ENDED and ends <= ENDED | {0, None}:  # the pool sends SIGTERM to the others of a worker that died
        raise Interrupted


def _end(processes: Collection[BaseProcess]) -> None:
    """Let the workers save what they have, and kill those that take too long."""
    until = time.monotonic() + stop.SECONDS
    running = {process.sentinel for process in processes}
    try:
        for process in processes:
            process.terminate()
        while running and time.monotonic() < until:
            running.difference_update(connection.wait(list(running), max(0.0, until - time.monotonic())))
    finally:
        for process in processes:
            process.kill()


def _pass_on(events: Any, listen: Tell, wait: float = 0.2) -> None:
    """Pass on everything that the workers have told; wait up to `wait` seconds for the first of it."""
    with contextlib.suppress(queue.Empty):
        listen(*events.get(timeout=wait))
        while True:
            listen(*events.get_nowait())


_events: Any = None


def _start(events: Any, parent: int) -> None:
    global _events
    _events = events
    tqdm.set_lock(threading.RLock())  # torch draws a bar as it compiles, whose lock of processes a stopped one leaks
    stop.own()
    for number in stop.TO_ALL:  # the parent ends its workers
        signal.signal(number, signal.SIG_IGN)
    output.stay_lenient()
    end_with(parent)
    plain_warnings()


def end_with(parent: int) -> None:
    """End this process when its parent dies, whose id is given.

    A killed parent cannot end its workers, and a worker that went on would write beside those of the next run.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _work(work: Callable[[Item, Tell], Result], item: Item) -> Result:
    with contextlib.suppress(Interrupted), stop.after_the_step(lambda: ""):
        result = work(item, lambda *event: _events.put(event))
        if not stop.asked():
            return result
    sys.stderr.flush()
    os._exit(stop.exit_code())
