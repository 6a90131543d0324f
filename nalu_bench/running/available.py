"""The memory that new processes may use: the free memory of the system, within the limits of control groups."""

from collections.abc import Iterator
from pathlib import Path

import psutil

PROC = Path("/proc/self/cgroup")
ROOT = Path("/sys/fs/cgroup")


def available() -> int:
    """Bytes that new processes can use.

    psutil reports the whole machine. A container or a batch job has less: the smallest remainder among the control
    groups of this process.
    """
    return max(0, min([psutil.virtual_memory().available, *group_rests(PROC, ROOT)]))


def group_rests(proc: Path, root: Path) -> Iterator[int]:
    """Limit minus use of every control group of a process that has a limit; cached file pages count as free.

    Args:
        proc: the process's list of groups, lines of `number:controllers:path`.
        root: where the groups are mounted.
    """
    if not proc.exists():  # not Linux
        return
    for line in proc.read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # version 2
            yield from _rests(root, path, "memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
            yield from _rests(root / "memory", path, limit, used, "total_inactive_file")


def _rests(root: Path, path: str, limit: str, used: str, cached: str) -> Iterator[int]:
    """The remainders of the group at `path` and of its parents; in a container, only `root` may exist."""
    group = root / path.strip("/")
    for folder in (group, *group.parents):
        if folder.is_relative_to(root) and (folder / limit).exists():
            most = (folder / limit).read_text(encoding="utf-8").strip()
            if most != "max":
                stat = (folder / "memory.stat").read_text(encoding="utf-8").split()
                free = dict(zip(stat[::2], map(int, stat[1::2]), strict=True)).get(cached, 0)
                yield int(most) - int((folder / used).read_text(encoding="utf-8")) + free
