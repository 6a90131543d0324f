"""Copies of finished runs for other programs to show, such as TensorBoard; off by default."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from nalu_bench import registry
from nalu_bench.errors import UsageError
from nalu_bench.registry import register

if TYPE_CHECKING:
    from nalu_bench.plan.cell import Cell
    from nalu_bench.plan.result import BlockResult

POINTS = 200
"""Evaluations of a run that a logger writes at most: events are hundreds of times as slow as the store."""


class Logger:
    """Writes a finished block for another program."""

    def check(self) -> None:
        """Raise UsageError if it cannot write here; this is called before training."""

    def write(self, root: Path, cell: "Cell", result: "BlockResult") -> None:
        """Write a block of a cell below the run store at `root`."""
        raise NotImplementedError


@register("none", version=1)
class Nothing(Logger):
    """No copy."""

    def write(self, root: Path, cell: "Cell", result: "BlockResult") -> None:
        pass


@register("tensorboard", version=1)
class TensorBoard(Logger):
    """Events for TensorBoard: `tensorboard --logdir runs/.tensorboard` shows every measure of every seed.

    Source: `torch.utils.tensorboard`. Deviations: a curve is thinned to 200 evaluations.
    """

    def check(self) -> None:
        if importlib.util.find_spec("tensorboard") is None:
            raise UsageError(
                "logger=tensorboard needs the extra [tensorboard], which is not installed: "
                "pip install 'nalu_bench[tensorboard]'."
            )

    def write(self, root: Path, cell: "Cell", result: "BlockResult") -> None:
        from torch.utils.tensorboard import SummaryWriter

        stride = -(-len(result.steps) // POINTS)
        for lane, seed in enumerate(result.block.seeds):
            folder = root / ".tensorboard" / cell.folder / f"seed{seed}"
            with SummaryWriter(str(folder)) as events:
                for name, column in result.columns.items():
                    for step, value in zip(result.steps[::stride], column[::stride, lane], strict=True):
                        events.add_scalar(name, float(value), int(step))


def logger_of(name: str) -> Logger:
    """The logger of this name; raises UsageError for an unknown one, and for one that cannot write here."""
    found: Logger = registry.loggers.load(name)()
    found.check()
    return found
