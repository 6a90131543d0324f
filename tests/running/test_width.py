"""The width of a block is the model's, or the device's, and is written down."""

import json
from pathlib import Path

import pandas as pd
import pytest

from nalu_bench.cli import main
from nalu_bench.plan import compose
from nalu_bench.plan.cell import Cell

CELL = ["task=ten_parameter", "model=nmu", "budget=smoke", "seeds=3"]


def cell(*overrides: str) -> Cell:
    return compose.plan_cells([*CELL, *overrides], multirun=False).cells[0].cell


def manifests(home: Path, chosen: Cell) -> dict[str, int]:
    parts = (home / "runs" / chosen.folder / "parts").iterdir()
    return {part.name: json.loads((part / "manifest.json").read_text())["width"] for part in parts}


@pytest.mark.parametrize(
    ("override", "parts"),
    [("seeds=3", {"0-24": 25}), ("model.width=2", {"0-1": 2, "2-3": 2}), ("device.width=2", {"0-1": 2, "2-3": 2})],
)
def test_blocks_have_the_width_that_is_asked_for(
    override: str, parts: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    given = [text for text in CELL if text.partition("=")[0] != override.partition("=")[0]]
    assert main(["run", *given, override, "device.workers=1"]) == 0
    assert manifests(tmp_path, cell(*([] if override.startswith("seeds") else [override]))) == parts


def test_a_models_width_is_part_of_the_identity_and_a_devices_is_not() -> None:
    assert cell("model.width=25").digest == cell("device.width=2").digest == cell().digest
    assert cell("model.width=2").digest != cell().digest


@pytest.mark.parametrize(("key", "must"), [("model.width", "at least 1"), ("device.width", "from 1 to 10,000")])
def test_a_block_holds_a_seed(key: str, must: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *CELL, f"{key}=0"]) == 2
    assert f"{key} must be {must}, got 0" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["task=digit_canvas", "model=canvas_nac", "recipe=trask2018_parity", "task.canvases=64",
         "task.validation_canvases=50", "task.test_canvases=50"],
        ["task=digit_series", "model=image_nau", "recipe=madsen2020_images", "task.test_lengths=[1]"],
    ],
)  # fmt: skip
def test_convolutional_networks_train_side_by_side_as_they_do_alone(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks of their models have one seed; those of a GPU have more."""
    pytest.importorskip("sklearn")
    few = ["task.dataset=digits", "task.validation=200", "recipe.batch_size=8", "recipe.steps=2", "recipe.log_every=2"]
    found = []
    for width in (1, 2):
        monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path / str(width)))
        assert main(["run", *words, *few, "seeds=2", "device.workers=1", f"device.width={width}"]) == 0
        runs = (pd.read_parquet(file) for file in sorted(tmp_path.glob(f"{width}/runs/**/curves.parquet")))
        found.append(pd.concat(runs, ignore_index=True))
    pd.testing.assert_frame_equal(*found, rtol=1e-4)
