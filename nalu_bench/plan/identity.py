"""Configurations as canonical JSON; its hash is a cell's address."""

import hashlib
import json
from dataclasses import fields, is_dataclass
from typing import Any


def plain(config: Any) -> Any:
    """Convert dataclasses to dictionaries.

    Two kinds of fields are left out: those at the value that holds for runs from before the field existed
    (`metadata={"before": value}`), and those that change no number, such as a label or the path of a file
    (`metadata={"identity": False}`).
    """
    if is_dataclass(config) and not isinstance(config, type):
        return {
            field.name: plain(getattr(config, field.name))
            for field in fields(config)
            if field.metadata.get("identity", True)
            and ("before" not in field.metadata or getattr(config, field.name) != field.metadata["before"])
        }
    if isinstance(config, dict):
        return {key: plain(value) for key, value in config.items()}
    return [plain(value) for value in config] if isinstance(config, list | tuple) else config


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces; integers and floats of equal value are one.

    >>> canonical({"b": 1.0, "a": [1, 0.25]})
    '{"a":[1,0.25],"b":1}'
    """

    def unify(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: unify(entry) for key, entry in item.items()}
        if isinstance(item, list):
            return [unify(entry) for entry in item]
        return int(item) if isinstance(item, float) and item.is_integer() else item

    return json.dumps(unify(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def address(identity: Any) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of an identity as canonical JSON."""
    return hashlib.sha256(canonical(identity).encode()).hexdigest()[:16]
