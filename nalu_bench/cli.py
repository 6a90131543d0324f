"""The command line: nalu-bench VERB."""

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from typing import Any

from nalu_bench import __version__, output, paths
from nalu_bench.errors import UsageError, in_a_line, plain_warnings
from nalu_bench.verbs import (
    article,
    campaign,
    explain,
    leaderboard,
    names,
    notebooks,
    report,
    run,
    show,
    status,
    verify,
)

VERBS = {
    "run": run, "status": status, "report": report, "explain": explain, "leaderboard": leaderboard, "verify": verify,
    "article": article, "list": names, "show": show, "notebooks": notebooks, "campaign": campaign,
}  # fmt: skip
"""In the order of the help."""

LIMITS = {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOSPC, errno.EDQUOT}
"""What a machine or a user may have no more of: open files, memory, processes, space on a disk."""

LAST_DATE = "253402300800"
"""The seconds from 1970 to the year 10,000, with which Python's dates end."""

EXAMPLES = """examples:
  nalu-bench run madsen2020/table1 budget=smoke
  nalu-bench report madsen2020/table1
  nalu-bench explain madsen2020/table1 model=nalu
  nalu-bench status madsen2020/table1 budget=paper
  nalu-bench verify madsen2020/table1 --rerun 3 --longest 10
Each verb has a page of its own: nalu-bench run --help
"""


class Exact(argparse.ArgumentParser):
    """The parser of a verb: the beginning of a flag is no flag, and a word that it does not know gets its own usage."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"allow_abbrev": False})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, []


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns 0, 1 if runs failed, 2 for a wrong request, 128 + a signal that ended it."""
    with output.lenient() as (out, err):
        try:
            code = _run(arguments)
        finally:
            lost = output.fault(out)
            if lost:
                print(f"error: cannot write to standard output: {lost}.", file=sys.stderr)
            output.fault(err)
    return code or int(bool(lost) and not err.absent)  # who closes both, as a daemon does, wants no word of it


def _run(arguments: Sequence[str] | None) -> int:
    try:
        if gone := paths.gone():
            raise UsageError(f"{gone}.")
        _drop_bad_date()
        given = _flags_first(sys.argv[1:] if arguments is None else arguments)
        parser = _parser(given[0] if given else "")
        _complete(parser)
        try:
            options = parser.parse_args(given)
        except SystemExit as end:  # after the help, or a flag that there is not
            return int(end.code or 0)
        plain_warnings()
        return int(options.command(options))
    except UsageError as error:
        print(f"error: {in_a_line(error)}", file=sys.stderr)
        return 2
    except OSError as error:
        must = "there must be room for what was asked; raise the limit, or set device.workers=1"
        if error.errno not in LIMITS:
            must = "what the command reads and writes must be there, and open to this user"
        print(f"error: {in_a_line(error)}: {must}.", file=sys.stderr)
        return 1
    except MemoryError:
        print("error: memory must suffice for what was asked, and ran out; ask for less.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped.", file=sys.stderr)
        return 130


def _drop_bad_date() -> None:
    """Leave out a date for reproducible builds that is none: libraries that read it would end the command."""
    date = os.environ.pop("SOURCE_DATE_EPOCH", "")
    known = date.isascii() and date.isdecimal() and len(date) <= len(LAST_DATE) and int(date) < int(LAST_DATE)
    if known:
        os.environ["SOURCE_DATE_EPOCH"] = date
    elif date:
        told = "must be seconds since 1970, before the year 10,000"
        print(f"warning: SOURCE_DATE_EPOCH {told}, got {date!r:.60}; it is left out.", file=sys.stderr)


def _complete(parser: argparse.ArgumentParser) -> None:
    """Answer a shell that asks for completions, and end; nothing if none asks."""
    if "_ARGCOMPLETE" in os.environ:
        import argcomplete

        argcomplete.autocomplete(parser)


def _flags_first(arguments: Sequence[str]) -> list[str]:
    """Put the verb first, then flags with their values: argparse does not take words on both sides of a flag."""
    verb, words = list(arguments[:1]), list(arguments[1:])
    flag = next((place for place, text in enumerate(words) if text.startswith("-")), len(words))
    overrides = [text for text in words[flag:] if "=" in text and not text.startswith("-")]
    flags = [text for text in words[flag:] if text not in overrides]
    return [*verb, *flags, *words[:flag], *overrides]


def _parser(verb: str) -> argparse.ArgumentParser:
    """The parser of one verb, or of all of them for any other word."""
    parser = argparse.ArgumentParser(
        "nalu-bench",
        description="Reproducible experiments with neural arithmetic units.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"nalu-bench {__version__}")
    verbs = parser.add_subparsers(metavar="VERB", required=True, parser_class=Exact)
    for chosen in [VERBS[verb]] if verb in VERBS else VERBS.values():
        chosen.add(verbs)
    return parser
