"""How a process that trains takes memory from the system: in large pages, and without giving it back at every step."""

import ctypes
import os

KEPT = 2**30
"""Bytes of freed memory that a process keeps, and the size from which an array is given back at once."""

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Parameters of `mallopt` in malloc.h of glibc."""


def tune() -> None:
    """Tune the allocator of this process, before torch is imported; numbers do not depend on it.

    glibc gives the memory of large arrays back as soon as they are freed, and the system clears each page of it at the
    next step: a tenth of the time of a step on images. Other libraries of C have no `mallopt`, and keep their ways.
    """
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")  # large pages, read by torch: a fifth faster on images
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(TRIM_THRESHOLD, KEPT)
        mallopt(MMAP_THRESHOLD, KEPT)
