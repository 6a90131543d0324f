"""Finished blocks trained again have their bits, and a block that has other numbers is found."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.compose import plan_cells
from nalu_bench.plan.restored import cell_of
from nalu_bench.running.comparison import same_bits, shifts
from nalu_bench.running.rerun import choose
from nalu_bench.store import schema
from nalu_bench.store.finished import Finished, in_results
from nalu_bench.verify.folder import targets

NAME = "madsen2020/table1"
SMOKE = ["budget=smoke", "seeds=3", "compile=false", "device.workers=1"]
COMMITTED = list(targets([], paths.CHECKOUT / "results").values())


def runs(**changes: Any) -> pd.DataFrame:
    count = 25
    values = np.random.default_rng(0).uniform(1, 2, (2, count)).astype(np.float32)
    frame = pd.DataFrame({"seed": range(count), "status": "finished", "diverged_at": pd.array([None] * count, "Int64")})
    return frame.assign(validation_mse=values[0], extrapolation_mse=values[1], **changes)


def test_one_bit_is_a_difference_and_rows_that_only_a_report_has_are_none(tmp_path: Path) -> None:
    again = runs()
    again.assign(part="0-24", solved=True).to_csv(tmp_path / "runs.csv", index=False)
    stated = pd.read_csv(tmp_path / "runs.csv")
    assert list(same_bits(stated, again)) == []
    assert list(same_bits(stated.iloc[3:9], again)) == []
    again.loc[7, "extrapolation_mse"] = np.nextafter(again["extrapolation_mse"][7], np.float32(2))
    again.loc[8, "status"] = "diverged"
    first, second = same_bits(stated, again)
    assert first.startswith("seed 7: extrapolation_mse")
    assert second == "seed 8: status finished (again diverged)"


def test_on_another_machine_chance_is_no_difference_and_a_shift_is_one() -> None:
    again, generator = runs(), np.random.default_rng(1)
    for _ in range(20):
        noise = generator.normal(0, 0.3, 25).astype(np.float32)
        assert list(shifts(again.assign(validation_mse=again["validation_mse"] + noise), again)) == []
    (line,) = shifts(again.assign(validation_mse=0.9 * again["validation_mse"]), again)
    assert line.startswith("validation_mse is systematically other than stated")
    ten = again.iloc[:10]
    assert list(shifts(ten.assign(validation_mse=0.9 * ten["validation_mse"]), again)) == []


def test_a_choice_is_repeated_by_its_seed_and_leaves_out_what_is_long() -> None:
    found = [Finished(str(n), {}, {"seconds": 30.0 * n}, runs) for n in range(10)]
    chosen = [one.place for one in choose(found, 3, 12, None)]
    assert chosen == [one.place for one in choose(found, 3, 12, None)]
    assert {one.place for one in choose(found, 5, 12, 1.0)} == {"0", "1", "2"}
    with pytest.raises(UsageError, match=r"none of 9 is shorter than 0\.25 minutes; raise --longest"):
        choose(found[1:], 3, 12, 0.25)


@pytest.mark.slow
@pytest.mark.parametrize("folder", COMMITTED, ids=lambda folder: folder.name)
def test_a_committed_cell_is_built_again_from_its_identity(folder: Path) -> None:
    cells = json.loads((folder / "manifest.json").read_text())["cells"]
    for digest, cell in list(cells.items())[:: 1 + len(cells) // 100]:  # some of a search's many
        assert cell_of(cell["identity"]).digest == digest
    blocks = list(in_results(folder))
    assert sum(len(blocks[n].runs()) for n in range(0, len(blocks), 10)) > 0 or not blocks


def test_a_cell_of_another_version_is_refused_with_what_changed(make_cell: Callable[..., Cell]) -> None:
    identity = make_cell().identity()
    assert cell_of(identity) == replace(make_cell())
    with pytest.raises(UsageError, match=r"has changed: trainer 1 \(now 2\)"):
        cell_of(identity | {"version": identity["version"] | {"trainer": 1}})
    with pytest.raises(UsageError, match="must hold a task, a model and a recipe"):
        cell_of({"task": {}})


def test_a_cell_trained_on_a_file_of_the_users_own_says_why_it_cannot_be_trained_again(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("x,y\n" + "".join(f"{n},{2 * n}\n" for n in range(30)))
    words = ["task=table", f"task.data={tmp_path / 'mine.csv'}", "task.targets=[y]", "model=nau"]
    (want,) = plan_cells(words, multirun=False).cells
    with pytest.raises(UsageError, match="the task must get data, sha256, which no identity keeps"):
        cell_of(want.cell.identity())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    assert main(["run", f"experiment={NAME}", *SMOKE]) == 0
    return tmp_path


@pytest.mark.parametrize("minutes", ["nan", "0", "-1"])
def test_minutes_that_are_none_are_refused(minutes: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--rerun", "1", "--longest", minutes]) == 2
    assert f"--longest must be above 0 minutes, got {minutes}" in capsys.readouterr().err


def without_hashes(manifest: dict[str, Any]) -> dict[str, Any]:
    """That of a part from before manifests held hashes."""
    rest = {key: value for key, value in manifest.items() if key != "files"}
    return rest | {"finished": "2026-11-20T00:00:00Z"}


def test_verify_trains_finished_blocks_again_and_finds_forged_ones(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["verify", "--store", "--rerun", "2", "--seed", "5", "--longest", "1"]) == 0
    said = capsys.readouterr().out
    assert "training 2 of 6 finished blocks again: --rerun 2 --seed 5" in said
    assert said.count("25 runs trained again, the same bits") == 2

    part = next(home.glob("runs/*/nmu/*/parts/*"))
    for file in (schema.RUNS, schema.CURVES):  # a forgery without a contradiction
        frame = pd.read_parquet(part / file)
        frame.assign(extrapolation_mse=frame["extrapolation_mse"] * 0.99).to_parquet(part / file, index=False)
    manifest = json.loads((part / schema.MANIFEST).read_text())
    (part / schema.MANIFEST).write_text(json.dumps(without_hashes(manifest)))
    assert main(["verify", str(part.parents[1])]) == 0
    assert main(["verify", str(part.parents[1]), "--rerun", "1"]) == 1
    found = capsys.readouterr()
    assert "DIFFERENT" in found.out
    assert "seed 0: extrapolation_mse" in found.err


def test_a_part_of_another_machine_is_compared_by_its_distribution_where_its_bits_are_others(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in home.glob("runs/*/*/*/parts/*/manifest.json"):
        manifest = json.loads(path.read_text()) | {"processor": "Abacus"}
        if "nmu" in path.parts:
            manifest = without_hashes(manifest)
            for file in (schema.RUNS, schema.CURVES):
                frame = pd.read_parquet(path.with_name(file))
                rounded = frame["extrapolation_mse"] * (1 + 1e-6 * (-1.0) ** frame["seed"])
                frame.assign(extrapolation_mse=rounded).to_parquet(path.with_name(file), index=False)
        path.write_text(json.dumps(manifest))
    assert main(["verify", "--store", "--rerun", "9"]) == 0
    said = capsys.readouterr().out
    other = "no systematic difference at level 0.001; trained under other conditions: processor Abacus (here "
    assert [line.count(other) for line in said.splitlines() if " / nmu " in line] == [1, 1]
    assert said.count("the same bits") == 4
