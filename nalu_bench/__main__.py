"""The command nalu-bench, also as python -m nalu_bench."""

import contextlib
import os
import signal
import sys
from types import FrameType


def main() -> int:
    """Run one command in a process of its own; returns its exit status."""
    numbers = [one for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) != signal.SIG_IGN]
    before = {number: signal.signal(number, _end) for number in numbers}
    from nalu_bench import output

    output.open_standard_files()
    # figures are drawn to files alone, and the name of a backend that is not there would end matplotlib's import
    os.environ.pop("MPLBACKEND", None)
    from nalu_bench import cli  # a signal in the middle of an import would show as any error
    from nalu_bench.running import stop

    for number, handler in before.items():
        signal.signal(number, handler)
    stop.own()
    with stop.with_a_word():
        code = cli.main()
    for number in numbers:  # Python takes a second to end, and would show a traceback
        signal.signal(number, lambda *_: os._exit(code))
    return code


def _end(number: int, _: FrameType | None) -> None:
    with contextlib.suppress(OSError):  # the terminal is gone
        os.write(2, b"\nstopped before anything was begun: nothing yet is kept, and nothing is lost.\n")
    os._exit(128 + number)


if __name__ == "__main__":
    sys.exit(main())
