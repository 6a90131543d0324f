"""Work in processes side by side. Their reports are passed on; a process that dies loses only its own work.

Workers end with their parent, however it ends.
"""

import contextlib
import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import SpawnContext
from typing import Any, TypeVar

from nalu_bench.errors import plain_warnings

Item = TypeVar("Item")
Result = TypeVar("Result")

Tell = Callable[..., None]
"""The work calls it with anything it has to report."""


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
    """
    left = list(items)
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
    context: SpawnContext = multiprocessing.get_context("spawn")  # torch's threads do not survive a fork
    events: Any = context.Queue()
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, context, initializer=_start, initargs=(events,))
    try:
        pending = {pool.submit(_work, work, item): item for item in items}
        while pending:
            _pass_on(events, listen)
            for future in [future for future in pending if future.done()]:
                item = pending.pop(future)
                with contextlib.suppress(BrokenProcessPool):
                    yield item, future.result()
    except BaseException:
        with _deaf():
            for process in set(multiprocessing.active_children()) - others:
                process.kill()  # its block goes on from its last checkpoint
            pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Ignore Ctrl-C: a second one must not leave workers behind that wait for work for ever."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is interrupted
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _pass_on(events: Any, listen: Tell) -> None:
    """Pass on everything that the workers have told; wait briefly for the first of it."""
    with contextlib.suppress(queue.Empty):
        listen(*events.get(timeout=0.2))
        while True:
            listen(*events.get_nowait())


_events: Any = None


def _start(events: Any) -> None:
    global _events
    _events = events
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent ends its workers
    threading.Thread(target=_end_with_parent, daemon=True).start()
    plain_warnings()


def _end_with_parent() -> None:
    """End this worker when its parent dies.

    A killed parent cannot end its workers, and a worker that went on would write beside those of the next run.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _work(work: Callable[[Item, Tell], Result], item: Item) -> Result:
    return work(item, lambda *event: _events.put(event))
