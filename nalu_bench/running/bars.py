"""tqdm, with variables `TQDM_...` of the user only where it understands them: a progress bar ends no training."""

import functools
import io
import os
import sys
import threading
from typing import Any

from nalu_bench.errors import in_a_line, named

PREFIX = "TQDM_"

LOOK: Any = {"unit": "step", "unit_scale": True, "dynamic_ncols": True}


def bar(total: int, initial: int = 0, quiet: bool = False, pause: float = 0.1) -> Any:
    """A bar of steps on standard error, with at least `pause` seconds between two lines; none if `quiet`."""
    kind = _usable()
    kind.set_lock(threading.RLock())  # its own is a semaphore of the system, which outlives a process that is killed
    silent = {"disable": True} if quiet else {}
    return kind(total=total, initial=initial, mininterval=pause, file=sys.stderr, **LOOK, **silent)


def write(text: str) -> None:
    """Write a line to standard error, above the bar."""
    _usable().write(text, file=sys.stderr)


@functools.cache
def _usable() -> Any:
    """tqdm's class. Where its variables stop it, they are left out of this process, and one line says so.

    tqdm reads them when it is imported, and uses them at every line that it writes.
    """
    try:
        return _tried()
    except Exception as error:  # tqdm converts and formats whatever stands there
        names = [name for name in os.environ if name.startswith(PREFIX)]
        if not names:
            raise
        for name in names:
            del os.environ[name]
        told = f"tqdm cannot use {', '.join(names)} ({named(error)}); the bar goes without them."
        print(f"warning: {in_a_line(told)}", file=sys.stderr)
        for module in [name for name in sys.modules if name.partition(".")[0] == "tqdm"]:
            del sys.modules[module]
        return _tried()


def _tried() -> Any:
    from tqdm import tqdm

    with tqdm(total=2, file=io.StringIO(), mininterval=0, **LOOK) as tried:
        tried.set_postfix_str("tried")
        tried.update(1)
    return tqdm
