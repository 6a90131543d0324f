"""How models and operations are called and drawn, as their own files and classes say: without torch and Hydra.

A model's `label` and `look` are keys of its `conf/model/<name>.yaml`. The labels of operations are a class variable of
the task, `labels`: operation -> label. Whatever says nothing is called by its name.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nalu_bench import paths, registry
from nalu_bench.errors import UsageError


@dataclass(frozen=True)
class Look:
    """Label of a model, and the number of its colour, marker and line style."""

    label: str
    number: int


def of_model(name: str) -> Look:
    """The look of a model; that of one without a file follows from its name."""
    values = _values("model", name)
    number = values.get("look", -1)
    return Look(
        str(values.get("label") or name), number if isinstance(number, int) and number >= 0 else sum(name.encode())
    )


def of_operation(task: str, operation: str) -> str:
    """`a + b` of `add`, in the words of the task that it belongs to."""
    kind = _values("task", task).get("kind")
    labels: Mapping[str, str] = getattr(registry.tasks.load(str(kind)), "labels", {}) if kind else {}
    return labels.get(operation, operation)


def _values(group: str, name: str) -> dict[str, Any]:
    """The keys of a YAML file, shipped or the user's; none where there is no such file."""
    user = paths.user_conf_dir()
    folders = [paths.conf_dir(), *([user] if user else [])]
    path = next((path for folder in folders if (path := folder / group / f"{name}.yaml").is_file()), None)
    return _read(path) if path else {}


@functools.cache
def _read(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{path} must be YAML in UTF-8: {error}.") from None
    return values if isinstance(values, dict) else {}
