"""The plan of a ranking: an experiment's cells, and the same cells for further units."""

from collections.abc import Sequence
from dataclasses import replace

from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, unit_files
from nalu_bench.plan.experiment import Experiment

VERB = "leaderboard"
"""The command that trains and reports such a plan."""


def plan(chosen: Experiment, arguments: Sequence[str]) -> compose.Plan:
    """The plan of an experiment and of the units among the arguments, as `unit=NAME` or `unit=NAME,OTHER`."""
    units = [text for text in arguments if text.startswith("unit=")]
    for name in [name for text in units for name in text.removeprefix("unit=").strip("[]").split(",")]:
        chosen = with_unit(chosen, name)
    found = compose.plan_experiment(chosen, [text for text in arguments if text not in units])
    return replace(found, overrides=(*units, *found.overrides), verb=VERB)


def with_unit(chosen: Experiment, unit: str) -> Experiment:
    """The experiment with one more unit, on the cells of those that the report names in `like`.

    Raises:
        UsageError for a unit that does not exist, and for one that is ranked already.
    """
    unit_files.load(unit)
    if any(unit in group.grid.get("unit", []) for group in chosen.cells):
        raise UsageError(f"{unit} is ranked already; nalu-bench leaderboard shows it.")
    like = set(chosen.report["like"])
    same = [group for group in chosen.cells if like.intersection(group.grid.get("unit", []))]
    return replace(
        chosen, cells=[*chosen.cells, *(replace(group, grid=group.grid | {"unit": [unit]}) for group in same)]
    )
