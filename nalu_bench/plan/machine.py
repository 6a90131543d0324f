"""How to compute: what changes the speed, and never the meaning, of a run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """How to compute; never part of a cell's identity.

    Attributes:
        device: cpu or cuda.
        compile: whether to train through compiled graphs; None for "where there is a C++ compiler".
        workers: processes that train blocks side by side; 1 trains in this process.
    """

    device: str
    compile: bool | None
    workers: int
