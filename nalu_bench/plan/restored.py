"""A cell from its identity, as a manifest or a `cell.json` holds it.

Nothing in an identity is executed: it names registered classes, and its values are checked by their schemas.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from nalu_bench import registry
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.identity import address
from nalu_bench.plan.recipe import Recipe
from nalu_bench.plan.schemas import filled, required

Schema = TypeVar("Schema")


def cell_of(identity: Mapping[str, Any]) -> Cell:
    """The cell that has this identity.

    Raises:
        UsageError if there is none in this version of the program: a class or the data have changed, or a value that
        is no part of the identity, such as the path of a file, is needed.
    """
    try:
        task = _built(registry.tasks.load(identity["task"]["kind"]), identity["task"], "the task")
        model = _built(registry.models.load(identity["model"]["kind"]), identity["model"], "the model")
        cell = Cell(task, model, _built(Recipe, identity["recipe"], "the recipe"))
    except (KeyError, TypeError) as error:
        raise UsageError(f"an identity must hold a task, a model and a recipe: {error!r}.") from None
    cell.validate()
    if cell.digest != address(identity):
        ours, theirs = cell.versions(), identity.get("version", {})
        changed = [f"{name} {theirs.get(name)} (now {ours.get(name)})" for name in sorted({*ours, *theirs})
                   if ours.get(name) != theirs.get(name)]  # fmt: skip
        why = ", ".join(changed) or "its configuration or its data"
        raise UsageError(f"{cell.label()} must be as it was when it was trained, and has changed: {why}.")
    return cell


def _built(schema: type[Schema], values: Mapping[str, Any], where: str) -> Schema:
    """An instance of a schema; keys that are computed from its fields are left out, the hash covers them."""
    entries = fields(schema)  # type: ignore[arg-type]
    known = {entry.name: entry.metadata.get("identity", True) for entry in entries}
    elsewhere = [name for name in required(entries) if not known[name] and name not in values]
    if elsewhere:
        raise UsageError(
            f"{where} must get {', '.join(elsewhere)}, which no identity keeps, as the place of a file; repeat its run "
            "in another NALU_BENCH_HOME, and compare the two."
        )
    return filled(schema, {key: value for key, value in values.items() if key in known}, where)
