"""A cell: one model on one task under one recipe, with the address of its runs."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from nalu_bench import registry
from nalu_bench.errors import UsageError, unknown
from nalu_bench.models.model import Model
from nalu_bench.plan import limits
from nalu_bench.plan.identity import address, plain
from nalu_bench.plan.names import check_name
from nalu_bench.plan.recipe import Recipe
from nalu_bench.plan.setting import Setting
from nalu_bench.tasks.task import Task

TRAINER_VERSION = 2
"""Raised whenever a change of `training` alters the numbers of a run."""


@dataclass(frozen=True)
class Cell:
    """One model on one task under one recipe; its runs differ by their seed alone."""

    task: Task
    model: Model
    recipe: Recipe

    def validate(self) -> None:
        """Raise UsageError if the values of the cell cannot go together."""
        for part in (self.task, self.model, self.recipe):
            check_name(part.name)
        for name in ("task", "model", "recipe"):
            limits.check(name, getattr(self, name))
        self.task.validate()
        self.model.validate()
        self.recipe.validate()
        for key, loss in self.recipe.losses().items():
            least = registry.losses.fact(loss, "outputs", 1)
            if self.task.output_size < least:
                raise UsageError(
                    f"recipe.{key}={loss} must get {least} outputs or more, and task={self.task.name} asks for "
                    f"{self.task.output_size}; choose another loss."
                )

    def skip(self) -> str | None:
        """Why the model cannot do the task, or None if it can."""
        return self.model.skip(self.task)

    def unread_with(self, key: str) -> str:
        """The setting with which a value of the recipe has no effect, such as `recipe.clipping=none`; else empty."""
        if key == "evaluation_size" and self.task.evaluates_rows:
            return f"task={self.task.name}, whose rows are evaluated whole"
        if key in ("loss", "first_loss") and not self.task.reads_loss:
            return f"task={self.task.name}, which has an objective of its own"
        if key == "ramp_scale" and not self.model.penalties and self.recipe.unread_with("first_steps"):
            return f"model={self.model.name}, which has no penalties"
        return self.recipe.unread_with(key)

    def identity(self) -> dict[str, Any]:
        """All that can change the numbers of a run: the resolved values and the versions of the code behind them.

        A field added to a schema later carries `metadata={"before": value}`. It is left out at that value, so that
        older runs keep their address.
        """
        data = self.task.fingerprint()
        return {
            "task": plain(self.task),
            "model": plain(self.model) | self.model.derived(),
            "recipe": plain(self.recipe),
            "version": self.versions(),
            **({"data": data} if data else {}),
        }

    def versions(self) -> dict[str, int]:
        """The version of every registered class involved, and of the trainer.

        The versions of a recipe's functions and rules and of a task's measures were added later. They are left out at
        1, so that older runs keep their address.
        """
        used = {f"unit.{name}": registry.units.version(name) for name in self.model.units()}
        younger = [*self.recipe.chosen(), *((registry.measures, measure.function) for measure in self.task.measures)]
        later = {f"{kind.kind}.{name}": kind.version(name) for kind, name in younger}
        return used | {
            f"task.{self.task.kind}": registry.tasks.version(self.task.kind),
            f"model.{self.model.kind}": registry.models.version(self.model.kind),
            "trainer": TRAINER_VERSION,
            **{name: version for name, version in later.items() if version != 1},
        }

    @functools.cached_property
    def digest(self) -> str:
        """The hash of the identity, see `identity.address`."""
        return address(self.identity())

    @property
    def folder(self) -> Path:
        """The folder of its runs, relative to the run store."""
        return Path(self.task.name, self.model.name, self.digest)

    def value(self, key: str) -> Any:
        """The value at a dotted key such as `model.hidden_size`; raises UsageError if there is no such key."""
        found: Any = self
        for part in key.split("."):
            known = found if isinstance(found, dict) else _entries(found)
            if part not in known:
                raise unknown(f"part of the key {key}", part, known)
            found = known[part]
        return found

    def label(self, setting: Mapping[str, Any] | None = None) -> str:
        """A short name for progress lines: `arithmetic operation=mul / nmu`; `setting` is the task's by default."""
        words = self.task.setting() if setting is None else setting
        told = " ".join([self.task.name, *(f"{key}={value}" for key, value in words.items())])
        return f"{told} / {self.model.name}"


@dataclass(frozen=True)
class Wanted:
    """A cell and the seeds that were asked for.

    Attributes:
        role: "cell", or another use that an experiment makes of its runs, such as "baseline".
        settings: values that distinguish the cell in its experiment, beside those of its task, such as {"hidden": 4}.
        criterion: name of the criterion by which a run counts as solved, see `criteria.threshold`.
    """

    cell: Cell
    seeds: tuple[int, ...]
    role: str = "cell"
    settings: Mapping[str, Any] = field(default_factory=dict)
    criterion: str = "task"

    def setting(self) -> dict[str, Any]:
        """All values that distinguish the cell: `Task.setting` and the experiment's settings."""
        return {**self.cell.task.setting(), **self.settings}

    def words(self) -> Setting:
        """The setting without the operation, as tables show it."""
        return Setting({key: value for key, value in self.setting().items() if key != "operation"})

    def label(self) -> str:
        """The cell's name among those of its experiment: `arithmetic operation=mul hidden=4 / nmu`."""
        return self.cell.label(self.setting())

    def told(self) -> str:
        """The label, with the role of a cell that others are judged by: an untrained model is named like a trained."""
        return self.label() if self.role == "cell" else f"{self.label()} ({self.role})"


def _entries(config: Any) -> dict[str, Any]:
    """The fields of a dataclass by name; nothing for anything else."""
    return {entry.name: getattr(config, entry.name) for entry in fields(config)} if is_dataclass(config) else {}
