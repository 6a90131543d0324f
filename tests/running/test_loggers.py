"""A logger writes what the store holds, thinned, and only if it is asked for."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

from nalu_bench.cli import main
from nalu_bench.running import loggers

CELL = ["task=ten_parameter", "model=nmu", "budget=smoke", "device.workers=1", "compile=false"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    return tmp_path


def test_the_events_are_the_curves_of_the_store(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    monkeypatch.setattr(loggers, "POINTS", 2)
    assert main(["run", *CELL, "logger=tensorboard"]) == 0
    (part,) = home.glob("runs/ten_parameter/nmu/*/parts/*")
    curves = pd.read_parquet(part / "curves.parquet")
    curve = curves[curves["seed"] == 1].set_index("step")["validation_mse"]
    (folder,) = home.glob("runs/.tensorboard/ten_parameter/nmu/*/seed1")
    events = accumulator.EventAccumulator(str(folder)).Reload().Scalars("validation_mse")
    assert [event.step for event in events] == list(curve.index[::2])
    assert [event.value for event in events] == pytest.approx(list(curve.iloc[::2]))


def test_without_a_logger_nothing_is_copied(home: Path) -> None:
    assert main(["run", *CELL]) == 0
    assert not (home / "runs/.tensorboard").exists()


def test_a_logger_that_is_missing_or_unknown_is_refused_before_training(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *CELL, "logger=tensorbord"]) == 2
    assert "unknown logger 'tensorbord'; did you mean 'tensorboard'" in capsys.readouterr().err
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["run", *CELL, "logger=tensorboard"]) == 2
    assert "needs the extra [tensorboard]" in capsys.readouterr().err
    assert not (home / "runs").exists()
