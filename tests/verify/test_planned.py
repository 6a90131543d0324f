"""A manifest leads back to the plan whose results it describes."""

from typing import Any

import pytest

from nalu_bench.plan import compose, experiment, ranking
from nalu_bench.verify.planned import plan_of


def manifest(name: str, *overrides: str, **budget: Any) -> dict[str, Any]:
    return {"experiment": name, "budget": {"name": "smoke", "overrides": list(overrides), **budget}}


WORDS = ["task.operation=add,mul", "model=nac,nmu", "seeds=3"]


@pytest.mark.parametrize(
    ("held", "planned"),
    [
        (manifest("sweeps/mine", *WORDS), compose.plan_cells(["budget=smoke", *WORDS], True, "mine")),
        (
            manifest("madsen2020/table1", "seeds=2"),
            compose.plan_experiment(experiment.load("madsen2020/table1"), ["budget=smoke", "seeds=2"]),
        ),
    ],
    ids=["sweep", "experiment"],
)
def test_the_plan_of_a_manifest_is_the_one_that_was_made(held: dict[str, Any], planned: compose.Plan) -> None:
    check_again(held, planned)


@pytest.mark.slow
def test_the_plan_of_a_ranking_is_the_one_that_was_made() -> None:
    held = manifest("mistry2022/single_module", "unit=relu", verb="leaderboard")
    check_again(held, ranking.plan(experiment.load("mistry2022/single_module"), ["budget=smoke", "unit=relu"]))


def check_again(held: dict[str, Any], planned: compose.Plan) -> None:
    again = plan_of(held)
    assert [want.cell.digest for want in again.cells] == [want.cell.digest for want in planned.cells]
    assert [want.seeds for want in again.cells] == [want.seeds for want in planned.cells]
    assert (again.experiment.name, again.overrides, again.verb) == (
        planned.experiment.name, planned.overrides, planned.verb,
    )  # fmt: skip
