"""Whether torch can compile here: it is tried once, and what came out is kept for this machine.

A compiler alone is not enough. It needs OpenMP and Python's library, and the system must load what it writes into the
folder for temporary files and into TorchInductor's cache.
"""

import contextlib
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from nalu_bench.files import HOST, write_atomically
from nalu_bench.running import process
from nalu_bench.store import provenance

SEE = "see CXX, TMPDIR and TORCHINDUCTOR_CACHE_DIR"

VARIABLES = ("PATH", "CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "CONDA_PREFIX")
"""Of the environment, those that a compiler reads; torch's begin with TORCH."""

BELIEVED = 3600.0
"""Seconds for which a failure is believed: its cause may be mended, and the key may not show it."""

LONGEST = 300.0
"""Seconds that a trial may take; it takes 5 to 15."""


def command() -> str:
    """The compiler's command: $CXX, or else torch's default on this system."""
    return os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")


@functools.cache
def works(device: str = "cpu") -> bool:
    """Whether torch can compile for this device here."""
    return not refusal(device)


def refusal(device: str = "cpu", again: bool = False) -> str:
    """Why torch cannot compile for this device here, in one line; empty if it can.

    Args:
        again: whether to try again what has failed before.
    """
    path = shutil.which(command())
    if path is None:
        return f"there is no compiler {command()}"
    try:
        record = _record(path, device)
    except OSError as error:  # there is no folder for temporary files
        return str(error)
    known = _kept(record)
    if known is None or (known and again):
        known = _tried(device)
        _keep(record, known)
    return known


def eager(why: str) -> str:
    """What a refusal means, in one line."""
    return f"torch cannot compile here ({why}): training eagerly, several times slower; {SEE}."


def _record(compiler: str, device: str) -> Path:
    """The file of what came out: its name is a hash of all that it depends on, as far as that can be seen."""
    stated = {name: value for name, value in os.environ.items() if name in VARIABLES or name.startswith("TORCH")}
    found = os.stat(compiler)
    facts = [
        HOST, provenance.processor(), device, sys.executable, sys.version, version("torch"), stated, compiler,
        found.st_size, found.st_mtime_ns, sysconfig.get_path("include"), sysconfig.get_config_var("LIBDIR"),
        *_folders(),
    ]  # fmt: skip
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir(), f"nalu_bench_{os.getuid()}", f"compiler_{key}.json")


def _folders() -> Iterator[tuple[str, int, bool]]:
    """The folder for temporary files and TorchInductor's cache, or what is there of its path: how they are mounted."""
    for name in filter(None, (tempfile.gettempdir(), process.cache_folder())):
        path = Path(name).absolute()
        there = next(folder for folder in (path, *path.parents) if folder.exists())
        yield str(there), os.statvfs(there).f_flag, os.access(there, os.W_OK | os.X_OK)


def _kept(record: Path) -> str | None:
    """What came out before; None if nothing is known, or only a failure that is old."""
    try:
        process.refuse_others(record.parent)
        told = str(json.loads(record.read_text(encoding="utf-8"))["refusal"])
        old = time.time() - record.stat().st_mtime > BELIEVED
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return None if told and old else told


def _keep(record: Path, told: str) -> None:
    with contextlib.suppress(OSError):  # then the next process tries it, too
        record.parent.mkdir(mode=0o700, exist_ok=True)
        process.refuse_others(record.parent)
        write_atomically(record, lambda new: new.write_text(json.dumps({"refusal": told}), encoding="utf-8"))


def _tried(device: str) -> str:
    """Compile, load and run a small graph in another process; returns why that failed, or an empty text."""
    process.make_cache()
    words = [sys.executable, "-m", "nalu_bench.training.trial", device]
    environment = {**os.environ, process.SAFE_PATH: "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(
            words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
            timeout=LONGEST, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return lines[-1] if lines else f"a process that tried it ended with the status {done.returncode}"


if __name__ == "__main__":
    found = refusal(again=True)
    print(eager(found) if found else "torch compiles here: training will be compiled.")
