"""A task of one's own, from its installed package alone."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest
import torch

from nalu_bench.cli import main
from nalu_bench.plan import compose
from nalu_bench.tasks.task import Task

Example = Callable[[str, Path], AbstractContextManager[Path]]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def my_task(example: Example, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with example("my_task", tmp_path_factory.mktemp("my_task")) as folder:
        yield folder


@pytest.fixture
def task() -> Task:
    return compose.plan_cells(["task=my_task"], multirun=False).cells[0].cell.task


def test_a_target_is_the_sum_of_two_inputs_times_the_third(task: Task) -> None:
    numbers = torch.tensor([[1.0, 2.0], [6.0, 5.0], [2.0, 4.0]])
    x, t = task.sample(numbers, {}, {})
    assert torch.equal(x, numbers.T)
    assert torch.equal(t, torch.tensor([[14.0], [28.0]]))


def test_its_threshold_is_the_error_of_one_part_in_ten_thousand(task: Task) -> None:
    (low, _), (_, high) = task.intervals("extrapolation")
    one, other, speed = np.random.default_rng(0).uniform(low, high, (3, 400_000))
    t = (one + other) * speed
    assert task.threshold("task") == pytest.approx(((1e-4 * t) ** 2).mean(), rel=0.01)


@pytest.mark.parametrize("model", ["nalu", "mlp", "nau"])
def test_models_of_vectors_train_on_it(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "task=my_task", f"model={model}", "budget=smoke", "device.workers=1"]) == 0
    assert "Runs: 2 finished" in capsys.readouterr().out


def test_its_experiment_is_reported_like_those_of_the_papers(my_task: Path) -> None:
    assert main(["run", "experiment=my_task/momentum", "budget=smoke", "device.workers=1"]) == 0
    assert main(["report", "my_task/momentum", "budget=smoke"]) == 0
    assert "MLP" in (my_task / "home/results/local/my_task/momentum/table.md").read_text(encoding="utf-8").upper()


@pytest.mark.parametrize(
    ("given", "must"),
    [("[2,1]", "have low < high"), ("[1]", "be"), ("[1,inf]", "be a number up to 3e38")],
)
def test_a_range_that_is_none_is_refused(given: str, must: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "task=my_task", f"task.interpolation={given}"]) == 2
    assert f"task.interpolation must {must}" in capsys.readouterr().err
