"""Compilation of kernels by numba."""

from collections.abc import Callable
from typing import Any

import numba


def kernel(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator: `numba.njit` for one signature. Its machine code is kept on disk, where a folder can be written.

    Without it every process that trains compiles for 2 seconds. Deviations: numba compiles again after any change of
    the kernel's own file, and does not see one of another file: kernels that call each other stand in one file.
    """

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(signature, cache=True, **options)(function)
        except Exception:  # no folder for it, one that is full, files in it that are damaged
            return numba.njit(signature, **options)(function)

    return compiled
