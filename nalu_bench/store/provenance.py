"""Provenance of a run: versions, processor, commit.

It holds only what can change a number, and no names of machines or people.
"""

import functools
import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from nalu_bench import __version__, paths

LONGEST = 30.0
"""Seconds for an answer of git, which may wait for a disk of the network or for a lock."""


def provenance() -> dict[str, str]:
    """Versions, processor and time."""
    return {
        "nalu_bench": __version__,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "processor": processor(),
        "finished": now(),
    }


def now() -> str:
    """The time as the store writes it: `2026-11-27T12:00:00Z`."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@functools.cache
def commit() -> str:
    """The checkout's commit, with `+` if files differ from it; "unknown" outside a checkout, or without git.

    Another repository is never meant: neither one that variables such as GIT_DIR name, nor one around the checkout.
    """
    if not paths.in_checkout():
        return "unknown"
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    variables["GIT_CEILING_DIRECTORIES"] = str(paths.CHECKOUT.parent)

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(paths.CHECKOUT), *arguments]
        return subprocess.run(
            command, env=variables, capture_output=True, text=True, check=True, timeout=LONGEST
        ).stdout.strip()

    try:
        head = git("rev-parse", "--short=12", "HEAD")
        if not re.fullmatch("[0-9a-f]{12}", head):  # a wrapper of git may say more
            return "unknown"
        return head + ("+" if git("status", "--porcelain", "--", "nalu_bench", "conf", "experiments") else "")
    except (OSError, ValueError, subprocess.SubprocessError):  # no git, one that fails or hangs, no repository
        return "unknown"


@functools.cache
def processor() -> str:
    """The kind of the CPU: its model name, such as `AMD EPYC`, which alone may stand for several, family and model."""
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0]
    except OSError:
        return platform.processor() or platform.machine()
    entries = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in first.splitlines())}
    numbers = [f"{key.split()[-1]} {entries[key]}" for key in ("cpu family", "model") if key in entries]
    return ", ".join([entries.get("model name", platform.machine()), *numbers])
