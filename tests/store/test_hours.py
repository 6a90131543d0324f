"""Hours of a campaign: what finished blocks have cost, and what missing ones will cost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.store import hours
from nalu_bench.store.reader import Store

MakeCell = Callable[..., Cell]


class Kept(Store):
    """A store with these manifests and nothing else."""

    def __init__(self, root: Path, held: dict[str, list[dict[str, Any]]]) -> None:
        super().__init__(root)
        self.held = held

    def sound_manifests(self, cell: Cell) -> list[dict[str, Any]]:
        return self.held.get(cell.digest, [])


def test_a_cell_has_the_rate_of_finished_blocks_of_its_model_and_inputs_else_the_mean(
    tmp_path: Path, make_cell: MakeCell
) -> None:
    known, same, other = make_cell("nau nmu"), make_cell("nau nmu", learning_rate=0.1), make_cell("nac nac")
    slow = make_cell("nalu nalu")
    store = Kept(tmp_path, {
        known.digest: [{"seeds": "0-24", "seconds": 10.0}, {"seeds": "25-49", "seconds": 20.0}],
        slow.digest: [{"seeds": "0-24", "seconds": 60.0}],
    })  # fmt: skip
    found = hours.rates(store, [known, same, other, slow], 1.0)
    steps = known.recipe.steps
    assert found.of(known) == found.of(same) == pytest.approx(30 / (50 * steps))
    assert found.of(slow) == pytest.approx(60 / (25 * steps))
    assert found.of(other) == found.mean == pytest.approx(90 / (75 * steps))
    assert hours.spent(store, [known, slow]) == 90


def test_where_nothing_is_finished_the_rate_is_assumed_and_whole_blocks_are_left(
    tmp_path: Path, make_cell: MakeCell
) -> None:
    cell = make_cell("nau nmu")
    rates = hours.rates(Store(tmp_path), [cell], 2e-6)
    assert rates.of(cell) == 2e-6
    wanted = [Wanted(cell, tuple(range(30)))]  # two blocks of 25 lanes
    assert hours.left(Store(tmp_path), wanted, rates) == pytest.approx(2 * 25 * cell.recipe.steps * 2e-6)
    assert hours.left(Store(tmp_path), wanted, rates, 10) == pytest.approx(30 * cell.recipe.steps * 2e-6)
    assert hours.spent(Store(tmp_path), [cell]) == 0
