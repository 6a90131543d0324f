"""The configuration of a cell: its groups, and then the values that a command or an experiment sets.

OmegaConf sets them (`task.operation=mul`), typed by the schemas. We check first that every key exists, because
Hydra accepts `+typo=1`.
"""

import difflib
import functools
import re
import shlex
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import ConfigKeyError, OmegaConfBaseException

from nalu_bench.errors import UsageError, unknown
from nalu_bench.plan import config_groups, folders, grammar, schemas, unit_files
from nalu_bench.plan.grammar import Override, Pair

SHOWN = ("model.label", "model.look")
"""Keys that tables and figures read from the file of a model."""

RESOLVER = re.compile(r"\$\{\s*[\w.]+\s*:")
"""What asks for more than another key, as `${now:%Y}` does."""


def resolved(arguments: Sequence[str]) -> dict[str, Any]:
    """All values of the cell that the overrides describe."""
    overrides = grammar.split(arguments)[0]
    config = configure(grammar.single(overrides), overrides)
    try:
        return {str(key): value for key, value in OmegaConf.to_container(config, resolve=True).items()}  # type: ignore[union-attr]
    except OmegaConfBaseException as error:
        raise UsageError(str(error).splitlines()[0]) from None


def configure(pairs: Sequence[Pair], typed: Sequence[Override] = ()) -> DictConfig:
    """Compose the groups, then set the values; `typed` are those of the command itself."""
    chosen = {key: value for key, value in pairs if key in folders.GROUPS}
    units = next((tuple(unit_files.names_of(value)) for key, value in pairs if key == unit_files.GROUP), None)
    if units == ():
        raise UsageError(f"unit= must name at least one unit, one of {', '.join(unit_files.files())}.")
    units = units or ()
    if units:
        chosen.setdefault("model", unit_files.SHAPE)
    for group, name in chosen.items():
        if folders.file(group, str(name)) is None:
            raise folders.unknown(group, str(name), folders.files(group))
    if units and (called := unit_files.called(str(chosen["model"]), units)) and folders.file("model", called):
        chosen["model"], units = called, ()
    groups = tuple(f"{group}={name}" for group, name in sorted(chosen.items()))
    config = config_groups.with_units(groups, units).copy()
    _refuse_both(config, typed)
    for penalty, told in config_groups.undecided(groups, units).items():
        if not any(f"{key}.".startswith(f"model.penalties.{penalty}.") for key, _ in pairs):
            warnings.warn(told, stacklevel=2)
    for key, value in pairs:
        if key not in (*folders.GROUPS, unit_files.GROUP):
            _set(config, _keys_of(groups, units), key, value)
    _refuse_rewritten(config, typed)
    return config


def _refuse_both(config: DictConfig, typed: Sequence[Override]) -> None:
    """Raise UsageError for a value that is that of the budget if nothing else is said, and for which both are said."""
    keys = [override.key_or_group for override in typed]
    for key in keys:
        parent, _, last = key.rpartition(".")
        if (budget := f"budget.{last}") in keys and key != budget:
            level: Any = _selected(config, parent) if parent else config
            if OmegaConf.is_dict(level) and last in level and level._get_node(last)._value() == f"${{{budget}}}":
                raise UsageError(f"{key} takes the place of {budget}, got both; leave one of them out.")


def _refuse_rewritten(config: DictConfig, typed: Sequence[Override]) -> None:
    """Raise UsageError for a text without quotes that was read as something else: 1_1 as 11, true as True."""
    for override in typed:
        line = override.input_line or ""
        for word, read in grammar.rewritten(line):
            if read in _present(config, override.key_or_group):
                quoted = re.sub(rf"(?<![\w.\"']){re.escape(word)}(?![\w.\"'])", grammar.in_quotes(word), line)
                raise UsageError(
                    f"{override.key_or_group} takes texts, and {word} is read as {read}: put it in quotes, as in "
                    f"{shlex.quote(quoted)}."
                )


def _present(config: DictConfig, key: str) -> list[Any]:
    """The value of a key, or those in its list."""
    found = _selected(config, key)
    return list(found) if OmegaConf.is_list(found) else [found]


def _selected(config: DictConfig, key: str) -> Any:
    """The value of a key; None for a reference that leads nowhere, which is told elsewhere unless it is replaced."""
    try:
        return OmegaConf.select(config, key, throw_on_missing=False)
    except (OmegaConfBaseException, RecursionError):
        return None


@functools.cache
def _keys_of(groups: tuple[str, ...], units: tuple[str, ...]) -> list[str]:
    """All keys of a composed configuration."""
    return list(_keys(config_groups.with_units(groups, units)))


def _set(config: DictConfig, keys: Sequence[str], key: str, value: Any) -> None:
    if key not in keys:
        raise _unknown_key(key, keys)
    if key == "model.of":
        raise UsageError("model.of tells the units of a model and cannot be set; choose them with unit=...")
    if key.endswith((".name", ".kind")):
        raise UsageError(f"{key} names a configuration and cannot be set; choose one with {key.split('.')[0]}=...")
    if key in SHOWN:
        raise UsageError(f"{key} is for tables and figures, and stands in the file of the model: change it there.")
    inner = _selected(config, key)
    if OmegaConf.is_dict(inner) and not isinstance(value, dict):
        told = f"{key}.{next(iter(inner), 'NAME')}"
        raise UsageError(
            f"{key} holds {', '.join(map(str, inner)) or 'nothing'}: set one of them, as in {told}={value}."
        )
    if isinstance(inner, bool) and not isinstance(value, bool | None):
        raise UsageError(f"{key} must be true or false, got '{value}'.")
    try:
        if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, dict) for one in value)):
            kind = OmegaConf.get_type(inner) if OmegaConf.is_dict(inner) else None
            empty = OmegaConf.structured(kind) if is_dataclass(kind) else type(value)()
            OmegaConf.update(config, key, empty, merge=False)  # the new value takes the place of the old one
            config.merge_with(functools.reduce(lambda inner, part: {part: inner}, reversed(key.split(".")), value))
        else:
            OmegaConf.update(config, key, value, merge=False)
    except OmegaConfBaseException as error:
        if "is not a ListConfig" in str(error):
            like = list(inner) if OmegaConf.is_list(inner) and len(inner) > 1 else []
            shown = ",".join("null" if one is None else f"{one}" for one in like or [value])
            told = f"{'one as in ' if like else ''}'{key}=[{shown}]'"
            raise UsageError(f"{key} must be a list, got '{value}': write {told}.") from None
        if isinstance(error, ConfigKeyError) and is_dataclass(error.object_type):
            known = [entry.name for entry in fields(cast(Any, error.object_type))]
            raise unknown(f"key of {key}", str(error.key), known) from None
        group, _, last = key.rpartition(".")
        form = schemas.form(OmegaConf.get_type(config, group or None), last)
        raise UsageError(
            f"{key} must be {form}, got '{value}'." if form else f"{key}: {str(error).splitlines()[0]}."
        ) from None


def _unknown_key(key: str, keys: Sequence[str]) -> UsageError:
    """The error for an unknown key. It suggests the nearest with the same last part, or else one of the same level."""
    parent, _, last = key.rpartition(".")
    same = [known for known in keys if known.rpartition(".")[2] == last]
    if same:
        near = difflib.get_close_matches(parent, [known.rpartition(".")[0] for known in same], n=1, cutoff=0)
        return UsageError(f"unknown key '{key}'; did you mean '{'.'.join([*filter(None, near), last])}'?")
    level = [known for known in keys if known.rpartition(".")[0] == parent]
    return unknown("key", key, level or [known for known in keys if "." not in known])


def _keys(config: Any, prefix: str = "") -> Iterator[str]:
    """All keys of a configuration, dotted, branches included."""
    if OmegaConf.is_dict(config):
        for key in config:
            yield f"{prefix}{key}"
            if not OmegaConf.is_missing(config, key) and not OmegaConf.is_interpolation(config, key):
                yield from _keys(config[key], f"{prefix}{key}.")


def refuse_resolvers(config: DictConfig) -> None:
    """Raise UsageError for a value that depends on when and where it is read."""
    raw: Any = OmegaConf.to_container(config, resolve=False)
    for value in _leaves({group: raw[group] for group in ("task", "model", "recipe", "seeds", "first_seed")}):
        if isinstance(value, str) and RESOLVER.search(value):
            raise UsageError(
                f"a configuration must hold its values itself, and one asks for {value!r:.60}; set the value."
            )


def _leaves(value: Any) -> Iterator[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if inner is None:
        yield value
    else:
        for one in inner:
            yield from _leaves(one)
