"""Claims on numbers that are named by model and split."""

import pytest

from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError
from nalu_bench.papers.trask2018.numbers_claims import Sentence, told
from nalu_bench.plan.setting import Setting


def test_a_text_names_a_place_and_its_sentence_the_words_of_its_own() -> None:
    said = Sentence([["a test", "a test sums"], ["b train depth=2"]], at_most=1)
    said.check("mine")
    where = Place("programs", Setting({"reads": "c"}))
    (one, other), (alone,) = said.places(where)
    assert one == Place("programs", Setting({"reads": "c"}), "", "test", "a")
    assert other == one.at(task="sums")
    assert alone.setting == {"reads": "c", "depth": "2"}
    assert [told(place, where) for place in (one, other, alone)] == ["a, test", "a, test, sums", "b depth=2, train"]
    assert list(said.names()) == [
        ("model", "a"), ("split", "test"), ("model", "a"), ("split", "test"), ("task", "sums"),
        ("model", "b"), ("split", "train"), ("depth", "2"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (Sentence([["a test"]]), "must have one limit"),
        (Sentence([], at_least=1), "must be about one number or more"),
        (Sentence([["a"]], at_most=1), "must be one or two of `model split`"),
        (Sentence([["a test b c"]], at_most=1), "must be one or two of `model split`"),
        (Sentence([["a test size="]], at_most=1), "must be one or two of `model split`"),
        (Sentence([["a test size=4 b"]], at_most=1), "must be one or two of `model split`"),
        (Sentence([["a b", "a b", "a b"]], at_most=1), "must be one or two of `model split`"),
    ],
)
def test_a_claim_without_numbers_or_a_limit_is_refused(said: Sentence, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        said.check("mine")
