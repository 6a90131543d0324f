"""The table of one's own, from its files alone: rows of a CSV file, which is known by its content."""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.plan.cell import Cell
from nalu_bench.store.reader import Store
from nalu_bench.training import data, rebuild
from nalu_bench.training.compilation import Mode
from nalu_bench.training.program import program_of

Example = Callable[[str, Path], AbstractContextManager[Path]]

DATA = paths.CHECKOUT / "examples" / "csv_table" / "data.csv"
SHA256 = hashlib.sha256(DATA.read_bytes()).hexdigest()
MACHINE = ["compile=false", "device.workers=1"]
SHORT = ["recipe=table", "budget=table", "budget.steps=20", "budget.log_every=10", "seeds=2"]

EXPERIMENT = """
title: A table
source: nobody
budgets: {short: {seeds: 2, steps: 20, log_every: 10, ramp_scale: 0.001}}
cells: [{overrides: [task=table, recipe=table, task.sha256=SHA256], grid: {model: [nau, mlp]}}]
report: {kind: errors, splits: {validation: validation, extrapolation: extrapolation}}
"""
HEADER = "task,setting,operation,split,model,metric,printed,printed_low,printed_high,n_seeds,printed_model,source\n"

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def table(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The installed example; the current folder is a new one that holds the file."""
    with example("csv_table", tmp_path / "example") as folder:
        shutil.copy(DATA, tmp_path)
        monkeypatch.chdir(tmp_path)
        yield folder


def cell(*changes: str) -> Cell:
    return compose.plan_cells(["task=table", "model=nau", *SHORT, *changes], multirun=False).cells[0].cell


def test_the_file_is_what_its_readme_says() -> None:
    rows = [(a / 4, b / 4, a * b / 16) for a in range(1, 25) for b in range(1, 17)]
    assert DATA.read_text() == "x1,x2,y\n" + "".join(f"{x1:g},{x2:g},{y:g}\n" for x1, x2, y in rows)


@pytest.mark.parametrize("model", ["nau", "nmu", "mlp"])
@pytest.mark.usefixtures("table")
def test_any_model_of_vectors_trains_on_it_and_the_store_rebuilds_its_network(model: str) -> None:
    arguments = ["task=table", f"model={model}", *SHORT]
    assert main(["run", *arguments, *MACHINE]) == 0
    (want,) = compose.plan_cells(arguments, multirun=False).cells
    trained, store = want.cell, Store(paths.runs_dir())
    for row in store.runs(trained).to_dict("records"):
        assert row["status"] == "finished"
        network = rebuild.network(trained, store.parameters(trained, row["seed"]))
        for split in trained.task.evaluated:
            x, t = data.tensors(trained.task.split_parameters(split)).values()
            with torch.no_grad():
                mse = float((network(x) - t).square().mean())
            assert mse == pytest.approx(row[f"{split}_mse"], rel=1e-5)


@pytest.mark.usefixtures("table")
def test_rows_are_split_by_the_value_of_a_column() -> None:
    table = pd.read_csv("data.csv")
    task = cell().task
    parts = {split: task.split_parameters(split) for split in ("train", "validation", "extrapolation")}
    assert {split: task.rows(split).count for split in parts} == {"train": 208, "validation": 32, "extrapolation": 144}
    assert sorted(set(parts["validation"]["x"][:, 0])) == [2.0, 2.25]
    assert parts["extrapolation"]["x"][:, 0].min() == 4.0
    assert set(parts["train"]["x"][:, 0]).isdisjoint([2.0, 2.25, *np.arange(4, 6.1, 0.25)])
    together = np.concatenate([np.hstack([part["x"], part["t"]]) for part in parts.values()])
    assert sorted(map(tuple, together)) == sorted(map(tuple, table.to_numpy(np.float32)))


@pytest.mark.usefixtures("table")
def test_an_epoch_shows_every_row_once_and_keeps_its_last_smaller_batch() -> None:
    draw = data.training_numbers(cell(), [0, 1], Mode("cpu", compiled=False))
    batches = [draw(step) for step in range(1, 8)]
    assert [batch.shape[-1] for batch in batches] == [32] * 6 + [16]
    rows = torch.cat(batches, dim=-1)[:, 0]
    assert (rows.sort(dim=-1).values == torch.arange(208)).all()


@pytest.mark.usefixtures("table")
def test_the_identity_is_that_of_the_content_and_never_of_the_path(tmp_path: Path) -> None:
    here = cell()
    assert here.identity()["data"] == {"table": SHA256}
    assert {"file", "sha256"}.isdisjoint(here.identity()["task"])
    (tmp_path / "other").mkdir()
    shutil.copy("data.csv", tmp_path / "other" / "renamed.csv")
    there = cell(f"task.file={tmp_path}/other/renamed.csv")
    stated = cell("task.file=nowhere.csv", f"task.sha256={SHA256}")
    assert here.digest == there.digest == stated.digest
    with Path("data.csv").open("a") as stream:
        stream.write("7,7,49\n")
    changed = cell()
    assert changed.digest != here.digest
    eager = Mode("cpu", compiled=False)
    assert program_of(changed, eager) is not program_of(there, eager)


@pytest.mark.usefixtures("table")
def test_status_and_report_need_no_file_where_its_checksum_is_stated(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = table / "conf" / "experiments" / "mine"
    folder.mkdir(parents=True)
    (folder / "table1.yaml").write_text(EXPERIMENT.replace("SHA256", SHA256))
    (folder / "table1.published.csv").write_text(HEADER)
    assert main(["run", "experiment=mine/table1", *MACHINE]) == 0
    Path("data.csv").unlink()
    capsys.readouterr()
    assert main(["status", "experiment=mine/table1"]) == 0
    assert capsys.readouterr().out.count("2/2 runs") == 2
    assert main(["report", "--no-page", "mine/table1"]) == 0
    assert "MLP" in capsys.readouterr().out.upper()
    assert main(["run", "experiment=mine/table1", "seeds=26", *MACHINE]) == 2
    assert "data.csv must be a file that can be read" in capsys.readouterr().err


@pytest.mark.usefixtures("table")
def test_a_file_of_another_content_than_the_stated_is_refused() -> None:
    with pytest.raises(UsageError, match=f"data.csv must have the SHA-256 .* {'0' * 64}, and has {SHA256}"):
        _ = cell(f"task.sha256='{'0' * 64}'").digest


GOOD = "x1,x2,y\n1,1,1\n2,1,2\n5,1,5\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "mine.csv must be a file, and there is none from .*: set task.file to its path, or task.sha256"),
        ("", "mine.csv must be a CSV file in UTF-8 whose first line names its columns: No columns"),
        (b"x1,x2,y\n\xff,1,1\n", "mine.csv must be a CSV file in UTF-8"),
        ("x1,x2\n1,1\n", "must have the columns x1, x2, y, and has no y; it has x1, x2"),
        (GOOD + "three,1,3\n", "the column x1 of mine.csv must be a finite number, and row 4 holds 'three'"),
        (GOOD + "3,,3\n", "the column x2 of mine.csv must be a finite number, and row 4 is empty"),
        (GOOD + "3,inf,3\n", "and row 4 holds 'inf'"),
        ("x1,x2,y\n1,1,1\n", "every split must hold a row of mine.csv, and validation holds none"),
        ("x1,x2,y\n2,1,2\n5,1,5\n", "every split must hold a row of mine.csv, and train holds none"),
        ("x1,x2,y\n1,1,1\n2,1,2\n", "and extrapolation holds none"),
    ],
)
@pytest.mark.usefixtures("table")
def test_a_file_that_cannot_be_used_is_refused_in_plain_words_before_training(
    content: str | bytes | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        Path("mine.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["run", "task=table", "model=nau", "task.file=mine.csv", *SHORT, *MACHINE]) == 2
    error = " ".join(capsys.readouterr().err.split())
    assert "Traceback" not in error
    assert re.search(message, error), error


@pytest.mark.usefixtures("table")
def test_a_table_smaller_than_a_batch_is_one_batch(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.csv").write_text(GOOD)
    assert main(["run", "task=table", "model=nau", "task.file=mine.csv", *SHORT, *MACHINE]) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("task.columns=[]", "task.columns must name at least one column"),
        ("task.validation=[2]", "task.validation must be an interval [low, high] of x1 with low < high, got [2.0]"),
        ("task.extrapolation=[5,4]", "task.extrapolation must be an interval [low, high] of x1"),
    ],
)
@pytest.mark.usefixtures("table")
def test_a_users_mistake_is_told_in_plain_words(change: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "task=table", "model=nau", change, *SHORT, *MACHINE]) == 2
    assert message in capsys.readouterr().err
