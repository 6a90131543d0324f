"""Series of digits: their targets, their splits, and a network that learns from them without MNIST."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nalu_bench.cli import main
from nalu_bench.plan import compose
from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell
from nalu_bench.store.reader import Store
from nalu_bench.tasks.digit_series import DigitSeries
from nalu_bench.training.compilation import Mode
from nalu_bench.training.data import tensors
from nalu_bench.training.loop import train_block

SMALL = [
    "task=digit_series", "task.dataset=digits", "task.validation=200", "task.length=3", "task.test_lengths=[1,3,30]",
    "recipe.batch_size=8", "budget=smoke",
]  # fmt: skip


def small(*overrides: str) -> list[str]:
    """`SMALL`, with other values where the overrides give them."""
    keys = {text.partition("=")[0] for text in overrides}
    return [*(text for text in (*SMALL, "model=image_nac") if text.partition("=")[0] not in keys), *overrides]


def cell(*overrides: str) -> Cell:
    return compose.plan_cells(small(*overrides), multirun=False).cells[0].cell


def series(*overrides: str) -> Any:
    return cell(*overrides).task


LABELS = torch.tensor([[3, 0, 3], [1, 2, 4]])


@pytest.mark.parametrize(("operation", "last"), [("sum", [[6.0], [7.0]]), ("product", [[0.0], [8.0]]), ("count", None)])
def test_targets_after_every_image_end_with_the_target_after_the_last(operation: str, last: Any) -> None:
    whole = series(f"task.operation={operation}").series_targets(LABELS)
    every = series(f"task.operation={operation}", "task.targets=every").series_targets(LABELS)
    assert torch.equal(every[:, -1], whole)
    if last:
        assert whole.tolist() == last
    else:
        assert whole[0].tolist() == [1, 0, 0, 2, 0, 0, 0, 0, 0, 0]
        assert every[1, 1].tolist() == [0, 1, 1, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("targets", ["last", "every"])
@pytest.mark.parametrize("operation", ["sum", "product", "count"])
def test_single_images_of_the_test_give_their_labels_back(operation: str, targets: str) -> None:
    task = series(f"task.operation={operation}", f"task.targets={targets}")
    constants = tensors(task.split_parameters("test"))
    x, t = task.sample(torch.arange(50).unsqueeze(0), {}, constants)
    assert x.shape == (50, 1, 28, 28)
    assert torch.equal(task.labels_of(t), constants["labels"][:50].long())


def test_splits_share_no_image_and_hold_the_digits_asked_for() -> None:
    task = series("task.digits=[1,7]")
    seen = [task.split_parameters(split) for split in ("train", "validation", "test")]
    images = [{image.tobytes() for image in part["images"]} for part in seen]
    assert not images[0] & images[1]
    assert not images[1] & images[2]
    assert all(set(part["labels"].tolist()) == {1, 7} for part in seen)


def test_test_series_are_the_same_for_everybody_and_use_an_image_once() -> None:
    made = DigitSeries._series(400, 30)
    assert made.shape == (13, 30)
    assert len(made.unique()) == made.numel()
    assert torch.equal(made, DigitSeries._series(400, 30))


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("task.digits=[10]", "digits 0 to 9, each once, got [10]"),
        ("task.digits=[]", "digits 0 to 9, each once, got []"),
        ("task.digits=[3,3]", "digits 0 to 9, each once, got [3, 3]"),
        ("task.test_lengths=[401]", "task.test_lengths must name lengths of 1 to 400"),
        ("task.test_lengths=[]", "task.test_lengths must name lengths"),
        ("task.test_lengths=[1,1]", "each once, got [1, 1]"),
        ("task.length=0", "task.length must be at least 1 and at most task.validation=200, the images held out, got 0"),
        (
            "task.length=201",
            "task.length must be at least 1 and at most task.validation=200, the images held out, got 201",
        ),
        ("task.operation=mean", "unknown operation on digits 'mean'"),
        ("task.targets=all", "unknown targets of a series 'all'"),
        ("task.dataset=svhn", "unknown dataset of images 'svhn'"),
        ("task.validation=1397", "1 to 1,396, got 1,397; the dataset digits is for a first look: task.validation=200"),
    ],
)
def test_what_cannot_be_is_refused(override: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *small(override)]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("task.test_lengths=[100]", "task.test_lengths must be at most"),
        ("task.length=100", "task.length must be at most"),
    ],
)
def test_a_series_longer_than_what_the_digits_leave_is_refused(
    override: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *small("task.digits=[3]", override)]) == 2
    assert words in capsys.readouterr().err


def test_the_dataset_is_known_by_name_and_version_and_needs_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NALU_BENCH_DATA", "/no/such/folder")
    mnist = cell("task.dataset=mnist", "task.validation=5000").identity()
    assert mnist["data"] == {"images": "mnist 1998"}
    assert "/" not in str(mnist["task"])


def test_it_learns_and_is_tested_at_every_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    overrides = ["model=image_solved_sum", "budget.steps=120", "budget.log_every=40", "seeds=1"]
    assert main(["run", *small(*overrides), "device.workers=1"]) == 0
    chosen = cell(*overrides)
    curve = Store(tmp_path / "runs").curves(chosen)["validation_mae"]
    assert curve.iloc[-1] < 0.5 * curve.iloc[0]
    (run,) = Store(tmp_path / "runs").runs(chosen).to_dict("records")
    errors = [run[f"test_mae_{length}"] for length in (1, 3, 30)]
    assert np.isfinite(errors).all()
    assert errors[0] < errors[2]


def test_resumed_in_the_middle_of_an_epoch_it_has_the_same_bits(killed_and_resumed: Callable[..., Any]) -> None:
    expected, resumed = killed_and_resumed(cell("budget.steps=20", "budget.log_every=10"), Block(0, 1), 13)
    for name, column in expected.columns.items():
        assert column.tobytes() == resumed.columns[name].tobytes()
    for name, value in expected.parameters.items():
        assert value.tobytes() == resumed.parameters[name].tobytes()


def test_the_test_is_followed_and_the_encoder_recorded(tmp_path: Path) -> None:
    chosen, block = cell("budget.steps=4", "budget.log_every=2"), Block(0, 1)
    result = train_block(chosen, block, Mode("cpu", compiled=False), tmp_path / "block.pt", lambda *_: None)
    for name in ("test_mae_30", "test_digits_1", "validation_mse", "recurrent_weight", "input_weight"):
        assert np.isfinite(result.columns[name]).all(), name
    assert result.tested == {}
    assert result.arrays["encoder_mean"].shape == result.arrays["encoder_deviation"].shape == (1, 10, 1)


def test_probes_show_every_digit_equally_often() -> None:
    task = series("task.digits=[2,5]")
    probes = task.probes()
    count = len(probes.labels) // 2
    assert probes.labels == ["2"] * count + ["5"] * count
    assert probes.inputs.shape == (2 * count, 1, 28, 28)


def figures_of(task: DigitSeries, factor: float) -> dict[str, torch.Tensor]:
    """The test of a network that knows the labels, and predicts the targets times a factor."""

    class Knowing:
        """An image is its own code."""

        def encoded(self, x: torch.Tensor) -> torch.Tensor:
            return x

        def over(self, z: torch.Tensor) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
            return task.series_targets(z.long()) * factor, {}

    labels = torch.arange(400).unsqueeze(1) % 10
    return task.test(Knowing(), labels, task.series_targets(labels))


@pytest.mark.parametrize("targets", ["last", "every"])
@pytest.mark.parametrize("operation", ["sum", "product", "count"])
def test_a_perfect_network_reads_every_digit_off_single_images(operation: str, targets: str) -> None:
    figures = figures_of(series(f"task.operation={operation}", f"task.targets={targets}"), 1)
    assert figures["digits_1"].item() == 1
    assert figures["mae_30"].item() == 0
    assert figures["rounds_30"].item() == 1


@pytest.mark.parametrize("operation", ["sum", "count"])
def test_no_digit_is_read_off_numbers_that_are_none(operation: str) -> None:
    assert figures_of(series(f"task.operation={operation}"), torch.nan)["digits_1"].item() == 0
