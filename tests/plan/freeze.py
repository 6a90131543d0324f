"""Add the cells of newly committed results to frozen_cells.csv: python -m tests.plan.freeze PAPER/ARTIFACT ..."""

import csv
import sys
from pathlib import Path

from nalu_bench import paths
from nalu_bench.analysis import results
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


def planned(name: str) -> compose.Plan:
    """The cells of an experiment in the budget that its committed results have."""
    chosen = experiment.load(name)
    return compose.plan_experiment(chosen, [f"budget={results.default_budget(chosen, paths.CHECKOUT / 'results')}"])


def freeze(names: list[str]) -> None:
    """Add a line for each new cell; raises SystemExit if the address of an older one differs."""
    cells = frozen()
    with FROZEN.open("a", encoding="utf-8", newline="") as stream:
        for name in names:
            for want in planned(name).cells:
                label, digest = f"{want.role} {want.label()}", want.cell.digest
                if cells.get(name, {}).get(label, digest) != digest:
                    raise SystemExit(f"{label} of {name} must keep its address {cells[name][label]}, has {digest}.")
                if label not in cells.get(name, {}):
                    csv.writer(stream, lineterminator="\n").writerow([name, label, digest])


if __name__ == "__main__":
    freeze(sys.argv[1:])
