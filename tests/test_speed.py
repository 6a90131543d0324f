"""The speed of the engine, as a ratio to a plain loop over one network, with generous slack; never a time."""

from dataclasses import replace
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def test_the_cell_of_every_timed_workload_composes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import measure

    for workload in (*measure.WORKLOADS, measure.TOGETHER, measure.IMAGES, measure.AGENTS):
        assert all(cell.recipe.steps == 20 for cell in workload.cells(20, 10))


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.compiled
def test_a_compiled_block_trains_a_seed_many_times_faster_than_a_plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    import measure

    nmu = measure.WORKLOADS[0]
    plain, compiled = (replace(p, steps=1500, log_every=500) for p in (measure.PLAIN, measure.COMPILED))
    ratio = measure.measure(nmu, plain, 1).microseconds / measure.measure(nmu, compiled, 25).microseconds
    assert ratio > 12  # 55 measured on a quiet core
