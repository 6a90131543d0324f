"""What training costs in memory, estimated before it starts. Letters: S seeds, B examples, N inputs, E evaluated."""

import os
from collections.abc import Sequence
from pathlib import Path

from nalu_bench.models.model import WIDTH
from nalu_bench.plan.cell import Cell

PROCESS = 700 * 2**20
"""A worker with torch and a few compiled graphs, measured: 0.7 GB."""

FLOAT = 4
COPIES = 4
"""Arrays as large as a batch's inputs that one step holds: the numbers, their logarithms, gradients by them."""

ACTIVATIONS = 16
"""Numbers of an evaluated example for every seed: what the layers after the first compute, with room."""


def needed(cells: Sequence[Cell]) -> int:
    """Bytes of a process that trains one block of these cells side by side, rather more than less.

    4 · [(1 + 3·cells) S·B·N + 2 splits · cells · (2·E·N + 16·S·E)] + 0.7 GB
    """
    batch = max(WIDTH * cell.recipe.batch_size * cell.task.numbers("train") for cell in cells)
    evaluated = sum(
        cell.recipe.evaluation_size * (2 * cell.task.numbers(split) + ACTIVATIONS * WIDTH)
        for cell in cells
        for split in (*cell.task.evaluated, *cell.task.tested)
    )
    return PROCESS + FLOAT * ((1 + (COPIES - 1) * len(cells)) * batch + evaluated)


def available() -> int | None:
    """Bytes that new processes can use, or None where the system does not tell."""
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (ValueError, OSError, AttributeError):
        return None
