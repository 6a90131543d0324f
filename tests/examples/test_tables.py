"""The example of tables: what its script writes, and the report of errors inside and outside of the training range."""

import hashlib
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from forgotten import forget
from told import commands

from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.plan import compose, experiment

pytestmark = pytest.mark.slow

FOLDER = paths.CHECKOUT / "examples" / "tables"
SMOKE = ["budget=smoke", "seeds=2", "device.workers=1"]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder holds the tables, and NALU_BENCH_CONF names the example's configurations."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NALU_BENCH_CONF", str(FOLDER / "conf"))
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path / "home"))
    runpy.run_path(str(FOLDER / "make_tables.py"), run_name="__main__")
    forget()
    yield tmp_path
    forget()


@pytest.mark.usefixtures("tables")
def test_the_tables_are_what_the_readme_says_and_the_same_everywhere() -> None:
    laws, diabetes = pd.read_csv("laws.csv"), pd.read_csv("diabetes.csv")
    assert (laws.shape, diabetes.shape) == ((600, 31), (442, 11))
    np.testing.assert_allclose(laws["sum"], laws["x1"] + laws["x2"] + laws["x3"], rtol=1e-5)
    np.testing.assert_allclose(laws["product"], laws["x1"] * laws["x2"], rtol=1e-5)
    np.testing.assert_allclose(laws["ratio"], laws["x1"] / laws["x2"], rtol=1e-5)
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in ("laws.csv", "diabetes.csv"):
        assert hashlib.sha256(Path(name).read_bytes()).hexdigest()[:12] in readme


@pytest.mark.usefixtures("tables")
def test_no_target_is_an_input() -> None:
    for target in ("sum", "product", "ratio"):
        task = compose.plan_cells(["task=laws", f"task.targets=[{target}]"], multirun=False).cells[0].cell.task
        assert (task.input_size, task.output_size) == (28, 1)


@pytest.mark.usefixtures("tables")
def test_the_report_has_a_row_for_every_target_and_model_inside_and_outside() -> None:
    chosen = ["model=mlp_64,nmu", "task.targets=[sum],[ratio]", *SMOKE]
    assert main(["run", "experiment=tables/laws", *chosen]) == 0
    assert main(["report", "--no-page", "tables/laws", *chosen]) == 0
    folder = paths.results_dir() / "local" / "tables" / "laws"
    lines = (folder / "table.md").read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| ")]
    splits = ("validation", "extrapolation", "test")
    assert rows[0] == ["Setting", "Model", "seeds", *(f"{split} nmse, median" for split in splits)]
    assert [row[:2] for row in rows[1:]] == [
        [f"target={one}", model] for one in ("sum", "ratio") for model in ("MLP", "NMU")
    ]


@pytest.mark.usefixtures("tables")
def test_both_experiments_compare_an_mlp_with_every_unit() -> None:
    for name, count in (("tables/laws", 24), ("tables/diabetes", 8)):
        cells = compose.plan_experiment(experiment.load(name), ["budget=smoke"]).cells
        assert len(cells) == count
        units = {unit for want in cells for unit in want.cell.model.units()}
        assert units == {"dense", "linear", "nac", "nac_mul", "nalu", "gated_nau_nmu", "nau", "nmu"}


@pytest.mark.usefixtures("tables")
def test_every_command_of_its_readme_can_be_planned() -> None:
    Path("my.csv").write_text("x1,x2,y\n" + "".join(f"{n},{n % 7},{n + n % 7}\n" for n in range(1000)))
    told = commands(FOLDER / "README.md")
    assert len(told) == 5
    for _, *words in map(shlex.split, told):
        assert main(["status", *words[1:]]) == 0, words
