"""Multilayer perceptrons."""

from pathlib import Path

import pytest

from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.models.layer import Layer
from nalu_bench.plan import compose


def test_the_hidden_layers_have_the_activation_and_the_last_has_none() -> None:
    cell = compose.plan_cells(["task=identity", "model=mlp", "model.activation=tanh"], multirun=False).cells[0].cell
    network = cell.model.build(cell.task)
    assert [str(layer) for layer in network.layers] == ["Dense(1, 8)", "Dense(8, 8)", "Dense(8, 8)", "Dense(8, 1)"]
    assert [layer.activation for layer in network.layers] == ["tanh", "tanh", "tanh", "linear"]


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("model.activation=swich", "unknown activation 'swich'; did you mean 'swish'? Known: crelu, elu, hardshrink"),
        ("model.hidden=[]", "model.hidden must list the sizes"),
        ("model.hidden=[8,0]", "model.hidden must list the sizes"),
    ],
)
def test_what_cannot_be_is_refused(
    override: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    assert main(["run", "task=identity", "model=mlp", "budget=smoke", override]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("model", ["mlp", "heim_dense"])
def test_layers_may_have_no_bias(model: str) -> None:
    words = ["task=identity", f"model={model}", "model.bias=false", "model.activation=tanh"]
    cell = compose.plan_cells(words, multirun=False).cells[0].cell
    assert {name.rpartition(".")[2] for name, _ in cell.model.build(cell.task).named_parameters()} == {"W"}


@pytest.mark.parametrize("value", ["false", 0, None])
def test_an_option_that_must_be_true_or_false_is_neither_a_text_nor_a_number(value: object) -> None:
    with pytest.raises(UsageError, match="bias of the unit relu must be true or false, got "):
        Layer("relu", {"bias": value}).build(2, 1)
