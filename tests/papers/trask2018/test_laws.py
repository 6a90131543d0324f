"""The closed forms behind the choice of a law."""

import csv
import math

import numpy as np
import pytest

from nalu_bench import paths
from tests.papers.trask2018 import laws
from tests.papers.trask2018.laws import BEYOND, NAC, NONE, RANDOM, WITHIN, Law


def test_the_errors_are_those_of_least_squares() -> None:
    law, rng = Law(0.5, 2.0, 1.0), np.random.default_rng(0)
    uniform = {split: rng.random((2, max(laws.LENGTHS), 500)) for split in (WITHIN, BEYOND)}
    sums = {split: [law.sums(one, split) for one in both] for split, both in uniform.items()}
    found = laws._errors("mul", sums, {split: laws._moments(*both) for split, both in sums.items()})
    a, b = sums[WITHIN][0][2], sums[WITHIN][1][4]
    y, x = a * b, np.stack([a, b], axis=1)
    weights, (rest,), *_ = np.linalg.lstsq(x, y, rcond=None)
    assert found[NONE, WITHIN][2, 4] == pytest.approx(rest / len(y))
    beyond = np.stack([sums[BEYOND][0][2], sums[BEYOND][1][4]], axis=1)
    assert found[NONE, BEYOND][2, 4] == pytest.approx(np.mean((beyond.prod(1) - beyond @ weights) ** 2))
    assert found[RANDOM, WITHIN][2, 4] == pytest.approx(np.mean(y**2))
    grid = np.linspace(-2, 2, 401)
    u, v = np.meshgrid(grid, grid)
    loss = np.mean((y[:, None, None] - u * a[:, None, None] - v * b[:, None, None]) ** 2, axis=0)
    assert found[NAC, WITHIN][2, 4] == pytest.approx(loss.min(), rel=1e-3)


def test_extrapolation_begins_where_training_ends() -> None:
    law, u = Law(0.5, 2.0, 0.25), np.array([[[0.0, 0.999]]])[0]
    assert law.sums(np.repeat(u, 25, axis=0), WITHIN)[0] == pytest.approx([0.5, 2.498])
    assert law.sums(np.repeat(u, 25, axis=0), BEYOND)[0] == pytest.approx([2.5, 2.9995])


@pytest.mark.slow
def test_the_chosen_laws_are_those_that_come_nearest() -> None:
    with (paths.experiments_dir() / "trask2018" / "laws.csv").open(encoding="utf-8", newline="") as stream:
        written = [[float(row[key]) for key in ("low", "width", "growth", "factor")] for row in csv.DictReader(stream)]
    fits = laws.ranked(laws.read_printed())[: len(written)]
    assert len(written) == len(fits) == 20
    for (*law, factor), fit in zip(written, fits, strict=True):
        assert law == pytest.approx(fit.law, rel=1e-5), "as written with six digits"
        assert factor == pytest.approx(math.exp(fit.distance), abs=1e-3)
