"""A process that trains: how it takes memory from the system, and the settings of torch that numbers depend on."""

import atexit
import contextlib
import ctypes
import os
import shutil
import stat
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

KEPT = 2**30
"""Bytes of freed memory that a process keeps, and the size from which an array is given back at once."""

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Parameters of `mallopt` in malloc.h of glibc."""

CACHE = "TORCHINDUCTOR_CACHE_DIR"

SAFE_PATH = "PYTHONSAFEPATH"
"""A process with this variable imports nothing that lies in the current folder, as the command itself does not."""


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


def settings() -> dict[str, Any]:
    """What torch is set to, by name, where it tells."""
    import torch

    return {
        "the number of threads": torch.get_num_threads(),
        "gradients": torch.is_grad_enabled(),
        "the default dtype": torch.get_default_dtype(),
        "the default device": torch.get_default_device(),
        "the precision of products": torch.get_float32_matmul_precision(),
        "deterministic algorithms": torch.are_deterministic_algorithms_enabled(),
    }


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
    torch.backends.cudnn.allow_tf32 = False  # ten bits, by default
    torch.backends.cudnn.deterministic = True


def cache_folder() -> str | None:
    """The folder of TorchInductor's cache: what a variable names, else one of the user's own; None without a home.

    What lies there is loaded and run. torch's default is a name for temporary files that others can guess, and take.
    """
    if stated := os.environ.get(CACHE):
        return stated
    import pooch

    try:
        return str(Path(pooch.os_cache("nalu_bench")) / "graphs")
    except RuntimeError:
        return None


def warn_of_cache() -> None:
    """Warn of a folder that a variable names and others may write: what lies there is loaded and run."""
    stated = Path(os.environ.get(CACHE) or os.devnull)
    if stated.is_dir():
        try:
            refuse_others(stated.resolve())
        except PermissionError as error:
            warnings.warn(f"{CACHE}: {error}, because the graphs in it are run; chmod 700, or unset it.", stacklevel=2)


def make_cache() -> None:
    """Make the folder of TorchInductor's cache, as torch does when it imports a part that eager training needs, too.

    One of the user's own is for the user alone; where it cannot be made, or others may write it, a new folder serves
    this process. Where a folder that a variable names cannot be made, that part is imported with another one.
    """
    stated, folder = bool(os.environ.get(CACHE)), cache_folder()
    try:
        if folder is None:
            raise FileNotFoundError("no home")
        os.makedirs(folder, mode=0o777 if stated else 0o700, exist_ok=True)
        if not stated:
            refuse_others(Path(folder))
            os.environ[CACHE] = folder
    except OSError:
        if not stated:
            os.environ[CACHE] = new = tempfile.mkdtemp(prefix="nalu_bench_graphs_")
            atexit.register(shutil.rmtree, new, ignore_errors=True)
            return
        with tempfile.TemporaryDirectory() as other, variable(CACHE, other):
            import torch._dynamo  # noqa: F401


def refuse_others(folder: Path) -> None:
    """Raise PermissionError for a folder that is a link, or that another user owns or may write."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise PermissionError(f"{folder} must be a folder that its user alone may write")


@contextlib.contextmanager
def variable(name: str, value: str) -> Iterator[None]:
    """Within, a variable of the environment has this value."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name)
        os.environ.update({} if before is None else {name: before})
