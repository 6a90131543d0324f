"""Labels and drawing styles of models and operations, from their own files and classes, without torch and Hydra.

A model's `label` and `look` are keys of its `conf/model/<name>.yaml`. The labels of operations are a class variable of
the task, `labels`: operation -> label. A model or an operation without a label is shown by its name.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nalu_bench import registry
from nalu_bench.errors import UsageError
from nalu_bench.plan import folders


@dataclass(frozen=True)
class Look:
    """Label of a model, and the number of its colour, marker and line style."""

    label: str
    number: int


def of_model(name: str) -> Look:
    """The look of a model. If its file gives no number, the number is computed from its name."""
    values = _values("model", name)
    number = values.get("look", -1)
    return Look(
        str(values.get("label") or name), number if isinstance(number, int) and number >= 0 else sum(name.encode())
    )


def of_operation(task: str, operation: str) -> str:
    """The task's label of an operation, such as `a + b` for `add`."""
    kind = _values("task", task).get("kind")
    labels: Mapping[str, str] = getattr(registry.tasks.load(str(kind)), "labels", {}) if kind else {}
    return labels.get(operation, operation)


def _values(group: str, name: str) -> dict[str, Any]:
    """The keys and values of a YAML file in any folder of configurations; empty if there is no such file."""
    files = (folder / group / f"{name}.yaml" for folder in folders.of_configurations())
    path = next((path for path in files if path.is_file()), None)
    return _read(path) if path else {}


@functools.cache
def _read(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"{path} must be YAML in UTF-8: {error}.") from None
    return values if isinstance(values, dict) else {}
