"""Training that is interrupted goes on to the same bits."""

from pathlib import Path

import pytest

from nalu_bench.errors import Interrupted
from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell
from nalu_bench.training.compilation import Mode
from nalu_bench.training.loop import Request, train_block, train_together


def check_resumed(chosen: Cell, block: Block, folder: Path, asked_before: int = 4) -> None:
    """Train a block whole, and once more with an interruption after so many questions whether to stop; compare."""
    mode = Mode("cpu", compiled=False)

    def silent(step: int, solved: int) -> None:
        pass

    whole = train_block(chosen, block, mode, folder / "whole.pt", silent)
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > asked_before

    parted = folder / "parted.pt"
    with pytest.raises(Interrupted):
        list(train_together([Request(chosen, block, parted, silent)], mode, stop))
    assert parted.exists()
    again = train_block(chosen, block, mode, parted, silent)
    assert whole.columns.keys() == again.columns.keys()
    for name, column in whole.columns.items():
        assert column.tobytes() == again.columns[name].tobytes(), name
    for name, value in whole.parameters.items():
        assert value.tobytes() == again.parameters[name].tobytes(), name
