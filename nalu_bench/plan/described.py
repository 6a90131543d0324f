"""Configurations in words and as YAML, for people to read."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from nalu_bench.files import refuse_pipe
from nalu_bench.plan import configuration, folders


def about(group: str, name: str) -> str:
    """The first sentence of the comment with which a YAML file begins; empty if there is none."""
    return first_sentence(_comment(folders.files(group)[name]))


def shown(arguments: Sequence[str]) -> str:
    """The values that overrides choose and set, as YAML: those of the groups that they name, or all values."""
    values = configuration.resolved(arguments)
    named = [key for key in values if any(text.startswith((f"{key}=", f"{key}.")) for text in arguments)]
    return "\n".join(_section(key, values[key]) for key in named or values).rstrip()


def first_sentence(text: str) -> str:
    """The text up to the first full stop that ends a word of more than one letter.

    >>> first_sentence("Trask et al. 2018, Table 1. The rest is ours.")
    'Trask et al. 2018, Table 1.'
    """
    words = text.split(" ")
    for count, word in enumerate(words, 1):
        if word.endswith(".") and word not in ("al.", "e.g.", "i.e.") and not word[:-1].isupper():
            return " ".join(words[:count])
    return text


def _section(key: str, values: object) -> str:
    """One key with its values; a group's begins with the place and the purpose of its file."""
    text: str = yaml.dump({key: values}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    if not isinstance(values, dict):
        return text.rstrip()
    name = str(values["name"])
    return f"# {key}={name}: {about(key, name)}\n{text}" if name in folders.files(key) else text


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]
    """Writes lists of plain values on one line."""


def _list(dumper: _Dumper, values: list[object]) -> yaml.Node:
    plain = not any(isinstance(value, list | dict) for value in values)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=plain)


_Dumper.add_representer(list, _list)


def _comment(path: Path) -> str:
    lines = []
    try:
        refuse_pipe(path)
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # who chooses it is told
        return ""
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# ").rstrip())
    return " ".join(lines)
