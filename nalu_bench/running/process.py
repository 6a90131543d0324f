"""A process that trains: how it takes memory from the system, and the settings of torch that numbers depend on."""

import contextlib
import ctypes
import getpass
import os
import tempfile
from collections.abc import Iterator

KEPT = 2**30
"""Bytes of freed memory that a process keeps, and the size from which an array is given back at once."""

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Parameters of `mallopt` in malloc.h of glibc."""

CACHE = "TORCHINDUCTOR_CACHE_DIR"


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


def prepare() -> None:
    """`tune`, and give torch the settings that training assumes, its defaults and one thread.

    A process may train many cells, and the one before may leave other settings. Blocks are the unit of parallel work,
    so that more threads would only share processors with other workers. One thread also fixes the order of sums.
    Generators are left alone: nothing draws from a global one.
    """
    tune()
    import torch

    make_cache()
    torch.set_num_threads(1)
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.set_float32_matmul_precision("highest")
    torch.set_flush_denormal(False)
    torch.use_deterministic_algorithms(False)


def cache_folder() -> str | None:
    """The folder of TorchInductor's cache; None if neither a variable nor the user's name tells it."""
    stated = os.environ.get(CACHE)
    if stated:
        return stated
    try:
        return os.path.join(tempfile.gettempdir(), f"torchinductor_{getpass.getuser()}")
    except (KeyError, OSError):  # no name of the user, no folder for temporary files
        return None


def make_cache() -> None:
    """Make the folder of TorchInductor's cache, as torch does when it imports a part that eager training needs, too.

    Where it cannot be made, that part is imported with another folder, and the variable is as before.
    """
    try:
        os.makedirs(cache_folder() or tempfile.gettempdir(), exist_ok=True)
    except OSError:
        with tempfile.TemporaryDirectory() as folder, _variable(CACHE, folder):
            import torch._dynamo  # noqa: F401


@contextlib.contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    """Within, a variable of the environment has this value."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name)
        os.environ.update({} if before is None else {name: before})
