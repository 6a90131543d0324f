"""Claims on shares of seeds hold or fail by their intervals."""

import numpy as np
import pandas as pd
import pytest
from reported import runs_of

from nalu_bench.analysis.measure.measured import by_cell
from nalu_bench.analysis.reports.rate_claims import RateClaim, claim_rows
from nalu_bench.analysis.stats.intervals import newcombe_interval, wilson_interval
from nalu_bench.analysis.table.line import Printed, Row
from nalu_bench.errors import UsageError

SEEDS = 100


def cell(model: str, solved: int, operation: str = "add", depth: int = 1, diverged: int = 0) -> pd.DataFrame:
    seeds = np.arange(SEEDS)
    return runs_of(
        model, SEEDS, setting=f"depth={depth}", operation=operation, solved=seeds < solved,
        diverged_at=np.where(seeds >= SEEDS - diverged, 5.0, np.nan),
    )  # fmt: skip


CELLS = [
    cell("nalu", 90), cell("nalu", 10, depth=4, diverged=70), cell("nalu", 40, operation="mul"), cell("nac", 95),
    cell("nac", 0, operation="mul"),
]  # fmt: skip


def rows_of(said: RateClaim, *cells: pd.DataFrame) -> list[Row]:
    return claim_rows({"claim": said}, list(by_cell(pd.concat(cells or CELLS))), "extrapolation")


def verdict(row: Row) -> str:
    assert row.compare is not None
    return str(row.compare(Printed("a sentence")).verdict)


def test_a_share_has_wilsons_interval_and_its_claim_a_verdict() -> None:
    (row,) = rows_of(RateClaim(of={"model": "nalu", "depth": "4"}, counted="diverged", at_least=0.5))
    assert row.ours == pytest.approx((0.7, *wilson_interval(70, 100)))
    assert (verdict(row), row.n_seeds) == ("agrees", SEEDS)
    (fails,) = rows_of(RateClaim(of={"model": "nalu", "depth": "4"}, counted="diverged", at_most=0.5))
    assert verdict(fails) == "differs"


def test_a_difference_has_newcombes_interval() -> None:
    of, than = {"model": "nalu", "depth": "4"}, {"model": "nalu", "depth": "1", "operation": "add"}
    (row,) = rows_of(RateClaim(of=of, than=than, at_most=-0.5))
    assert row.ours == pytest.approx((-0.8, *newcombe_interval(10, 100, 90, 100)))
    (apart,) = rows_of(RateClaim(of=of, than=than, apart=True, at_least=0.5))
    low, high = newcombe_interval(10, 100, 90, 100)
    assert apart.ours == pytest.approx((0.8, -high, -low))
    assert (verdict(row), verdict(apart)) == ("agrees", "agrees")


@pytest.mark.parametrize(("other", "at_most", "found"), [(11, -0.5, "inconclusive"), (60, -0.5, "differs")])
def test_a_difference_that_no_outcome_could_make_as_large_decides_nothing(
    other: int, at_most: float, found: str
) -> None:
    said = RateClaim(of={"model": "nalu"}, than={"model": "nac"}, at_most=at_most)
    (row,) = rows_of(said, cell("nalu", other - 10), cell("nac", other))
    assert verdict(row) == found
    assert row.compare is not None
    notes = row.compare(Printed("a sentence")).notes
    assert any("is 11 %, from which no difference is as large" in note for note in notes) == (found == "inconclusive")


def test_a_difference_without_a_sign_reaches_down_to_0() -> None:
    (row,) = rows_of(RateClaim(of={"model": "nalu"}, than={"model": "nac"}, apart=True, at_least=0.2),
                    cell("nalu", 50), cell("nac", 53))  # fmt: skip
    assert row.ours.low == 0
    assert verdict(row) == "differs"


def test_every_value_of_a_word_is_a_test_of_its_own_and_cells_are_taken_together() -> None:
    said = RateClaim(of={"model": "nalu", "depth": "1"}, than={"model": "nac"}, each="operation", at_least=0)
    rows = rows_of(said)
    assert [(row.place.operation, round(row.ours.value, 2)) for row in rows] == [("add", -0.05), ("mul", 0.4)]
    (together,) = rows_of(RateClaim(of={"model": "nalu", "depth": "1"}, at_least=0))
    assert together.ours.value == 0.65


def test_a_claim_without_runs_is_not_compared() -> None:
    (row,) = rows_of(RateClaim(of={"model": "nmu"}, at_least=0.5))
    assert verdict(row) == "not comparable"


def test_a_claim_that_cannot_be_tested_is_refused() -> None:
    with pytest.raises(UsageError, match="must say of which cells"):
        RateClaim(of={}, at_least=0.5).check("signs")
    with pytest.raises(UsageError, match="unknown outcome counted in the claim signs 'lost'"):
        RateClaim(of={"model": "nalu"}, counted="lost", at_least=0.5).check("signs")
    with pytest.raises(UsageError, match="at_least or at_most"):
        RateClaim(of={"model": "nalu"}).check("signs")
