"""Numbers written in words, which a network learns to read."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from nalu_bench.errors import UsageError, unknown
from nalu_bench.registry import register
from nalu_bench.tasks.task import Loss, Probes, Rows, Task
from nalu_bench.tasks.text_tree import Level, tree

if TYPE_CHECKING:
    from torch import Tensor

TOKENS = ("auto", "words", "characters")
FIRST = 20
"""The training split always holds this many of the smallest numbers."""

MOST = 100_000
"""The largest count of numbers in a task, because every one has to be written in words."""

FIRST_VERSION = "0.5.14"
"""The version of num2words that wrote the texts of the first runs."""

ABSENT = -1
"""Filler after the last token of a text that is shorter than the longest."""


@register("number_words", version=2)
@dataclass
class NumberWords(Task):
    """t = the number that a text says: "five hundred and fifteen" -> 515.

    The library num2words writes the texts. The training split holds the smallest 20 numbers and a random sample, and
    every token occurs in it. The validation split is a random sample of the others. The test split holds the rest.

    Source: Trask et al. 2018, section 4.3 and Table 3, where the splits have 169, 200 and 631 numbers. Deviations: the
    paper's sample is not known. Ours is drawn once, from `split`, and is the same for all seeds.

    Attributes:
        language: a language code of num2words.
        lowest, highest: the range of numbers, both ends included.
        training, validation: sizes of these splits; the rest is the test split.
        tokens: `words`, `characters` or `auto`: words if the training split can hold all of them, else characters (for
            languages that write a number as one word).
        split: the seed of the random samples.
        probed: number of texts of the test split for which the prediction after every token is kept.
        texts: further texts for which it is kept, in words of the vocabulary, with the numbers that they stand for.
    """

    inputs: ClassVar[str] = "text"
    evaluated: ClassVar[tuple[str, ...]] = ("validation", "train", "test")

    language: str
    lowest: int
    highest: int
    training: int
    validation: int
    tokens: str
    split: int
    probed: int = field(metadata={"most": 100_000})
    texts: dict[str, float]

    def validate(self) -> None:
        from num2words import CONVERTER_CLASSES

        if self.language not in CONVERTER_CLASSES:
            raise unknown("language of num2words", self.language, CONVERTER_CLASSES)
        if self.tokens not in TOKENS:
            raise unknown("kind of tokens", self.tokens, TOKENS)
        count = self.highest - self.lowest + 1
        if not FIRST < count <= MOST:
            raise UsageError(
                f"task.lowest to task.highest must be {FIRST + 1} to {MOST:,} numbers, got {count:,}, from "
                f"{self.lowest} to {self.highest}."
            )
        if min(self.training, self.validation) < 1 or self.training + self.validation >= count:
            raise UsageError(
                f"every split must hold a number: task.training and task.validation must be at least 1 and leave some "
                f"of {count} numbers for the test, got {self.training} and {self.validation}."
            )
        if self.split < 0:
            raise UsageError(f"task.split must be at least 0, got {self.split}.")
        if not 0 <= self.probed <= count - self.training - self.validation:
            raise UsageError(
                f"task.probed must be at least 0 and within the test split of "
                f"{count - self.training - self.validation} numbers, got {self.probed}."
            )
        words, longest = self.vocabulary(), self._corpus().tokens.shape[1]
        for text in self.texts:
            tokens = self._tokens(text)
            for token in tokens:
                if token not in words:
                    raise unknown("token in task.texts", token, words)
            if not 0 < len(tokens) <= longest:
                raise UsageError(
                    f"a text in task.texts must have 1 to {longest} tokens, got {len(tokens)} in {text!r}."
                )

    @property
    def input_size(self) -> int:
        return len(self._corpus().vocabulary)

    def example_size(self, split: str) -> int:
        return 1

    def fingerprint(self) -> dict[str, str]:
        """The version of num2words, which writes the texts; empty at the version of the first runs."""
        notes = self.data_notes()
        return {} if notes["num2words"] == FIRST_VERSION else notes

    def data_notes(self) -> dict[str, str]:
        return {"num2words": metadata.version("num2words")}

    def vocabulary(self) -> list[str]:
        """All tokens of all numbers, in order of first use."""
        return self._corpus().vocabulary

    def members(self, split: str) -> np.ndarray:
        """The numbers of a split."""
        return self.lowest + self._corpus().places[split]

    def split_parameters(self, split: str) -> dict[str, np.ndarray]:
        """The texts of the split as tokens (n, length), and its numbers (n,)."""
        corpus = self._corpus()
        return {"tokens": corpus.tokens[corpus.places[split]], "values": self.members(split).astype(np.float32)}

    def rows(self, split: str) -> Rows:
        return Rows(len(self.members(split)))

    def sample(
        self, numbers: Tensor, seed_parameters: dict[str, Tensor], split_parameters: dict[str, Tensor]
    ) -> tuple[Tensor, Tensor]:
        tokens, values = split_parameters["tokens"], split_parameters["values"]
        return tokens[numbers[0]], values[numbers[0]].unsqueeze(-1)

    def objective(
        self, network: Any, x: Tensor, t: Tensor, loss: Loss, noise: Tensor | None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The loss of a batch. A network that can (`predict_tree`) reads each prefix of the whole training set once.

        The loss is the same, to rounding. It takes a third of the time, because 169 texts of up to five tokens have
        only 235 prefixes.
        """
        predict = getattr(network, "predict_tree", None)
        if predict is None or x.shape[-2] < self.training:
            return super().objective(network, x, t, loss, noise)
        levels, values = self._tree()
        y, penalties = predict(levels)
        return loss(y, t.new_tensor(values)), penalties

    def _tree(self) -> tuple[list[Level], list[list[float]]]:
        train = self.split_parameters("train")
        levels, order = tree(train["tokens"], ABSENT)
        return levels, train["values"][order, None].tolist()

    def probes(self) -> Probes | None:
        words, texts = self.vocabulary(), self.split_parameters("test")
        rows = zip(texts["tokens"][: self.probed], texts["values"].tolist(), strict=False)
        read = [([words[token] for token in row if token != ABSENT], value) for row, value in rows]
        read += [(self._tokens(text), value) for text, value in self.texts.items()]
        labels, inputs, targets = [], [], []
        for tokens, value in read:
            row = [words.index(token) for token in tokens]
            for length in range(1, len(row) + 1):
                labels.append(tokens[length - 1])
                inputs.append(row[:length] + [ABSENT] * (self._corpus().tokens.shape[1] - length))
                targets.append([value])
        return Probes(labels, np.array(inputs), np.array(targets, np.float32)) if inputs else None

    def _tokens(self, text: str) -> list[str]:
        """The tokens of a text, as the corpus has them."""
        return _split(text, self._corpus().kind)

    def _corpus(self) -> Corpus:
        return _corpus(
            self.language, self.lowest, self.highest, self.tokens, self.training, self.validation, self.split
        )


@dataclass(frozen=True)
class Corpus:
    """All numbers in words.

    Attributes:
        vocabulary: all tokens.
        tokens: (numbers, length) indices into the vocabulary, filled up with `ABSENT`.
        places: split -> indices of its numbers, counted from the lowest.
        kind: `words` or `characters`.
    """

    vocabulary: list[str]
    tokens: np.ndarray
    places: dict[str, np.ndarray]
    kind: str


@functools.cache
def _corpus(
    language: str, lowest: int, highest: int, tokens: str, training: int, validation: int, split: int
) -> Corpus:
    texts = _texts(language, lowest, highest)
    kinds = {kind: [_split(text, kind) for text in texts] for kind in TOKENS[1:]}
    order = [*range(FIRST), *(FIRST + np.random.default_rng(split).permutation(len(texts) - FIRST)).tolist()]
    for kind in kinds if tokens == "auto" else [tokens]:
        tokenised = kinds[kind]
        needed = _covering(tokenised, order)
        if len(needed) <= training:
            taken = set(needed)
            rest = [place for place in order if place not in taken]
            fill = training - len(needed)
            places = {
                "train": needed + rest[:fill],
                "validation": rest[fill : fill + validation],
                "test": rest[fill + validation :],
            }
            return _indexed(tokenised, {name: np.array(found) for name, found in places.items()}, kind)
    raise UsageError(
        f"the training split must hold the first {FIRST} numbers and every token, at least {len(needed)} numbers in "
        f"{kind}, got task.training={training}; raise it or choose another task.tokens."
    )


def _split(text: str, kind: str) -> list[str]:
    return re.findall(r"[^\s,-]+", text) if kind == "words" else list(text)


def _indexed(texts: list[list[str]], places: dict[str, np.ndarray], kind: str) -> Corpus:
    vocabulary = {
        token: number for number, token in enumerate(dict.fromkeys(token for text in texts for token in text))
    }
    tokens = np.full((len(texts), max(map(len, texts))), ABSENT)
    for row, text in zip(tokens, texts, strict=True):
        row[: len(text)] = [vocabulary[token] for token in text]
    return Corpus(list(vocabulary), tokens, places, kind)


def _texts(language: str, lowest: int, highest: int) -> list[str]:
    from num2words import num2words

    try:
        return [str(num2words(number, lang=language)) for number in range(lowest, highest + 1)]
    except (NotImplementedError, OverflowError, TypeError, ValueError, LookupError) as error:
        raise UsageError(
            f"num2words cannot write all numbers from {lowest} to {highest} in the language {language} "
            f"({type(error).__name__}); choose another task.language, task.lowest or task.highest."
        ) from None


def _covering(texts: list[list[str]], order: list[int]) -> list[int]:
    """The first 20 entries of `order`, and every later one whose text has a token that no earlier text has."""
    chosen, seen = [], set[str]()
    for number, place in enumerate(order):
        if number < FIRST or not seen.issuperset(texts[place]):
            chosen.append(place)
            seen.update(texts[place])
    return chosen
