"""The addresses of all committed cells: no change of the code may change one."""

import json
from typing import Any

import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.store.reader import Store
from nalu_bench.verify.folder import targets
from tests.plan.freeze import frozen, planned

LARGE = 100
"""Experiments with more cells take seconds each, and are slow tests."""


def by_size(name: str, cells: dict[str, str]) -> Any:
    return pytest.param(name, marks=pytest.mark.slow if len(cells) > LARGE else [])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The committed runs and no others; it reads them all once."""
    return Store(tmp_path_factory.mktemp("store"), paths.CHECKOUT / "results")


@pytest.mark.parametrize("name", [by_size(*each) for each in frozen().items()])
def test_cells_keep_their_digests_and_committed_runs_count_as_done(name: str, store: Store) -> None:
    plan = planned(name)
    assert {f"{want.role} {want.label()}": want.cell.digest for want in plan.cells} == frozen()[name]
    reported = pd.read_csv(paths.CHECKOUT / "results" / name / "runs.csv").groupby("cell")["seed"]
    wanted = {want.cell.digest: want for want in plan.cells}
    for digest, seeds in reported:
        assert set(seeds) <= store.finished_seeds(wanted[str(digest)].cell) & set(wanted[str(digest)].seeds)


def test_every_committed_cell_is_frozen() -> None:
    committed = {
        digest
        for folder in targets([], paths.CHECKOUT / "results").values()
        for digest in json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["cells"]
    }
    assert committed == {digest for cells in frozen().values() for digest in cells.values()}
