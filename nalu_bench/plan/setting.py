"""The words that tell cells of one task and model apart."""

from collections.abc import Iterator, Mapping
from typing import Any

from nalu_bench.errors import UsageError

ESCAPES = {"%": "%25", ";": "%3B", "\n": "%0A"}
"""How a value is written that holds what divides two words; the first is undone last."""


class Setting(Mapping[str, str]):
    """A mapping that does not change: word -> value, such as hidden -> 4. Written as `hidden=4;length=10`.

    >>> setting = Setting.parse("hidden=4") | {"length": 10}
    >>> str(setting), setting["hidden"], setting == {"hidden": "4", "length": "10"}
    ('hidden=4;length=10', '4', True)
    """

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        self._values = {str(word): str(value) for word, value in (values or {}).items()}

    @classmethod
    def parse(cls, text: str) -> "Setting":
        """The setting that is written so; an empty text is that without words.

        Raises:
            UsageError for a text of another form.
        """
        pairs = [entry.partition("=") for entry in text.split(";") if entry]
        found = cls({word: _unescaped(value) for word, sign, value in pairs if word and sign})
        if len(found) < len(pairs):
            raise UsageError(f"a setting must be written as hidden=4;length=10, each word once, got {text!r:.200}.")
        return found

    def told(self) -> str:
        """For a reader: `hidden=4, length=10`."""
        return ", ".join(f"{word}={value}" for word, value in self.items())

    def in_words(self, headings: Mapping[str, str], but: str = "") -> list[str]:
        """Its entries without the word `but`, as headings have them: `hidden=4`, or what `headings` have for that."""
        entries = (f"{word}={value}" for word, value in self.items() if word != but)
        return [headings.get(entry, entry) for entry in entries]

    def __getitem__(self, word: str) -> str:
        return self._values[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __or__(self, others: Mapping[str, Any]) -> "Setting":
        return Setting({**self, **others})

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __str__(self) -> str:
        return ";".join(f"{word}={_escaped(value)}" for word, value in self.items())

    def __repr__(self) -> str:
        return f"Setting.parse({str(self)!r})"


def _escaped(value: str) -> str:
    for sign, written in ESCAPES.items():
        value = value.replace(sign, written)
    return value


def _unescaped(value: str) -> str:
    for sign, written in reversed(ESCAPES.items()):
        value = value.replace(written, sign)
    return value
