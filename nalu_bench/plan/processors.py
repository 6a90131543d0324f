"""The processors that this process may use: those it is bound to, within the limits of control groups."""

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path

from nalu_bench.plan import control_groups
from nalu_bench.plan.control_groups import PROC, ROOT, Group


def usable() -> int:
    """How many processes can compute side by side, at least 1.

    `taskset`, Slurm and Docker bind a process to some processors, or give it a share of their time. A share of 1.5
    processors keeps two busy for most of the time.
    """
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([bound, *map(math.ceil, quotas())]))


def quotas(proc: Path = PROC, root: Path = ROOT) -> Iterator[float]:
    """The processors whose time each control group has; see `control_groups.of_process` for the arguments."""
    for group in control_groups.of_process("cpu", proc, root):
        with contextlib.suppress(ValueError):  # `max`, or no such file
            time, period = _time_and_period(group)
            if time > 0 and period > 0:
                yield time / period


def _time_and_period(group: Group) -> tuple[int, int]:
    """Microseconds of computing time in each period; the time is -1 in version 1 if there is no limit."""
    if group.version == 1:
        return int(group.read("cpu.cfs_quota_us")), int(group.read("cpu.cfs_period_us"))
    time, period = group.read("cpu.max").split()
    return int(time), int(period)
