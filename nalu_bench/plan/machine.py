"""How to compute: what changes the speed, and never the meaning, of a run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """How to compute; never part of a cell's identity.

    Attributes:
        device: cpu or cuda.
        compile: whether to train through compiled graphs; None for "where there is a C++ compiler".
        workers: processes that train blocks side by side; 1 trains in this process.
        width: seeds of a block on this device; None for the width that the model names. Bits are promised for one
            device, mode and width.
    """

    device: str
    compile: bool | None
    workers: int
    width: int | None = None
