"""Leases: which process trains which block, where several processes share a store.

A lease is a file. Its creation is atomic, so that one of several processes gets it, and its owner removes it at the
end. Meanwhile the owner counts in it. Another process takes a lease away only if its owner is a dead process of the
same machine, or if the file has stayed the same in `PATIENCE` looks, a beat apart. So neither locks, nor times of
files, nor the clocks of two machines are ever compared.

An owner that only slept finds out at its next beat, and stops. Should two processes train a block all the same, they
compute the same bits, and the store keeps the part that comes first.

`filelock.SoftFileLease` is near, but beats by file times, expires by one clock, and cannot say how far a block is.
"""

import contextlib
import functools
import json
import math
import os
import platform
import secrets
import threading
import time
import warnings
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Any

import psutil

BEAT = 5.0
"""Seconds between two beats of an owner, and between two looks that count."""

PATIENCE = 18
"""Looks at an unchanged lease before it is taken away. Network file systems may show a file as it was a minute ago."""

LENGTH = 512
"""Bytes of a lease, filled with blanks: it is written again in its place, and a reader must find no older rest."""


START_TICKS = 19
"""The place of the start of a process in /proc/PID/stat, counted from 0 behind its name; see man proc."""


class LeaseLostError(Exception):
    """Another process has taken over the block; it goes on with it."""


@dataclass(frozen=True)
class Lease:
    """The content of a lease.

    Attributes:
        owner: random, of a group of blocks in one process.
        beats: counts while the owner lives.
        host, process: where the block trains, for people.
        machine: see `this_machine`.
        started: when the process started, see `started_at`; for its own machine alone.
        since: the time of the lease, for people.
        step, steps: how far the block is.
        rate: steps a second.
    """

    owner: str
    host: str
    process: int
    machine: str
    started: float
    since: str
    steps: int
    beats: int = 0
    step: int = 0
    rate: float = 0.0

    def text(self) -> str:
        """The lease as JSON."""
        return json.dumps(asdict(self)).ljust(LENGTH)

    @classmethod
    def parsed(cls, text: str) -> "Lease | None":
        """The lease in a file; None for a file that is being created, or damaged."""
        try:
            found = json.loads(text)
            kinds: dict[str, Any] = {entry.name: entry.type for entry in fields(cls)}
            lease = cls(**{name: kind(found[name]) for name, kind in kinds.items()})
            sound = all(0 <= count < 2**63 for count in (lease.step, lease.steps)) and 0 <= lease.rate < math.inf
            return lease if sound else None
        except (ValueError, KeyError, TypeError, OverflowError):
            return None


class System:
    """All that leases need of files, clocks and processes."""

    def create(self, path: Path, text: str) -> int | None:
        """Create a file and return its descriptor; None if it is there. Of several processes, one succeeds."""
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except FileExistsError:
            return None
        try:
            self.write(file, text)
        except OSError:  # the disk is full; an empty lease would keep others waiting
            self.close(file)
            self.remove(path)
            raise
        return file

    def write(self, file: int, text: str) -> None:
        """Write a file again, in its place: if it has been moved away, the one that took its name stays as it is."""
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, text.encode())

    def close(self, file: int) -> None:
        """Close a file that was created."""
        os.close(file)

    def read(self, path: Path) -> str | None:
        """The text of a file, None if it cannot be seen; empty, as of a damaged lease, for what is no file."""
        try:
            return path.read_text(encoding="utf-8", errors="replace") if S_ISREG(path.stat().st_mode) else ""
        except FileNotFoundError:
            return None

    def rename(self, path: Path, to: Path) -> bool:
        """Rename a file; False if it is gone. Of several processes, one succeeds."""
        try:
            os.rename(path, to)
        except FileNotFoundError:
            return False
        return True

    def remove(self, path: Path) -> None:
        """Remove a file if it is there."""
        path.unlink(missing_ok=True)

    def there(self, folder: Path) -> bool:
        """Whether a folder with files is there, on the server and not in this machine's memory of it.

        That memory may be a minute old. Making a folder is not answered from it.
        """
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
        try:
            folder.rmdir()
        except OSError:  # it is not empty
            return True
        return False

    def monotonic(self) -> float:
        """Seconds of this machine's clock."""
        return time.monotonic()

    def dead(self, lease: Lease) -> bool:
        """Whether the owner is a process of this machine that has ended."""
        if lease.machine != this_machine():
            return False
        try:
            process = psutil.Process(lease.process)
            other = started_at(process) != lease.started  # numbers come back after hours
            return other or process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True
        except psutil.AccessDenied:
            return False


@functools.cache
def this_machine() -> str:
    """A name of this boot of this machine, and of this container: among its processes, a process id means one."""
    parts = [platform.node()]
    with contextlib.suppress(OSError):  # not Linux
        parts += [Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()]
        parts += [os.readlink("/proc/self/ns/pid")]
    return " ".join(parts)


def started_at(process: psutil.Process) -> float:
    """When a process started: in ticks since this machine did, which stay when its clock is set; else by the clock."""
    try:
        after_name = Path(f"/proc/{process.pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        return float(after_name.split()[START_TICKS])
    except (FileNotFoundError, ProcessLookupError):
        return process.create_time()  # not Linux, or it has ended


class OwnLease:
    """One lease of this process.

    Args:
        system: files, clocks and processes.
        path: the lease's file.
        lease: its content.
        file: its descriptor.
    """

    def __init__(self, system: System, path: Path, lease: Lease, file: int) -> None:
        self.system = system
        self.path = path
        self.lease = lease
        self.lost = False
        self._file = file
        self._first: tuple[int, float] | None = None

    def reached(self, step: int) -> None:
        """Note a step for the next beat.

        Raises:
            LeaseLostError if another process has taken over.
        """
        if self.lost:
            raise LeaseLostError(str(self.path))
        now = self.system.monotonic()
        first, started = self._first = self._first or (step, now)
        rate = (step - first) / (now - started) if now > started else 0.0
        self.lease = replace(self.lease, step=step, rate=round(rate, 2))

    def beat(self) -> None:
        """Count on, unless the lease is another's now; make it again if it is gone."""
        text = self.system.read(self.path)
        self.lease = replace(self.lease, beats=self.lease.beats + 1)
        if text is None:  # a process has moved it away, and meant the lease that was there before
            made = self.system.create(self.path, self.lease.text())
            if made is not None:
                self.system.close(self._file)
                self._file = made
        elif not self.mine(text):
            self.lost = Lease.parsed(text) is not None
        else:
            self.system.write(self._file, self.lease.text())

    def mine(self, text: str | None) -> bool:
        """Whether this is the text of this lease."""
        found = Lease.parsed(text or "")
        return found is not None and found.owner == self.lease.owner

    def end(self) -> None:
        """Remove the lease, unless it is another's now."""
        with contextlib.suppress(OSError):  # the store cannot be reached: others find that the lease is abandoned
            if self.mine(self.system.read(self.path)):
                self.system.remove(self.path)
        self.system.close(self._file)


class Leases:
    """The leases of one process. In a `with`, a thread beats; at its end all leases are released."""

    def __init__(self, system: System | None = None) -> None:
        self.system = system or System()
        self.owner = secrets.token_hex(8)
        self._owned: list[OwnLease] = []
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._heart = threading.Thread(target=self._live, name="leases", daemon=True)

    def take(self, path: Path, steps: int) -> OwnLease | None:
        """Take the lease of a block of so many steps; None if another process has it."""
        lease = Lease(
            self.owner, platform.node(), os.getpid(), this_machine(), started_at(psutil.Process()),
            datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), steps,
        )  # fmt: skip
        file = self.system.create(path, lease.text())
        if file is None and freed_of_dead(self.system, path):
            file = self.system.create(path, lease.text())
        if file is None:
            return None
        owned = OwnLease(self.system, path, lease, file)
        with self._lock:
            self._owned.append(owned)
        return owned

    def release(self, owned: OwnLease) -> None:
        """Give up a lease."""
        with self._lock:
            self._owned.remove(owned)
            owned.end()

    def beat(self) -> None:
        """Count on in all leases. If the store cannot be written for a while, the next beat tries again."""
        with self._lock:
            for owned in self._owned:
                try:
                    owned.beat()
                except OSError as error:
                    warnings.warn(f"lease {owned.path} cannot be renewed ({error}).", stacklevel=2)

    def _live(self) -> None:
        while not self._over.wait(BEAT):
            self.beat()

    def __enter__(self) -> "Leases":
        self._heart.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for owned in tuple(self._owned):
            self.release(owned)


class Watch:
    """Looks at leases of other processes."""

    def __init__(self, system: System | None = None) -> None:
        self.system = system or System()
        self._seen: dict[Path, tuple[str | None, int, float]] = {}

    def free(self, path: Path) -> bool:
        """Look at a lease; whether the block can be leased. A lease that has been the same for long is removed.

        Looks are counted, and not time alone: if both processes are stopped and go on, the owner beats before the next
        look that counts.
        """
        text, now = self.system.read(path), self.system.monotonic()
        if text is None or freed_of_dead(self.system, path):
            return True
        before, looks, last = self._seen.get(path, (None, 0, now))
        if text != before:
            looks, last = 0, now
        elif now - last >= BEAT:
            looks, last = looks + 1, now
        self._seen[path] = (text, looks, last)
        return looks >= PATIENCE and _moved_away(self.system, path, text)


def freed_of_dead(system: System, path: Path) -> bool:
    """Remove a lease whose owner is dead; whether that has been done."""
    text = system.read(path)
    lease = Lease.parsed(text or "")
    return text is not None and lease is not None and system.dead(lease) and _moved_away(system, path, text)


def _moved_away(system: System, path: Path, text: str) -> bool:
    """Remove the lease that has this text; whether that has been done.

    Between the look and the renaming, its owner may have beaten, or another process may have taken it over. What was
    renamed then has another text, and its owner makes it again at its next beat.
    """
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    if not system.rename(path, aside):
        return False
    same = system.read(aside) == text
    system.remove(aside)
    return same
