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


def test_a_unit_that_raises_or_returns_a_wrong_shape_or_changes_torch_fails_its_cell_alone(
    faulty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = "model=my_raising,nau,my_misshapen,my_unspeakable,my_setting"
    assert main(["run", "-m", models, *TINY]) == 1
    said = capsys.readouterr()
    assert "my_raising seeds 0-24: RuntimeError: no such number (details in" in said.err
    assert "Misshapen must return the shape (128, 1) for inputs of (128, 2), got (128, 2)" in said.err
    assert "my_unspeakable seeds 0-24: UnspeakableError: its text cannot be made" in said.err
    assert "must leave the settings of torch as they are" in said.err
    assert "change the default dtype" in said.err
    assert "4 of 5 blocks failed" in said.err
    assert "Traceback" not in said.err
    assert len(list((faulty / "home/runs/arithmetic").glob("*/*/failures/0-24.json"))) == 4
    assert [part.parents[2].name for part in (faulty / "home/runs/arithmetic").glob("*/*/parts/*")] == ["nau"]


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize(
    "words", [["list"], ["status", "model=nau"], ["status", "unit=[nau,nmu]"], ["show", "unit=nac"]]
)
def test_what_is_faulty_costs_nobody_who_does_not_choose_it(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    assert not capsys.readouterr().err


@pytest.mark.usefixtures("faulty")
@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("model=my_lost", "the model lost cannot be loaded from no_such_module:Lost: ModuleNotFoundError"),
        ("model=my_exits", "the model exits cannot be loaded from faulty_exit:Exits: SystemExit: 3."),
        ("model=my_text_version", 'text_version at faulty:TextVersion must bear @register("text_version", version=1)'),
        ("model=my_zero_version", 'zero_version at faulty:ZeroVersion must bear @register("zero_version", version=1)'),
        ("model=my_number", "the unit number cannot be loaded from faulty:NUMBER: TypeError"),
        ("model=my_module_alone", "the unit module_alone must have an entry point module:Class, got 'faulty'"),
        ("model=my_no_yaml", "my_no_yaml.yaml must be YAML in UTF-8"),
        ("model=my_no_list", "cannot compose model=my_no_list"),
        ("model=my_no_date", "the file of a model must begin with: defaults:"),
        ("task=my_a_function", "the task a_function at faulty:a_function must be a subclass of Task."),
        ("task=my_no_schema", "the task no_schema at faulty:NoSchema must be a dataclass whose fields have types that"),
    ],
)
def test_what_is_faulty_is_named_to_those_who_choose_it(
    word: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status", word, "seeds=2"]) == 2
    assert why in capsys.readouterr().err


@pytest.mark.usefixtures("faulty")
def test_a_task_that_ends_the_program_fails_its_cell_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-m", "task=my_leaving,identity", "model=hidden_tanh", *TINY]) == 1
    said = capsys.readouterr()
    assert "seeds 0-24: SystemExit: enough (details in" in said.err
    assert "1 of 2 blocks failed" in said.err


@pytest.mark.usefixtures("faulty")
def test_a_criterion_that_is_no_number_costs_no_other_cell_its_training(
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = [*TINY, "recipe.learning_rate=0.01"]  # no cell of another test
    assert main(["run", "-m", "task=my_text_threshold,identity", "model=hidden_tanh", *own]) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert "1 of 2 blocks failed" in said


@pytest.mark.usefixtures("faulty")
def test_a_criterion_that_is_no_number_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "task=my_text_threshold", "model=hidden_tanh", *TINY]) == 1
    assert "the threshold of the task text_threshold must be a number or None, got 'low'" in capsys.readouterr().err
