"""Whose mistake an error before training is: the command's, or that of a cell's own code."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nalu_bench.cli import main
from nalu_bench.errors import CallError, UsageError
from nalu_bench.plan.cell import Cell
from nalu_bench.running.check import _error
from nalu_bench.units import NAU


def test_a_size_that_a_unit_cannot_have_fails_its_cell_alone_and_a_wrong_option_the_command(
    make_cell: Callable[..., Cell],
) -> None:
    assert isinstance(_error(lambda _: NAU(2.5, 1), make_cell()), CallError)  # type: ignore[arg-type]

    def option(_: Cell) -> None:
        raise UsageError("unknown option")

    with pytest.raises(UsageError, match="unknown option"):
        _error(option, make_cell())


def test_updates_in_turns_are_refused_without_gates_also_beside_cells_that_train_all_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    words = ["task=arithmetic", "task.operation=add", "model=nau", "budget=smoke", "recipe.optimizer=rmsprop"]
    assert main(["run", "-m", *words, "recipe.updates=together,alternating"]) == 2
    assert "recipe.updates=alternating must train a network with gates" in capsys.readouterr().err
