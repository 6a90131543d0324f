"""Labels and drawing styles of models and operations, from their own files and classes, without torch and Hydra.

A model's `label` and `look` are keys of its `conf/model/<name>.yaml`. The labels of operations are a class variable of
the task, `labels`: operation -> label. A model or an operation without a label is shown by its name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nalu_bench import registry
from nalu_bench.errors import UsageError
from nalu_bench.plan import folders
from nalu_bench.plan.unit_files import SHAPE, names_of

UNTOLD = (SHAPE, "single", "")
"""The shapes that a label does not name: the usual one, and one unit alone."""


@dataclass(frozen=True)
class Look:
    """Label of a model, and the number of its colour, marker and line style."""

    label: str
    number: int


def of_model(name: str) -> Look:
    """The look of a model. Where its file gives none, that of its units; where they give no number, one of its name.

    A shape with units, such as `recurrent-nau-linear`, has no file: it has the labels of its units, and its own name
    unless it is among `UNTOLD`.
    """
    values, shape, units = _values("model", name), *_units(name)
    known = [_values("unit", unit) for unit in units]
    labels = dict.fromkeys(str(unit.get("label") or named) for unit, named in zip(known, units, strict=True))
    told = ", ".join(labels) if shape in UNTOLD else f"{', '.join(labels)} ({shape})"
    number = values.get("look", known[-1].get("look", -1) if known else -1)
    label = _printable(str(values.get("label") or (told if units else name)), name)
    return Look(label, number if isinstance(number, int) and number >= 0 else sum(name.encode()))


def _units(name: str) -> tuple[str, list[str]]:
    """The shape and the units of a model without a file; of one with a file the units that it refers to."""
    values = _values("model", name)
    if values:
        return "", names_of(values["of"]) if values.get("of") else []
    shape, *units = name.split("-")
    return (shape, units) if _values("model", shape) else ("", [])


def of_operation(task: str, operation: str) -> str:
    """The task's label of an operation, such as `a + b` for `add`."""
    kind = _values("task", task).get("kind")
    labels: Mapping[str, str] = getattr(registry.tasks.load(str(kind)), "labels", {}) if kind else {}
    return _printable(str(labels.get(operation, operation)), operation)


def _printable(label: str, name: str) -> str:
    """The label; raises UsageError if it is none that a table can show."""
    if not label.isprintable():
        raise UsageError(f"the label of {name} must be one line that can be printed, got {label!r}.")
    return label


def _values(group: str, name: str) -> dict[str, Any]:
    """The keys and values of a YAML file in any folder of configurations; empty if there is no such file."""
    path = folders.file(group, name)
    return folders.values(path) if path else {}
