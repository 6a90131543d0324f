"""The committed rows of curves, and the refusal of files that do not match the manifest."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis.measure.record import LARGEST, POINTS, kept_points, small_weights
from nalu_bench.cli import main
from nalu_bench.verify.folder import targets


def test_of_every_run_the_rows_at_and_before_its_selected_and_solved_step_are_kept() -> None:
    steps = np.arange(0, 10 * POINTS + 1) * 7
    curves = pd.DataFrame({"seed": np.repeat([3, 4], len(steps)), "step": np.tile(steps, 2), "validation_mse": 1.0})
    solved_at = pd.array([28, pd.NA], "Int64")
    runs = pd.DataFrame({"seed": [3, 4], "selected_step": [707, pd.NA], "solved_at": solved_at, "log_every": 7})
    kept = kept_points(curves, runs)
    own = {seed: set(rows["step"]) for seed, rows in kept.groupby("seed")}
    assert own[3] - own[4] == {700, 707, 21, 28} - own[4]
    assert {700, 707, 21, 28, 0, int(steps[-1])} <= own[3]
    assert POINTS <= len(own[4]) <= POINTS + 2
    pd.testing.assert_frame_equal(kept_points(kept, runs), kept)
    assert kept.equals(kept.sort_values(["seed", "step"], ignore_index=True))


def test_a_short_curve_is_kept_whole() -> None:
    curves = pd.DataFrame({"seed": 0, "step": range(2 * POINTS - 1), "validation_mse": 1.0})
    runs = pd.DataFrame({"seed": [0], "selected_step": [5], "log_every": 1})
    assert len(kept_points(curves, runs)) == 2 * POINTS - 1


def test_large_matrices_stay_in_the_store() -> None:
    values = [np.zeros(LARGEST), np.zeros(LARGEST + 1)]
    assert small_weights(pd.DataFrame({"name": ["small", "large"], "values": values}))["name"].tolist() == ["small"]


def test_a_report_refuses_a_measured_file_that_is_not_the_manifests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An earlier version took over 23 edited solved steps from runs.csv without notice."""
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    folder = tmp_path / "results" / "madsen2020" / "table1"
    shutil.copytree(paths.CHECKOUT / "results" / "madsen2020" / "table1", folder)
    runs = pd.read_csv(folder / "runs.csv", dtype=str, keep_default_na=False)
    chosen = runs.index[runs["solved_at"] != ""][:23]
    runs.loc[chosen, "solved_at"] = "1000"
    runs.to_csv(folder / "runs.csv", index=False, lineterminator="\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["report", "--no-page", "madsen2020/table1"]) == 2
    assert "runs.csv must have the SHA-256 of manifest.json" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_every_committed_file_is_hashed() -> None:
    for folder in targets([], paths.CHECKOUT / "results").values():
        files = {entry.name for entry in folder.iterdir()} - {"manifest.json", "report.html"}
        assert set(json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]) == files
