"""Names of units, models, tasks and kinds of report, without importing what they name.

A class enters by a decorator with literal arguments::

    @register("nmu", version=1)
    class NMU(Unit): ...

and is found because its file lies in the folder of its kind: nothing else is edited. The decorators are read from
the source text, so that listing names and versions does not cost the import of torch. Other packages add classes
through entry points of the groups `nalu_bench.units`, `nalu_bench.models`, `nalu_bench.tasks` and
`nalu_bench.analysis.summaries`.
"""

import ast
import functools
import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar

from nalu_bench.errors import unknown

Class = TypeVar("Class", bound=type)


def register(name: str, *, version: int) -> Callable[[Class], Class]:
    """Name a class for configurations.

    Args:
        name: what YAML files call it.
        version: a positive integer, raised whenever a change alters the numbers of a run: stored runs of another
            version are then no longer the same cell.
    """

    def mark(cls: Class) -> Class:
        cls.version = version  # type: ignore[attr-defined]
        return cls

    return mark


@dataclass(frozen=True)
class Entry:
    """Where a registered class lives. `version` is None for an entry point until it is loaded."""

    module: str
    attribute: str
    version: int | None

    def load(self) -> Any:
        """Import the module and return the class."""
        return getattr(importlib.import_module(self.module), self.attribute)


class Registry:
    """All classes of one kind: those in a folder of this package and those of installed entry points."""

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self.package = package

    @functools.cached_property
    def entries(self) -> dict[str, Entry]:
        """Name -> entry. Entry points cannot take the name of a class of this package."""
        plugins = {
            point.name: Entry(point.module, point.attr, version=None) for point in entry_points(group=self.package)
        }
        return plugins | dict(self._scan())

    def _scan(self) -> Iterator[tuple[str, Entry]]:
        folder = Path(__file__).parent.joinpath(*self.package.split(".")[1:])
        for path in sorted(folder.glob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    yield from _registrations(node, f"{self.package}.{path.stem}")

    def entry(self, name: str) -> Entry:
        """The entry of `name`; raises UsageError with the nearest name if there is none."""
        if name not in self.entries:
            raise unknown(self.kind, name, self.entries)
        return self.entries[name]

    def load(self, name: str) -> Any:
        """The class called `name`."""
        return self.entry(name).load()

    def version(self, name: str) -> int:
        """The class's version, read without importing it where it is one of this package's."""
        declared = self.entry(name).version
        return int(self.load(name).version if declared is None else declared)


def _registrations(node: ast.ClassDef, module: str) -> Iterator[tuple[str, Entry]]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", None) == "register":
            name = ast.literal_eval(decorator.args[0])
            version = ast.literal_eval(decorator.keywords[0].value)
            yield name, Entry(module, node.name, version)


units = Registry("unit", "nalu_bench.units")
models = Registry("model", "nalu_bench.models")
tasks = Registry("task", "nalu_bench.tasks")
summaries = Registry("kind of report", "nalu_bench.analysis.summaries")
