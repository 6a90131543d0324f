"""The command nalu-bench, also as python -m nalu_bench."""

import atexit
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType


def main() -> int:
    """Run one command in a process of its own; returns its exit status."""
    numbers = [one for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) != signal.SIG_IGN]
    code: int | None = None

    def finished(number: int, _: FrameType | None) -> None:
        os._exit(128 + number if code is None else code)

    for number in numbers:  # a signal in the middle of an import would show as any error
        signal.signal(number, _end)
    atexit.register(_ignore, numbers)  # the last that is called, as nothing was registered before
    from nalu_bench import output

    output.open_standard_files()
    # figures are drawn to files alone, and the name of a backend that is not there would end matplotlib's import
    os.environ.pop("MPLBACKEND", None)
    from nalu_bench import cli
    from nalu_bench.running import stop

    for number in numbers:  # Python takes a second to end, and would show a traceback
        signal.signal(number, finished)
    stop.own()
    with stop.with_a_word():
        code = cli.main()
    return code


def _ignore(numbers: Sequence[signal.Signals]) -> None:
    """Ignore signals while Python frees its memory: without its handlers they would change the exit status."""
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, _: FrameType | None) -> None:
    with contextlib.suppress(OSError):  # the terminal is gone
        os.write(2, b"\nstopped before anything was begun: nothing yet is kept, and nothing is lost.\n")
    os._exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
