"""What a row of `runs` says because it was asked for, whatever its run gave."""

from typing import Any

from nalu_bench.plan.cell import Wanted

OWN = ("role", "setting", "operation")
"""The columns that the experiment decides, as `asked`; earlier rows may come from another one."""


def row_words(want: Wanted) -> dict[str, Any]:
    """The columns of `runs` that are the same in every run of a cell."""
    cell = want.cell
    return {
        "role": want.role, "task": cell.task.name, "setting": str(want.words()),
        "operation": want.setting().get("operation", ""),
        "model": cell.model.name, "cell": cell.digest, "steps": cell.recipe.steps, "log_every": cell.recipe.log_every,
        "asked": len(want.seeds),
    }  # fmt: skip
