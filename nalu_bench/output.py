"""Standard output and error, written as well as they can be: what they do not take is lost, and costs nothing else.

The reader of a pipe may end, a terminal may close, a log may fill its disk, an encoding may lack a letter. None of it
is a fault of the work that a command does, so the work goes on.
"""

import contextlib
import errno
import io
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TextIO

GONE = {errno.EPIPE, errno.EIO}
"""Errors of a pipe without a reader and of a terminal that was closed: nobody wants to read more."""


class Nowhere(io.TextIOBase):
    """Refuses every text, of a process that was started without a standard output or error."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


class Lenient:
    """A text stream that raises nothing when it is written, and is the given stream in all else.

    Args:
        stream: None for `Nowhere`.

    Attributes:
        absent: whether there is no stream at all.
        lost: the last error; None as long as there is none.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self.absent = stream is None
        self.stream = stream or Nowhere()
        self.lost: Exception | None = None

    def write(self, text: str) -> int:
        self._attempt(lambda: self._written(text))
        return len(text)

    def flush(self) -> None:
        self._attempt(self.stream.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def _written(self, text: str) -> None:
        try:
            self.stream.write(text)
        except UnicodeEncodeError as error:
            self.stream.write(text.encode(error.encoding, "replace").decode(error.encoding))

    def _attempt(self, act: Callable[[], object]) -> None:
        try:
            act()
        except (OSError, ValueError) as error:  # ValueError: the program has closed it
            self.lost = error


@contextlib.contextmanager
def lenient() -> Iterator[tuple[Lenient, Lenient]]:
    """Within, standard output and error raise nothing when they are written; gives the two."""
    before = sys.stdout, sys.stderr
    streams = Lenient(sys.stdout), Lenient(sys.stderr)
    sys.stdout, sys.stderr = streams
    try:
        yield streams
    finally:
        for stream in streams:
            stream.flush()
        sys.stdout, sys.stderr = before


def stay_lenient() -> None:
    """From now on, to the end of this process, standard output and error raise nothing when they are written."""
    sys.stdout, sys.stderr = Lenient(sys.stdout), Lenient(sys.stderr)


def unread() -> bool:
    """Whether standard output takes nothing more; a command that would print for ever then ends."""
    return getattr(sys.stdout, "lost", None) is not None


def fault(stream: Lenient) -> str:
    """Why text of a stream is lost, at its end; empty if none is, and if its reader chose to read no more.

    What the stream still holds is given up: Python would try to write it at its end, and tell of the error.
    """
    stream.flush()
    if stream.lost is None:
        return ""
    with contextlib.suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())
    gone = isinstance(stream.lost, OSError) and stream.lost.errno in GONE
    return "" if gone else getattr(stream.lost, "strerror", None) or str(stream.lost)


def open_standard_files() -> None:
    """Open those of the files 0, 1 and 2 that the caller has closed, and let all of them wait for their readers.

    The next file would otherwise take the number, and all that any library writes to standard error. A pipe that does
    not wait loses what its reader is too slow for.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number is this one
        with contextlib.suppress(OSError):  # a device that knows no waiting
            os.set_blocking(number, True)
