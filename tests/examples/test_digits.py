"""The recurrent CNN, from its files alone: rows of fixed data, plain modules as parts, evaluation in chunks."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.plan import compose
from nalu_bench.plan.cell import Cell
from nalu_bench.store.reader import Store
from nalu_bench.training import data, rebuild
from nalu_bench.training import loop as loop_module
from nalu_bench.training.compilation import Mode
from nalu_bench.training.random import epochs

Example = Callable[[str, Path], AbstractContextManager[Path]]

GROUPS = ["task=digit_sums", "model=digit_nac", "recipe=digits", "budget=digits"]
MACHINE = ["compile=false", "device.workers=1"]
SHORT = ["budget.steps=20", "budget.log_every=10"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def digits(example: Example, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    pytest.importorskip("sklearn")
    with example("digits", tmp_path_factory.mktemp("digits")) as folder:
        yield folder


@pytest.fixture(scope="module")
def cell(digits: Path) -> Cell:
    return compose.plan_cells(GROUPS, multirun=False).cells[0].cell


@pytest.fixture(scope="module")
def trained(cell: Cell) -> Store:
    assert main(["run", *GROUPS, *MACHINE]) == 0
    return Store(paths.runs_dir())


def curves(store: Store, cell: Cell) -> bytes:
    """Every figure of the training curves, as bytes."""
    frame = store.curves(cell)
    return b"".join(frame[name].to_numpy().tobytes() for name in frame)


def test_it_learns_to_add_digits_that_it_sees(trained: Store, cell: Cell) -> None:
    targets = [chunk.t[0] for chunk in data.Data(cell, [0, 1], torch.device("cpu")).examples("validation")]
    totals = torch.cat(targets).numpy()
    assert len(totals) == 60
    constant = np.abs(totals - np.median(totals)).mean()
    runs = trained.runs(cell)
    assert (runs["validation_mae"] < 0.65 * constant).all()
    assert (runs["test_mae"] < 0.85 * constant).all()
    assert runs["test_rounds"].between(0, 1).all()


def test_the_store_rebuilds_the_network(trained: Store, cell: Cell) -> None:
    for row in trained.runs(cell).to_dict("records"):
        network = rebuild.network(cell, trained.parameters(cell, row["seed"]))
        for split in ("validation", "test"):
            images = epochs.in_order(cell.task.rows(split), cell.task.example_size(split), split)
            x, t = cell.task.sample(images, {}, data.tensors(cell.task.split_parameters(split)))
            with torch.no_grad():
                figures = cell.task.measure(network, x, t)
            for name in ("mse", "mae", "rounds"):
                assert float(figures[name]) == pytest.approx(row[f"{split}_{name}"], rel=1e-5)


def test_the_identity_holds_the_width_and_names_the_images_without_a_path(trained: Store, cell: Cell) -> None:
    identity = json.loads((trained.root / cell.folder / "cell.json").read_text())
    assert identity["data"] == {"images": "optdigits, test set of July 1998"}
    assert identity["model"]["width"] == 2
    assert identity["model"]["states"] == 1
    assert "/" not in json.dumps(identity)
    assert trained.manifests(cell)[0]["width"] == 2


def test_an_epoch_shows_every_image_once_in_an_order_of_its_seed(cell: Cell) -> None:
    draw = data.training_numbers(cell, [0, 1], Mode("cpu", compiled=False))
    batches = 1200 // 5 // cell.recipe.batch_size
    shown = [torch.cat([draw(e * batches + b + 1) for b in range(batches)], dim=-1).flatten(1) for e in range(2)]
    for epoch in shown:
        assert epoch.dtype == torch.int64
        assert (epoch.sort(dim=-1).values == torch.arange(1200)).all()
    orders = [*shown[0], *shown[1]]
    assert all(not torch.equal(one, other) for n, one in enumerate(orders) for other in orders[:n])


class StoppedError(KeyboardInterrupt):
    """Ctrl-C."""


def test_a_run_that_is_stopped_within_an_epoch_goes_on_to_the_same_bits(
    cell: Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = compose.plan_cells([*GROUPS, *SHORT], multirun=False).cells[0].cell
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path / "whole"))
    assert main(["run", *GROUPS, *SHORT, *MACHINE]) == 0
    expected = curves(Store(paths.runs_dir()), short)

    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path / "stopped"))
    update = loop_module._Loop.update

    def stop(loop: Any, numbers: torch.Tensor, shared: Any) -> None:
        if loop.step == 17:
            raise StoppedError
        update(loop, numbers, shared)

    with monkeypatch.context() as patch:
        patch.setattr(loop_module, "CHECKPOINT_SECONDS", -1.0)
        patch.setattr(loop_module._Loop, "update", stop)
        assert main(["run", *GROUPS, *SHORT, *MACHINE]) == 130
    store = Store(paths.runs_dir())
    assert store.in_progress(short) == {"0-1": 17}
    assert main(["run", *GROUPS, *SHORT, *MACHINE]) == 0
    assert curves(store, short) == expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["task.digits=0"], "task.digits must be at least 1, got 0"),
        (["task.training=1797"], "the split validation of digit_sums must hold an example of 5 rows, got 0 rows"),
        (["model.channels=0"], "must be at least 1, got 0 and 16"),
        (["model=nmu"], "two_layer model takes vector inputs"),
        (["task=arithmetic"], "a digit_reader model takes image sequence inputs"),
    ],
)
@pytest.mark.usefixtures("digits")
def test_a_users_mistake_is_told_in_plain_words(
    changes: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = {change.partition("=")[0] for change in changes}
    kept = [text for text in GROUPS if text.partition("=")[0] not in keys]
    assert main(["run", *kept, *MACHINE, *changes]) == 2
    told = capsys.readouterr()
    assert message in told.out + told.err


@pytest.mark.slow
@pytest.mark.compiled
def test_compiled_it_trains_as_eagerly_to_rounding(cell: Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = compose.plan_cells([*GROUPS, *SHORT], multirun=False).cells[0].cell
    frames: list[pd.DataFrame] = []
    for compiled in ("false", "true"):
        monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path / compiled))
        assert main(["run", *GROUPS, *SHORT, "device.workers=1", f"compile={compiled}"]) == 0
        frames.append(Store(paths.runs_dir()).curves(short))
    pd.testing.assert_frame_equal(*frames, rtol=0.02)
