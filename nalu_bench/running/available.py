"""The memory that new processes may use: the free memory of the system, within the limits of control groups."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import psutil

from nalu_bench.plan import control_groups
from nalu_bench.plan.control_groups import PROC, ROOT, Group

FILES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}
"""Version of a group -> files of its limit and of its use, and the entry of `memory.stat` for cached file pages."""


def available() -> int:
    """Bytes that new processes can use.

    psutil reports the whole machine. A container or a batch job has less: the smallest remainder among the control
    groups of this process.
    """
    return max(0, min([psutil.virtual_memory().available, *group_rests(PROC, ROOT)]))


def group_rests(proc: Path, root: Path) -> Iterator[int]:
    """Limit minus use of every control group of a process that has a limit; cached file pages count as free.

    See `control_groups.of_process` for the arguments.
    """
    for group in control_groups.of_process("memory", proc, root):
        with contextlib.suppress(ValueError):  # `max`, or no such file
            yield _rest(group)


def _rest(group: Group) -> int:
    limit, used, cached = FILES[group.version]
    most = int(group.read(limit))
    stat = group.read("memory.stat").split()
    free = dict(zip(stat[::2], map(int, stat[1::2]), strict=True)).get(cached, 0)
    return most - int(group.read(used)) + free
