"""Machine settings: they change the speed of a run, never its meaning."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """The machine settings of a command; never part of a cell's identity.

    Attributes:
        device: cpu or cuda.
        compile: whether to train through compiled graphs; None to do so wherever torch can; see `running.compiler`.
        workers: processes that train blocks side by side; 1 trains in this process.
        width: seeds of a block on this device; None for the width that the model names. Bits are promised for one
            device, mode and width.
        logger: name of what copies finished runs for another program.
    """

    device: str
    compile: bool | None
    workers: int
    width: int | None = None
    logger: str = "none"
