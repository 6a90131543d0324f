"""A small graph, compiled, loaded and run as those of training are: `python -m nalu_bench.training.trial DEVICE`.

It runs in a process of its own, because code for another processor ends a process. It says why it fails, in one line.
"""

import random
import re
import sys
import textwrap

LONGEST = 200
"""Letters of a reason; a compiler's command line alone has thousands."""


def compile_and_run(device: str) -> None:
    """Raises whatever torch raises if it cannot compile here, and RuntimeError for a wrong result."""
    import torch

    from nalu_bench.training.compilation import Mode, graph

    factor = random.random()  # else the graph of an earlier trial would come from the cache
    x = torch.arange(64.0, device=device)
    (y,) = graph(lambda x: (factor * x + 1,), Mode(device, compiled=True))(x)
    if not torch.allclose(y, factor * x + 1):
        raise RuntimeError("a compiled graph gives wrong numbers")


def reason(error: BaseException) -> str:
    """What an error of TorchInductor tells, in one line: of a compiler's output the first line about an error.

    >>> reason(RuntimeError("C++ compile error\\n\\nCommand:\\ng++ a.cpp\\n\\nOutput:\\nerror: no omp.h"))
    'error: no omp.h'
    """
    told = str(error).partition("\nOutput:\n")[2] or str(error)
    lines = [line for line in told.splitlines() if line.strip()] or [type(error).__name__]
    about = next((line for line in lines if re.search(r"\berror\b|cannot|denied|failed", line)), lines[0])
    return textwrap.shorten(about, LONGEST)


if __name__ == "__main__":
    try:
        compile_and_run(sys.argv[1])
    except Exception as error:
        print(reason(error))
        sys.exit(1)
