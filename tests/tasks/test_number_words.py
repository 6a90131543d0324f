"""Numbers in words."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Generator, nn

from nalu_bench.cli import main
from nalu_bench.models.network import Reader
from nalu_bench.plan import compose
from nalu_bench.tasks.number_words import ABSENT, NumberWords
from nalu_bench.tasks.text_tree import tree
from nalu_bench.units import Linear
from nalu_bench.units.embedding import Embedding
from nalu_bench.units.lstm import LSTM


def task(*overrides: str) -> NumberWords:
    cell = compose.plan_cells(["task=number_words", "model=text_lstm", *overrides], multirun=False).cells[0].cell
    assert isinstance(cell.task, NumberWords)
    return cell.task


def texts(chosen: NumberWords, split: str) -> dict[int, list[str]]:
    words, part = chosen.vocabulary(), chosen.split_parameters(split)
    return {
        int(value): [words[token] for token in row if token != ABSENT]
        for row, value in zip(part["tokens"], part["values"], strict=True)
    }


def test_the_splits_are_the_paper_s_and_every_token_is_trained_on() -> None:
    chosen = task()
    members = {split: texts(chosen, split) for split in ("train", "validation", "test")}
    assert [len(found) for found in members.values()] == [169, 200, 631]
    assert sorted(number for found in members.values() for number in found) == list(range(1000))
    assert set(range(20)) <= set(members["train"])
    assert {token for text in members["train"].values() for token in text} == set(chosen.vocabulary())
    assert len(chosen.vocabulary()) == 30


def test_a_number_is_read_as_its_words() -> None:
    everything = {
        number: text for split in ("train", "validation", "test") for number, text in texts(task(), split).items()
    }
    assert everything[515] == ["five", "hundred", "and", "fifteen"]
    assert everything[21] == ["twenty", "one"]
    assert everything[0] == ["zero"]


@pytest.mark.parametrize(
    ("language", "number", "expected"),
    [
        ("de", 515, list("fünfhundertfünfzehn")),
        ("fr", 515, ["cinq", "cent", "quinze"]),
        ("es", 515, ["quinientos", "quince"]),
        ("ja", 515, list("五百十五")),
    ],
)
def test_other_languages_are_one_override(language: str, number: int, expected: list[str]) -> None:
    chosen = task(f"task.language={language}")
    everything = [texts(chosen, split) for split in ("train", "validation", "test")]
    assert [len(found) for found in everything] == [169, 200, 631]
    assert {number: text for found in everything for number, text in found.items()}[number] == expected
    assert {token for text in everything[0].values() for token in text} == set(chosen.vocabulary())


def test_another_sample_is_one_override_and_the_same_one_is_drawn_again() -> None:
    assert np.array_equal(task().members("test"), task("task.tokens=words").members("test"))
    assert not np.array_equal(task().members("test"), task("task.split=1").members("test"))


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_an_evaluation_sees_every_number_of_its_split_once(split: str) -> None:
    chosen = task()
    constants = {name: torch.from_numpy(value) for name, value in chosen.split_parameters(split).items()}
    _, t = chosen.sample(torch.arange(chosen.rows(split).count).unsqueeze(0), {}, constants)
    assert t[:, 0].tolist() == chosen.members(split).tolist()


def test_probes_are_the_beginnings_of_unseen_texts() -> None:
    chosen = task("task.probed=2")
    probes = chosen.probes()
    assert probes is not None
    first, second = (texts(chosen, "test")[number] for number in chosen.members("test")[:2])
    assert probes.labels == [*first, *second]
    assert (probes.inputs[0] != ABSENT).sum() == 1
    assert (probes.inputs[len(first) - 1] != ABSENT).sum() == len(first)


@torch.no_grad()
def test_the_head_reads_the_state_after_the_last_token_of_each_text() -> None:
    embedding, cell, head = Embedding(6, 3), LSTM(3 + 8, 8), Linear(4, 1)
    theirs = nn.LSTM(3, 4, batch_first=True)
    theirs.weight_ih_l0.copy_(cell.W[:, :3])
    theirs.weight_hh_l0.copy_(cell.W[:, 3:])
    theirs.bias_ih_l0.copy_(cell.b)
    theirs.bias_hh_l0.zero_()
    lengths = [1, 4, 2, 3]
    tokens = torch.randint(6, (4, 4), generator=Generator().manual_seed(0))
    for row, length in zip(tokens, lengths, strict=True):
        row[length:] = ABSENT
    found = Reader(embedding, cell, head)(tokens)
    for row, length, y in zip(tokens, lengths, found, strict=True):
        _, (last, _) = theirs(embedding.E.T[row[:length]].unsqueeze(0))
        torch.testing.assert_close(y, head(last[0, 0]))


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("task.language=zh", "unknown language of num2words 'zh'"),
        ("task.language=germna", "unknown language of num2words 'germna'"),
        ("task.validation=831", "every split must hold a number"),
        ("task.validation=0", "every split must hold a number"),
        ("task.training=19", "must hold the first 20 numbers and every token, at least 2"),
        ("task.highest=10", "must be 21 to 100,000 numbers, got 11"),
        ("task.highest=10000000", "must be 21 to 100,000 numbers"),
        ("task.tokens=words task.language=de", "numbers in words, got task.training=169"),
        ("task.tokens=syllables", "unknown kind of tokens 'syllables'"),
        ("task.probed=632", "within the test split of 631 numbers, got 632"),
        ("task.split=-1", "task.split must be at least 0, got -1"),
    ],
)
def test_what_cannot_be_is_refused(override: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "task=number_words", "model=text_lstm", "budget=smoke", *override.split()]) == 2
    assert words in " ".join(capsys.readouterr().err.split())


def test_numbers_that_a_language_cannot_write_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    far = ["task.lowest=-999", "task.highest=0", "task.language=pl"]
    code = main(["run", "task=number_words", "model=text_lstm", "budget=smoke", *far])
    assert (code, "num2words cannot write all numbers" in capsys.readouterr().err) == (2, True)


def test_a_text_model_takes_no_vectors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "task=ten_parameter", "model=text_lstm", "budget=smoke"]) == 2
    shown = capsys.readouterr()
    assert "a text model takes text inputs, ten_parameter gives vectors" in shown.out
    assert "choose a model that takes the task's inputs" in shown.err


def test_another_num2words_is_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = compose.plan_cells(["task=number_words", "model=text_lstm"], multirun=False).cells[0].cell
    assert "data" not in cell.identity()
    monkeypatch.setattr("nalu_bench.tasks.number_words.metadata.version", lambda name: "99.0")
    assert cell.identity()["data"] == {"num2words": "99.0"}


@torch.no_grad()
@pytest.mark.parametrize("reads", ["h", "c", "both"])
@pytest.mark.parametrize("outputs", ["sum", "last"])
def test_a_whole_training_set_read_as_a_tree_has_the_same_loss(reads: str, outputs: str) -> None:
    overrides = ["task=number_words", "model=text_lstm_nalu", f"model.reads={reads}", f"model.outputs={outputs}"]
    cell = compose.plan_cells(overrides, multirun=False).cells[0].cell
    network = cell.model.build(cell.task).double()
    generator = Generator().manual_seed(0)
    for name, initialise in network.initialisers().items():
        initialise(network.get_parameter(name), generator)
    train = cell.task.split_parameters("train")
    x, t = torch.from_numpy(train["tokens"]), torch.from_numpy(train["values"]).double().unsqueeze(-1)
    loss, _ = cell.task.objective(network, x, t, nn.functional.mse_loss, None)
    torch.testing.assert_close(loss, nn.functional.mse_loss(network(x), t))


def test_every_prefix_of_the_training_set_is_in_the_tree_once() -> None:
    chosen = task()
    levels, order = tree(chosen.split_parameters("train")["tokens"], ABSENT)
    assert sorted(order.tolist()) == list(range(169))
    assert sum(level.ends for level in levels) == 169
    prefixes = {tuple(text[:length]) for text in texts(chosen, "train").values() for length in range(1, len(text) + 1)}
    assert sum(len(level.tokens) for level in levels) == len(prefixes)


def test_texts_that_are_no_numbers_are_probed_and_unknown_tokens_refused(capsys: pytest.CaptureFixture[str]) -> None:
    probes = task("task.texts={twenty seven and eighty: 107}").probes()
    assert probes is not None
    assert (probes.labels, set(probes.targets[:, 0])) == (["twenty", "seven", "and", "eighty"], {107.0})
    for text, words in (
        ("twenty and many", "unknown token in task.texts 'many'"),
        ("and " * 9, "must have 1 to 5 tokens"),
    ):
        assert main(["run", "task=number_words", "model=text_lstm", "budget=smoke", f"task.texts={{{text}: 1}}"]) == 2
        assert words in " ".join(capsys.readouterr().err.split())
