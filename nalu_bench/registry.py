"""Names of units, models, tasks, losses, measures and kinds of report; reading a name does not import its class.

A class or a function is registered by a decorator with literal arguments::

    @register("nmu", version=1)
    class NMU(Unit): ...

The registry finds it if its file lies in the folder of its kind, or one folder deeper. No other file needs an edit.
The decorators are read from the source text, so that listing names and versions does not import torch. Other packages
add to a kind through an entry point of its group, such as `nalu_bench.units`.
"""

import ast
import contextlib
import functools
import importlib
import operator
import os
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distribution, distributions
from pathlib import Path
from typing import Any, TypeVar

from nalu_bench.errors import UsageError, named, taken, unknown
from nalu_bench.paths import gone

Registered = TypeVar("Registered", bound=Callable[..., Any])

SENTENCE_END = re.compile(r"(?<!\bal)(?<!\beq)\.\s")
"""A full stop that is not that of `et al.` or `eq.`."""

FORM = '@register("name", version=1), with a literal string and a literal positive integer'


def register(name: str, *, version: int, **facts: Any) -> Callable[[Registered], Registered]:
    """Name a class or a function for configurations.

    Args:
        name: its name in YAML files.
        version: a positive integer. Raise it whenever a change alters the numbers of a run: stored runs of another
            version belong to another cell.
        facts: literals that a plan reads without importing the class, such as a recurrent cell's `states`.
    """

    def mark(registered: Registered) -> Registered:
        registered.registered_name = name  # type: ignore[attr-defined]
        registered.version = version  # type: ignore[attr-defined]
        registered.stated = facts  # type: ignore[attr-defined]
        return registered

    return mark


@dataclass(frozen=True)
class Entry:
    """A registered name, and the place of its class or function.

    Attributes:
        kind: such as `unit`, for messages.
        name: its name in configurations.
        module, attribute: its place in Python; no attribute for an entry point that is not written `module:Class`.
        version, facts: arguments of its decorator; None for an entry point, whose module must be imported to know them.
        documentation: its docstring; empty for an entry point.
    """

    kind: str
    name: str
    module: str
    attribute: str
    version: int | None
    facts: dict[str, Any] | None
    documentation: str = ""

    @property
    def place(self) -> str:
        """Module and attribute as text, for messages."""
        return ":".join(filter(None, (self.module, self.attribute)))

    def about(self) -> str:
        """The first sentence of its documentation, or its place if another package brings it."""
        return SENTENCE_END.split(self.documentation.split("\n\n")[0])[0].rstrip(".") or self.place

    def load(self) -> Any:
        """Import the module and return the class or function.

        Raises:
            UsageError if the module cannot be imported, or if the class itself is not registered under this name and a
            version. A subclass without a decorator would inherit its parent's version.
        """
        if not self.attribute:
            raise UsageError(f"the {self.kind} {self.name} must have an entry point module:Class, got '{self.module}'.")
        try:
            with _undisturbed():
                found = operator.attrgetter(self.attribute)(importlib.import_module(self.module))
            own = vars(found)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # another package's module may raise anything, and end the program: SystemExit
            raise UsageError(
                f"the {self.kind} {self.name} cannot be loaded from {self.place}: {named(error)}."
            ) from error
        if own.get("registered_name") != self.name or not is_version(own.get("version")):
            form = FORM.replace('"name"', f'"{self.name}"')
            raise UsageError(f"the {self.kind} {self.name} at {self.place} must bear {form}.")
        return found


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Give back the current folder and the standard files, which a module of another package may change at import."""
    files = sys.stdin, sys.stdout, sys.stderr
    folder = None if gone() else os.getcwd()
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = files
        if folder is not None and (gone() or os.getcwd() != folder):
            with contextlib.suppress(OSError):  # it may have been removed
                os.chdir(folder)


@dataclass(frozen=True)
class Installed:
    """The entry points of one group.

    Attributes:
        points: those of all installed packages.
        lost: a sentence for each package whose entry points cannot be read; only its own names are lost.
    """

    points: tuple[EntryPoint, ...]
    lost: tuple[str, ...]


def installed(group: str) -> Installed:
    """The entry points of a group. One package's damaged file of them costs no other package."""
    points: list[EntryPoint] = []
    lost = []
    for package in distributions():
        try:
            points += _points(package, group)
        except Exception as error:  # importlib.metadata has no error of its own for them
            why = named(error)
            lost.append(f"The entry points of {_named(package)} cannot be read: {why}; mend it, or uninstall it.")
    return Installed(tuple(dict.fromkeys(points)), tuple(lost))


def _named(package: Distribution) -> str:
    """The name of a package, or the folder that it lies in if its metadata cannot be read."""
    try:
        name = package.metadata["Name"]
    except Exception:  # as for its entry points
        name = None
    return f"the package {name}" if name else f"a package in {package.locate_file('')}"


def _points(package: Distribution, group: str) -> Iterator[EntryPoint]:
    """The entry points of a package, unless another of its name comes first on Python's path."""
    text = package.read_text("entry_points.txt") or ""
    if group in text and distribution(package.name).read_text("entry_points.txt") == text:
        yield from package.entry_points.select(group=group)


def is_version(version: object) -> bool:
    """Whether this is a positive integer, of at most nine digits as JSON and people read them."""
    return type(version) is int and 0 < version < 10**9


class Registry:
    """All registered names of one kind: those in a folder of this package, and those of installed entry points.

    Args:
        kind: such as `unit`, for messages.
        package: dotted name of the folder or of the single file; also the name of the group of entry points.
        others: further folders of this package with such names.
    """

    def __init__(self, kind: str, package: str, *others: str) -> None:
        self.kind = kind
        self.package = package
        self.packages = (package, *others)

    @functools.cached_property
    def entries(self) -> dict[str, Entry]:
        """Entries by name, those of this package first."""
        return {name: found[0] for name, found in self._found.items()}

    @functools.cached_property
    def _found(self) -> dict[str, list[Entry]]:
        """Name -> every entry that has it; `entry` refuses a name with several."""
        found: dict[str, list[Entry]] = {}
        shipped = [entry for package in self.packages for entry in self._shipped(package)]
        for entry in (*shipped, *self._installed()):
            same = found.setdefault(entry.name, [])
            if entry.place not in [one.place for one in same]:
                same.append(entry)
        return found

    def _shipped(self, package: str) -> Iterator[Entry]:
        place = Path(__file__).parent.joinpath(*package.split(".")[1:])
        file = place.with_suffix(".py")
        for path in [file] if file.exists() else sorted([*place.glob("*.py"), *place.glob("*/*.py")]):
            inner = path.relative_to(place).with_suffix("").parts if path != file else ()
            module = ".".join([package, *inner])
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef | ast.FunctionDef):
                    yield from self._registrations(node, module)

    def _installed(self) -> Iterator[Entry]:
        for point in installed(self.package).points:
            try:
                place = point.module, point.attr or ""
            except AttributeError:  # of another form
                place = point.value, ""
            yield Entry(self.kind, point.name, *place, version=None, facts=None)

    def _registrations(self, node: ast.ClassDef | ast.FunctionDef, module: str) -> Iterator[Entry]:
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if getattr(called, "id", getattr(called, "attr", None)) != "register":
                continue
            try:
                assert isinstance(decorator, ast.Call)
                given = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in decorator.keywords}
                given |= dict(zip(("name",), map(ast.literal_eval, decorator.args), strict=False))
                name, version = str(given.pop("name")), given.pop("version")
                assert is_version(version)
            except (AssertionError, KeyError, ValueError, TypeError):
                raise UsageError(f"{module}:{node.name} must be registered by {FORM}.") from None
            yield Entry(self.kind, name, module, node.name, version, given, ast.get_docstring(node) or "")

    def entry(self, name: str) -> Entry:
        """The entry of `name`; raises UsageError for an unknown name, and for a name that is taken twice."""
        if name not in self.entries:
            raise UsageError(" ".join([str(unknown(self.kind, name, self.entries)), *installed(self.package).lost]))
        found = self._found.get(name, [])
        if len(found) > 1:
            raise taken(self.kind, name, found[0].place, " and ".join(entry.place for entry in found[1:]))
        return self.entries[name]

    def load(self, name: str) -> Any:
        """The class or function called `name`."""
        return self.entry(name).load()

    def version(self, name: str) -> int:
        """The version of `name`; a class of this package is not imported for it."""
        declared = self.entry(name).version
        return int(self.load(name).version if declared is None else declared)

    def fact(self, name: str, fact: str, default: Any) -> Any:
        """A fact that the decorator of `name` states, or `default`."""
        stated = self.entry(name).facts
        return (self.load(name).stated if stated is None else stated).get(fact, default)


units = Registry("unit", "nalu_bench.units")
models = Registry("model", "nalu_bench.models")
tasks = Registry("task", "nalu_bench.tasks")
datasets = Registry("dataset of images", "nalu_bench.datasets")
losses = Registry("loss", "nalu_bench.losses")
measures = Registry("measure", "nalu_bench.measures")
reports = Registry("kind of report", "nalu_bench.analysis.reports", "nalu_bench.papers")
optimizers = Registry("optimizer", "nalu_bench.training.optimizers")
loggers = Registry("logger", "nalu_bench.running.loggers")
schedules = Registry("schedule", "nalu_bench.training.schedules")
updates = Registry("update rule", "nalu_bench.training.updates")
clippings = Registry("clipping", "nalu_bench.training.clippings")
restarts = Registry("restart rule", "nalu_bench.training.restart")
kernels = Registry("kind of kernels", "nalu_bench.training.kernels")
streams = Registry("kind of streams", "nalu_bench.training.random")

LISTED = {
    "dataset": datasets, "loss": losses, "measure": measures, "report": reports, "optimizer": optimizers,
    "schedule": schedules, "clipping": clippings, "updates": updates, "restart": restarts, "kernels": kernels,
    "streams": streams, "logger": loggers,
}  # fmt: skip
"""Word of `nalu-bench list` -> names that are values in YAML, and have no file of their own."""
