"""The addresses of all committed cells: no change of the code may change one."""

import csv
import json
from pathlib import Path

import pytest

from nalu_bench import paths
from nalu_bench.analysis.verify import targets
from nalu_bench.plan import compose, experiment

FROZEN = Path(__file__).with_name("frozen_cells.csv")
"""One line a committed cell: experiment, label, digest. Lines are added with new results, and never changed."""


def frozen() -> dict[str, dict[str, str]]:
    """Experiment -> label -> digest."""
    cells: dict[str, dict[str, str]] = {}
    with FROZEN.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            cells.setdefault(row["experiment"], {})[row["label"]] = row["digest"]
    return cells


@pytest.mark.parametrize("name", frozen())
def test_the_cells_of_an_experiment_keep_their_digests(name: str) -> None:
    manifest = json.loads((paths.CHECKOUT / "results" / name / "manifest.json").read_text(encoding="utf-8"))
    plan = compose.plan_experiment(experiment.load(name), [f"budget={manifest['budget']['name']}"])
    assert {f"{want.role} {want.label()}": want.cell.digest for want in plan.cells} == frozen()[name]


def test_every_committed_cell_is_frozen() -> None:
    committed = {
        digest
        for folder in targets([], paths.CHECKOUT / "results").values()
        for digest in json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["cells"]
    }
    assert committed == {digest for cells in frozen().values() for digest in cells.values()}
