"""Every YAML file under conf/ and experiments/ composes, names itself, and runs."""

import functools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nalu_bench import paths, registry
from nalu_bench.analysis.printed.published import read
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, config_groups, configuration, experiment, folders, looks, unit_files
from nalu_bench.plan.blocks import parse_ranges
from nalu_bench.running import memory
from nalu_bench.tasks.task import Task
from nalu_bench.training.check import check_network
from nalu_bench.training.data import tensors

TABLE = Path(__file__).parent / "table.csv"
"""A table for tasks that read one."""


SHAPES = config_groups.shapes()

PLAIN = {"single", "two_layer"}
"""The shapes of most experiments."""

IMAGES = {"agent_b_pictures", "agent_lstm_pictures", "canvas"}
"""Models that take seconds for two steps."""


@pytest.mark.parametrize("group", [group for group in folders.GROUPS if group not in ("task", "model")])
def test_every_configuration_composes_and_bears_the_name_of_its_file(group: str) -> None:
    """Those of tasks and models are composed below, where they are used."""
    for name in folders.files(group):
        assert configuration.configure([(group, name)])[group].name == name


@pytest.mark.parametrize(
    "shape", [pytest.param(name, marks=[] if name in PLAIN else [pytest.mark.slow]) for name in SHAPES]
)
def test_every_unit_stands_in_every_shape_with_its_penalties(shape: str) -> None:
    for name in folders.files("unit"):
        model = configuration.configure([("model", shape), ("unit", name)]).model
        assert set(unit_files.load(name).penalties) == set(model.penalties)
        if model.name not in folders.files("model"):
            assert unit_files.load(name).label in looks.of_model(model.name).label


def test_a_shape_with_units_is_the_model_whose_file_says_just_this() -> None:
    words = {"nau": ["unit=nau"], "nmu": ["unit=[nau,nmu]"], "single_nac": ["model=single", "unit=nac"]}
    for name, chosen in words.items():
        cells = [compose.plan_cells(arguments, False).cells[0].cell for arguments in (chosen, [f"model={name}"])]
        assert cells[0].digest == cells[1].digest
    assert looks.of_model("recurrent-nac-linear").label == "NAC₊, Linear (recurrent)"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["model=two_layer"], "model=two_layer needs its units: unit=NAME"),
        (["model=nau", "unit=nmu"], "model=nau takes no unit="),
        (["unit=[nau,nau,nau]"], "unit= must name one unit, or 2 as"),
        (["unit=nua"], "unknown unit 'nua'"),
        (["unit=nau", "model.of=nmu"], "choose them with unit="),
    ],
)
def test_wrong_units_are_refused(arguments: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        compose.plan_cells(arguments, multirun=False)


@pytest.mark.parametrize("name", folders.files("task"))
def test_every_task_gives_examples_of_its_size(name: str) -> None:
    task = configured("task", name)
    assert task.name == name
    seed_parameters = tensors(task.seed_parameters(np.random.default_rng(0)))
    for split in ("train", *task.evaluated, *task.tested):
        size, rows = task.example_size(split), task.rows(split)
        numbers = torch.rand(size, 7) if rows is None else torch.arange(7 * size).view(size, 7) % rows.count
        x, t = task.sample(numbers, seed_parameters, tensors(task.split_parameters(split)))
        assert len(x) == 7
        if task.inputs == "text":
            assert -1 <= x.min() <= x.max() < task.input_size
        elif task.inputs != "episode":  # which starts from numbers, and has nothing to aim at
            assert x[0].numel() % task.input_size == 0
            assert t.shape == (7, task.output_size)
        assert task.intervals(split).shape == (2, 2)
    assert task.inputs
    assert registry.tasks.version(task.kind) >= 1


def small(name: str) -> list[str]:
    """Overrides that choose data which need no network, and short tests, of tasks that have such choices."""
    keys = list(configuration.configure([("task", name), ("budget", "smoke")]).task)
    choices = {"dataset": "digits", "test_lengths": "[1,10]", "validation": "200", "test_episodes": "2"}
    choices |= {"data": str(TABLE), "targets": "[y]"} if "data" in keys else {}
    return [f"task.{key}={value}" for key, value in choices.items() if key in keys]


@functools.cache
def configured(group: str, name: str) -> Any:
    """Compose the default cell with one file under conf/, in the groups that the smoke budget takes next."""
    values = small(name) if group == "task" else ["unit=nau"] if name in SHAPES else []
    words = [f"{group}={name}", "budget=smoke", *([] if group == "task" else ["task=arithmetic"]), *values]
    return getattr(compose.plan_cells(words, multirun=False).cells[0].cell, group)


@pytest.fixture
def without_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    """No estimate of memory, which takes longer than a smoke budget."""
    monkeypatch.setattr(memory, "need", lambda cell: memory.Need(0, 0, 0, 0))


def file(name: str) -> dict[str, Any]:
    """What the file of a model says."""
    return folders.values(folders.files("model")[name])


def smoke(name: str) -> list[str]:
    """The words of a small cell of a model, on the first task that it takes."""
    model = configured("model", name)
    task = next(task for task in folders.files("task") if model.skip(configured("task", task)) is None)
    sizes = ["recipe.batch_size=4", "budget.steps=2", "budget.log_every=2", *small(task)]
    if type(configured("task", task)).rows is Task.rows:
        sizes.append("recipe.evaluation_size=100")
    return [f"task={task}", f"model={name}", *(["unit=nau"] if name in SHAPES else []), "budget=smoke", *sizes]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in IMAGES else []) for name in folders.files("model")],
)
def test_every_model_trains_a_smoke_cell_or_fills_the_shape_of_one_that_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    assert name in SHAPES or configured("model", name).name == name
    begins_a_class = str(file(name)["defaults"][0]).endswith("_schema")
    if not begins_a_class:
        request.getfixturevalue("without_estimate")
    if not begins_a_class and "of" in file(name):
        cell = compose.plan_cells(smoke(name), multirun=False).cells[0].cell
        check_network(cell, cell.model.build(cell.task))
        return
    assert main(["run", *smoke(name), "device.workers=1"]) == 0
    parts = tmp_path.glob("runs/*/*/*/parts/*/runs.parquet")
    assert {0, 1} <= {seed for part in parts for seed in parse_ranges(part.parent.name)}


def test_relu_models_have_a_linear_second_layer() -> None:
    for name in ("relu", "relu6"):
        model = compose.plan_cells([f"model={name}"], multirun=False).cells[0].cell.model
        assert model.units() == [name, "linear"]


QUICK = {"iit_report/identity", "madsen2020/table1"}
"""Experiments of a few seconds that run among the fast tests; the others are slow."""

ALIKE = {
    "heim2020/large_scale": "heim2020/simple",
    "madsen2020/ablation": "madsen2020/regularization", "madsen2020/figure3a_all": "madsen2020/regularization",
    "madsen2020/figure3b": "madsen2020/regularization", "madsen2020/input_size": "madsen2020/regularization",
    "madsen2020/overlap": "madsen2020/regularization", "madsen2020/subset": "madsen2020/regularization",
    "madsen2020/mnist_product": "madsen2020/mnist_sum",
    "mistry2022/arithmetic_dataset": "madsen2020/regularization",
    "schlor2020/experiment1": "schlor2020/experiment4", "schlor2020/experiment2": "schlor2020/experiment4",
    "schlor2020/experiment3": "schlor2020/experiment4", "trask2018/figure4": "trask2018/figure6",
    "trask2018/table6": "trask2018/table1", "trask2018/table8": "trask2018/table1",
}  # fmt: skip
"""Experiments that differ in their cells alone from a shorter one, which runs in their place."""


LARGE = {
    "madsen2020/all_models", "mistry2022/single_module", "trask2018/figure5", "trask2018/table1", "trask2018/table2"
}  # fmt: skip
"""Experiments of many or costly cells, whose kind of report has tests of its own; another test trains `table1`."""


def by_length(name: str) -> Any:
    marks = [] if name in QUICK else [pytest.mark.slow, pytest.mark.timeout(900)]
    return pytest.param(name, marks=[*marks, *([pytest.mark.thorough] if name in ALIKE or name in LARGE else [])])


def test_an_experiment_is_left_out_for_a_shorter_one_of_its_kind() -> None:
    for name, other in ALIKE.items():
        left, run = experiment.load(name), experiment.load(other)
        assert left.report["kind"] == run.report["kind"]
        assert other not in ALIKE


@pytest.mark.pictures
@pytest.mark.usefixtures("without_estimate")
@pytest.mark.parametrize("name", [by_length(name) for name in experiment.names()])
def test_every_experiment_runs_and_reports_at_the_smoke_budget(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    assert main(["run", f"experiment={name}", "budget=smoke", "device.workers=1"]) == 0
    assert main(["run", f"experiment={name}", "budget=smoke"]) == 0
    assert "nothing to train" in capsys.readouterr().out
    assert main(["report", "--no-page", name, "budget=smoke"]) == 0
    folder = tmp_path / "results" / "local" / name
    made = {path.name for path in folder.iterdir()}
    measured = {"manifest.json", "runs.csv", "curves.parquet"}
    more = {"predictions.parquet", "weights.parquet", "film.png", "film.gif"}
    assert made - more == measured | {
        "table.md",
        "table.tex",
        "table.csv",
        "figure.png",
        "figure.pdf",
        "figure.csv",
    }
    changed = experiment.load(name).budgets["smoke"].get("overrides", [])
    if not any(text.startswith("task.") for text in changed):  # with other data it may lack what is printed
        assert "no runs of ours" not in (folder / "table.csv").read_text(encoding="utf-8"), "printed, and not computed"


@pytest.mark.parametrize("name", experiment.names())
def test_every_experiment_has_budgets_printed_numbers_and_a_page(name: str) -> None:
    chosen = experiment.load(name)
    assert {"paper", "short", "smoke"} <= set(chosen.budgets)
    read(chosen.published)
    assert "## Deviations and choices" in chosen.page.read_text(encoding="utf-8")


def test_shipped_folders_exist() -> None:
    assert (paths.conf_dir() / "config.yaml").exists()
    assert experiment.names()
