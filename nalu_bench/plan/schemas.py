"""Dataclasses as schemas of users' files: experiments and settings of reports are checked with the same messages."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from omegaconf import OmegaConf
from omegaconf.errors import ConfigKeyError, OmegaConfBaseException

from nalu_bench.errors import UsageError, unknown

Schema = TypeVar("Schema")


def filled(schema: type[Schema], content: Any, where: str) -> Schema:
    """An instance of a dataclass with the values of `content`, converted to its types.

    Every message begins with `where`, and quotes the field's `metadata={"must": ...}`: what its value must be.

    Raises:
        UsageError for content that is no mapping, keys that are missing or unknown, and values of another type.
    """
    node = structured(schema, f"{schema.__name__}, of {where},")
    known = {entry.name: entry for entry in fields(schema)}  # type: ignore[arg-type]
    if not isinstance(content, Mapping):
        raise UsageError(f"{where} must set {', '.join(required(known.values()))}, got {content!r:.60}.")
    missing = [name for name in required(known.values()) if name not in content]
    for key in content:
        if key not in known:
            raise unknown(f"key of {where}", str(key), known)
    if missing:
        raise UsageError(f"{where} must set {', '.join(missing)}.")
    for name, kind in get_type_hints(schema).items():
        if kind is str and not isinstance(content.get(name, ""), str):  # OmegaConf would write any value as a text
            raise UsageError(f"{where}: {name} must be a text, got {content[name]!r:.60}.")
    try:
        node = OmegaConf.merge(node, dict(content))  # at once: every merge copies the node
    except OmegaConfBaseException:
        for key, value in content.items():
            try:
                node = OmegaConf.merge(node, {key: value})
            except OmegaConfBaseException as error:
                raise _refused(where, schema, known[key], value, error) from None
    absent = sorted(OmegaConf.missing_keys(node))
    if absent:
        raise UsageError(f"{where} must set {', '.join(absent)}.")
    try:
        found: Schema = OmegaConf.to_object(node)  # type: ignore[assignment]
    except OmegaConfBaseException as error:
        raise UsageError(f"{where}: {_first_line(error)}.") from None
    except UsageError as error:  # raised by a check in the dataclass itself
        raise UsageError(f"{where}: {error}") from None
    return found


def structured(schema: type, what: str) -> Any:
    """OmegaConf's schema of a dataclass; raises UsageError, which begins with `what`, if there can be none."""
    try:
        return OmegaConf.structured(schema)
    except Exception as error:  # such as a field of the type set[int]; OmegaConf raises many kinds
        why = str(error).partition("\n")[0].rstrip(".")
        raise UsageError(f"{what} must be a dataclass whose fields have types that YAML can hold: {why}.") from None


def required(known: Iterable["Field[Any]"]) -> list[str]:
    """The names of the fields without a default."""
    return [entry.name for entry in known if entry.default is MISSING and entry.default_factory is MISSING]


FORMS = {
    str: ("a text", "texts"), int: ("a whole number", "whole numbers"), float: ("a number", "numbers"),
    bool: ("true or false", "true or false"), type(None): ("null", "null"),
}  # fmt: skip
"""Type of a field -> what its value must be, one or several of them."""


def form(schema: type | None, name: str) -> str:
    """What a field of a dataclass must be, in words that suit YAML; empty where its type does not tell."""
    return _form(get_type_hints(schema).get(name)) if is_dataclass(schema) else ""


def _form(kind: Any, many: bool = False) -> str:
    """Plain values, alternatives, dataclasses, and lists and mappings of them, in words.

    >>> _form(dict[str, list[float]])
    'a mapping of names to lists of numbers'
    """
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        keys = ", ".join(entry.name for entry in fields(kind))
        return f"{'mappings' if many else 'a mapping'} with the keys {keys}"
    if origin in (list, dict):
        noun = {list: ("a list of", "lists of"), dict: ("a mapping of names to", "mappings of names to")}[origin][many]
        held = _form(inner[-1], many=True)
        return f"{noun} {held}" if held else ""
    if inner:
        each = [_form(one, many) for one in inner]
        return " or ".join(each) if all(each) else ""
    return FORMS.get(kind, ("", ""))[many]


def _refused(where: str, schema: type, entry: "Field[Any]", value: Any, error: OmegaConfBaseException) -> UsageError:
    if isinstance(error, ConfigKeyError) and error.object_type is not None:
        known = [one.name for one in fields(error.object_type)]
        return unknown(f"key of {entry.name} in {where}", str(error.key), known)
    told = form(schema, entry.name)
    if "must" not in entry.metadata and told:
        return UsageError(f"{where}: {entry.name} must be {told}, got {value!r:.60}.")
    must = f"{entry.name} must be {entry.metadata['must']}" if "must" in entry.metadata else entry.name
    place = f" at {error.full_key}" if error.full_key not in (None, "", entry.name) else ""
    return UsageError(f"{where}: {must}: {_first_line(error)}{place}.")


def _first_line(error: OmegaConfBaseException) -> str:
    return str(error).splitlines()[0].rstrip(".")
