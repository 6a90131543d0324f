"""Tables that are drawn again spread as a table and our runs do together."""

import numpy as np
import pytest

from nalu_bench.analysis.stats.redrawn import redrawn


@pytest.mark.parametrize(("runs", "count"), [(30, 10), (10, 20)])
def test_means_of_redrawn_tables_have_the_variance_of_both(runs: int, count: int) -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=runs)
    means = x[redrawn(generator, runs, count, 20_000)].mean(axis=1)
    share = 1 / runs + 1 / count - 1 / (runs * count)
    assert means.var() == pytest.approx(x.var() * share, rel=0.05)
