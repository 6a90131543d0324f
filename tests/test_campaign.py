"""nalu-bench campaign on smoke budgets: order, resuming, hours, and the stage that a verdict decides."""

import re
from pathlib import Path

import pytest

from nalu_bench import paths
from nalu_bench.analysis import undecided
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan import campaign
from nalu_bench.running import memory, runner
from nalu_bench.store import schema
from nalu_bench.store.reader import Store
from nalu_bench.verbs import campaign as verb

TEXT = """
budget: smoke
stages: [2, 4]
microseconds: 1000000
experiments:
  - {experiment: madsen2020/table1, overrides: ["model=nmu,nac_mul", "recipe.evaluation_size=50"]}
  - {experiment: madsen2020/figure3a, overrides: ["model=nmu", "model.hidden_size=2,3", "recipe.evaluation_size=50"]}
"""
MACHINE = ["device.width=2", "device.workers=1"]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign, with a store and results of the test's own."""
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    monkeypatch.setattr(memory, "need", lambda cell: memory.Need(0, 0, 0, 0))
    path = tmp_path / "mine.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def seeds(file: Path) -> dict[str, list[int]]:
    """Label of a cell -> its seeds in the store."""
    legs = campaign.legs(campaign.load(file), MACHINE)
    cells = {f"{leg.name} {want.label()}": want.cell for leg in legs for want in leg.plan.cells}
    return {label: sorted(Store(paths.runs_dir()).stored_seeds(cell)) for label, cell in cells.items()}


def run(file: Path, *words: str) -> int:
    return main(["campaign", str(file), *words, *MACHINE])


@pytest.mark.slow
def test_a_campaign_trains_in_order_and_is_finished_then(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(file) == 0
    told = capsys.readouterr().out
    assert re.findall(r"^(madsen2020/\w+) +(\d) seeds", told, re.MULTILINE) == [
        ("madsen2020/table1", "2"), ("madsen2020/figure3a", "2"),
    ]  # fmt: skip
    assert set(map(tuple, seeds(file).values())) == {(0, 1)}, "smoke budgets are compared with nothing: none goes on"
    assert run(file) == 0
    again = capsys.readouterr().out
    assert again.startswith("total: ")
    assert "0.0 left" in again
    assert "at least" not in again


def test_cells_that_are_undecided_go_on_and_no_others(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked_of: list[tuple[int, ...]] = []

    def first_cell(plan: campaign.compose.Plan, store: Store, earlier: object) -> set[str]:
        asked_of.append(plan.cells[0].seeds)
        return {plan.cells[0].cell.digest}

    monkeypatch.setattr(undecided, "undecided", first_cell)
    assert run(file) == 0
    assert [len(found) for found in seeds(file).values()] == [4, 2, 2, 2, 4, 2]
    assert set(asked_of) == {(0, 1)}, "the rule reads the seeds of the stage before alone"
    assert re.findall(r"^(madsen2020/\w+) +4 seeds  (\d) cells", capsys.readouterr().out, re.MULTILINE) == [
        ("madsen2020/table1", "1"), ("madsen2020/figure3a", "1"),
    ]  # fmt: skip


@pytest.mark.slow
def test_an_interrupted_campaign_goes_on_where_it_stopped(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(runner, "run_jobs", lambda *_, **__: ["stopped early"])
        assert run(file) == 1
    assert not any(seeds(file).values())
    half = ["madsen2020/table1", "budget=smoke", "seeds=2", "model=nmu", "recipe.evaluation_size=50"]
    assert main(["run", *half, *MACHINE]) == 0
    capsys.readouterr()
    assert run(file) == 0
    told = capsys.readouterr().out
    assert re.search(r"table1 +2 seeds  4 cells, 4/8 runs", told)
    assert "4 of 4 runs of 2 cells to train" in told
    assert all(seeds(file).values())


def test_an_experiment_that_cannot_train_costs_no_other_one(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tried: list[str] = []

    def train(leg: campaign.Leg, cells: object) -> int:
        tried.append(leg.name)
        if leg.name == "madsen2020/table1":
            raise UsageError("MNIST must be there.")
        return 0

    monkeypatch.setattr(verb, "_train", train)
    assert run(file) == 1
    assert tried == ["madsen2020/table1", "madsen2020/figure3a"]
    told = capsys.readouterr()
    assert told.err == "error: madsen2020/table1: MNIST must be there.\n"
    assert told.out.endswith("\nnot trained, see the errors above: madsen2020/table1.\n")


def test_a_damaged_part_is_left_out_of_the_hours(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cell = next(iter(campaign.legs(campaign.load(file), MACHINE))).plan.cells[0].cell
    part = schema.parts_dir(paths.runs_dir() / cell.folder) / "0-1"
    part.mkdir(parents=True)
    (part / schema.MANIFEST).touch()
    assert run(file, "--status") == 0
    assert "0/8 runs" in capsys.readouterr().out


def test_status_trains_nothing_and_tells_hours_left(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(file, "--status") == 0
    first, second, third, fourth, total = capsys.readouterr().out.splitlines()
    assert first.startswith("madsen2020/table1 ")
    assert "2 seeds  4 cells, 0/8 runs" in first
    core_hours = 4 * 2 * 20 / 3600  # four cells, two seeds, 20 steps of a second
    assert f"{core_hours:.1f} core-hours left" in first
    assert "2 cells, 0/4 runs" in second
    assert "at most 4 cells" in third
    assert "undecided at 2 seeds" in fourth
    assert total == "total: 0.0 core-hours done, at least 0.1 left: 0.1 hours with 1 worker"
    assert not paths.runs_dir().exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["none.yaml"], "a campaign must be a file with a list of experiments, and none.yaml is not there"),
        (["FILE", "seeds=3"], "a campaign takes machine settings alone, such as device.workers=2, got seeds=3"),
        (["FILE", "model=nmu"], "got model=nmu; write it into the file"),
        (
            ["FILE", "hydra/launcher=joblib"],
            "takes no launcher, got 'hydra/launcher=joblib'; launch an experiment alone",
        ),
    ],
)
def test_wrong_requests_are_refused_in_one_line(
    file: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["campaign", *(str(file) if word == "FILE" else word for word in words)]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
