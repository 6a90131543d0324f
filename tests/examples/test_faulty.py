"""Other packages' mistakes: only what needs a faulty part fails."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from nalu_bench.cli import main

FOLDER = Path(__file__).parent / "faulty"
TINY = ["seeds=2", "budget.steps=2", "budget.log_every=2", "compile=false", "device.workers=1"]


@pytest.fixture(scope="module")
def faulty(
    example: Callable[[str, Path], AbstractContextManager[Path]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    with example(str(FOLDER), tmp_path_factory.mktemp("faulty")) as folder:
        yield folder


@pytest.mark.usefixtures("one_thread")
def test_a_unit_that_raises_or_returns_a_wrong_shape_fails_its_cell_alone(
    faulty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "-m", "model=my_raising,nau,my_misshapen", *TINY]) == 1
    said = capsys.readouterr()
    assert "my_raising seeds 0-24: RuntimeError: no such number (details in" in said.err
    assert "Misshapen must return the shape (128, 1) for inputs of (128, 2), got (128, 2)" in said.err
    assert "2 of 3 blocks failed" in said.err
    assert "Traceback" not in said.err
    assert len(list((faulty / "home/runs/arithmetic").glob("*/*/failures/0-24.json"))) == 2
    assert [part.parents[2].name for part in (faulty / "home/runs/arithmetic").glob("*/*/parts/*")] == ["nau"]


def test_a_model_that_cannot_be_loaded_is_named_only_to_those_who_choose_it(
    faulty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list"]) == 0
    assert main(["status", "model=nau", "seeds=2"]) == 0
    capsys.readouterr()
    assert main(["status", "model=my_lost", "seeds=2"]) == 2
    why = "the model lost cannot be loaded from no_such_module:Lost: ModuleNotFoundError"
    assert why in capsys.readouterr().err
