"""A unit of one's own: found, listed, trained and reported from its installed package alone."""

import doctest
import importlib
import runpy
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pandas as pd
import pytest
from told import commands

from nalu_bench import paths, registry
from nalu_bench.cli import main
from nalu_bench.plan import compose
from nalu_bench.running.check import check
from nalu_bench.running.jobs import pending
from nalu_bench.store.reader import Store

Example = Callable[[str, Path], AbstractContextManager[Path]]

SMOKE = ["budget=smoke", "device.workers=1"]

pytestmark = pytest.mark.usefixtures("my_unit")


@pytest.fixture(scope="module")
def my_unit(example: Example, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with example("my_unit", tmp_path_factory.mktemp("my_unit")) as folder:
        yield folder


def test_it_is_listed_with_the_others_and_not_imported_for_that(capsys: pytest.CaptureFixture[str]) -> None:
    def listed(kind: str) -> set[str]:
        assert main(["list", kind]) == 0
        return {line.split()[0] for line in capsys.readouterr().out.splitlines() if line[:3].strip()}

    assert {"my_unit", "nmu"} <= listed("unit")
    assert {"my_unit", "single_my_unit", "nmu"} <= listed("model")
    assert {"my_unit/powers", "madsen2020/table1"} <= listed("experiment")
    assert "my_unit" not in sys.modules


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.timeout(1200)
def test_the_leaderboard_trains_it_alone_and_ranks_it_among_the_committed_ones(
    my_unit: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = ["task.operation=mul", "task.interpolation=[1,2]"]
    assert main(["leaderboard", "unit=my_unit", "budget=short", *one]) == 0
    told = capsys.readouterr().out
    assert told.startswith("25 of 525 runs of 21 cells to train.")
    assert "Real NPU" in told
    table = pd.read_csv(my_unit / "home/results/local/mistry2022/single_module/table.csv")
    solved = table[table["metric"].eq("success_rate")].groupby("model")["ours"].sum()
    assert solved["single_my_unit"] > 0
    first = pd.read_csv(paths.CHECKOUT / "results/mistry2022/single_module/runs.csv").query(
        "seed < 25 and model == 'single_nmu' and operation == 'mul' and setting == 'range=[1, 2]'"
    )
    assert solved["single_nmu"] == pytest.approx(first["solved"].mean())


def test_its_own_tests_pass() -> None:
    for name, value in runpy.run_path(str(paths.CHECKOUT / "examples/my_unit/test_my_unit.py")).items():
        if name.startswith("test_"):
            value()


def test_its_docstring_shows_what_it_gives() -> None:
    assert doctest.testmod(importlib.import_module("my_unit")) == (0, 3)


def test_its_gradients_are_right(check_gradients: Callable[..., None]) -> None:
    import torch

    check_gradients(registry.units.load("my_unit")(4, 2), torch.tensor([[0.5, -1.5, 2.5, -0.7]]))


@pytest.mark.parametrize(
    "cell",
    [
        ["task=ten_parameter", "model=my_unit"],
        ["task=arithmetic", "task.operation=div", "model=single_my_unit"],
        ["task=identity", "model=my_unit"],
        ["task=operands", "task.operation=sqrt", "task.operands=1", "model=single_my_unit", "recipe=iit_tables"],
        ["task=number_words", "model=text_lstm_nac", "model.head.unit=my_unit", "model.head.options={}"],
    ],
    ids=lambda cell: cell[0],
)
def test_it_trains_on_tasks_of_every_kind(cell: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *cell, *SMOKE]) == 0
    assert "Runs: 2 finished" in capsys.readouterr().out


@pytest.mark.slow
def test_processes_side_by_side_find_it(capsys: pytest.CaptureFixture[str]) -> None:
    cells = ["task=ten_parameter", "task.operation=add", "model=my_unit,single_my_unit", "budget=smoke"]
    assert main(["run", "-m", *cells, "device.workers=2"]) == 0
    assert "Runs: 4 finished" in capsys.readouterr().out


def test_its_experiment_is_reported_like_those_of_the_papers(my_unit: Path) -> None:
    assert main(["run", "experiment=my_unit/powers", *SMOKE]) == 0
    assert main(["report", "my_unit/powers", "budget=smoke"]) == 0
    folder = my_unit / "home/results/local/my_unit/powers"
    table = pd.read_csv(folder / "table.csv")
    assert set(table["model"]) == {"my_unit", "single_my_unit", "nac_mul", "nalu"}
    text = (folder / "table.md").read_text(encoding="utf-8")
    assert "Real NPU alone" in text
    assert "verdict |" not in text, "nothing is printed to compare with"
    assert (folder / "figure.png").exists()


@pytest.mark.slow
def test_the_cells_of_its_readme_can_be_trained() -> None:
    told = commands(paths.CHECKOUT / "examples/my_unit/README.md", "nalu-bench run ")
    assert len(told) == 6
    for words in [shlex.split(command)[2:] for command in told]:
        if not words[0].startswith("experiment="):
            plan = compose.plan_cells([word for word in words if word != "-m"], multirun="-m" in words)
            assert check(plan.machine, pending(plan.cells, Store(paths.runs_dir()), plan.machine)) == {}
