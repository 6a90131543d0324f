"""What a report says of the runs that it stands on."""

import pandas as pd
import pytest

from nalu_bench.analysis.measure.measured import seeds_told


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({"a": (30, 30), "b": (3, 3)}, "3 to 30"),
        ({"a": (25, 100), "b": (25, 100)}, "25 of 100"),
        ({"a": (50, 100), "b": (25, 25)}, "25 to 50 of 100"),
        ({}, ""),
    ],
)
def test_seeds_are_told_with_the_number_asked_for_where_a_cell_lacks_some(
    cells: dict[str, tuple[int, int]], told: str
) -> None:
    rows = [("cell", cell, seed, asked) for cell, (found, asked) in cells.items() for seed in range(found)]
    assert seeds_told(pd.DataFrame(rows, columns=["role", "cell", "seed", "asked"])) == told
