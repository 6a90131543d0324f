"""The plan of a ranking: an experiment's cells, and the same cells for further units."""

from collections.abc import Sequence
from dataclasses import replace

from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, unit_files
from nalu_bench.plan.experiment import Experiment

VERB = "leaderboard"
"""The command that trains and reports such a plan."""


def plan(chosen: Experiment, arguments: Sequence[str]) -> compose.Plan:
    """The plan of an experiment and of the units among the arguments, as `unit=NAME`."""
    units = [text for text in arguments if text.startswith("unit=")]
    for text in units:
        chosen = with_unit(chosen, text.removeprefix("unit="))
    found = compose.plan_experiment(chosen, [text for text in arguments if text not in units])
    return replace(found, overrides=(*units, *found.overrides), verb=VERB)


def with_unit(chosen: Experiment, unit: str) -> Experiment:
    """The experiment with the same cells for one more unit.

    Raises:
        UsageError for a unit that does not exist, and for one that is ranked already.
    """
    unit_files.load(unit)
    model = unit_files.called("single", [unit])
    if any(model in group.grid.get("model", []) for group in chosen.cells):
        raise UsageError(f"{unit} is ranked already; nalu-bench leaderboard shows it.")
    own = [replace(group, grid=group.grid | {"model": ["single"], "unit": [unit]}) for group in chosen.cells]
    return replace(chosen, cells=[*chosen.cells, *own])
