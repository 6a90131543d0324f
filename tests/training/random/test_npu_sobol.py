"""The Sobol points of the NPU's paper."""

import numpy as np
import pytest
import torch
from scipy.stats import qmc

from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.plan.cell import Cell
from nalu_bench.training.compilation import Mode
from nalu_bench.training.data import check_data, training_numbers
from nalu_bench.training.random.kind import streams_of
from nalu_bench.training.random.npu_sobol import points

EAGER = Mode("cpu", compiled=False)


def cell(*words: str) -> Cell:
    chosen = ["task=npu_arithmetic", "unit=nau", "recipe=heim2020_code", "recipe.streams=npu_sobol", "budget=smoke"]
    return compose.plan_cells([*chosen, "recipe.batch_size=128", *words], multirun=False).cells[0].cell


def test_any_points_are_those_of_the_sequence() -> None:
    sequence = qmc.Sobol(100, scramble=False).random(2**13).T
    for first, count in ((0, 128), (1, 128), (1000, 100), (3000, 5000)):
        assert np.array_equal(points(first, count, 100), sequence[:, first : first + count])
    late = qmc.Sobol(7, scramble=False).fast_forward(2**20 - 3)
    assert np.array_equal(points(2**20 - 3, 6, 7), late.random(6).T)


def test_batches_follow_each_other_and_are_the_same_for_all_seeds() -> None:
    draw = training_numbers(cell(), [0, 1], EAGER)
    last = draw(3).clone()
    assert torch.equal(draw(1)[0], torch.from_numpy((2 * points(1, 128, 100) - 1).astype(np.float32)))
    assert torch.equal(last[0], last[1])
    assert torch.equal(last[0], torch.from_numpy((2 * points(257, 128, 100) - 1).astype(np.float32)))


def test_validation_begins_as_training_does_and_the_test_goes_downwards_from_the_second_point() -> None:
    streams, one = streams_of(cell()), cell("recipe.evaluation_size=50")
    validation, test = (streams.evaluated(one, split) for split in ("validation", "extrapolation"))
    assert validation[:3, 0].tolist() == [0, 0, 0]
    assert torch.equal(validation.double(), torch.from_numpy(2 * points(1, 50, 100) - 1))
    assert torch.equal(test.double(), torch.from_numpy(2 - 4 * points(2, 50, 100)))


def test_sums_of_a_batch_vary_less_from_batch_to_batch_than_those_of_random_numbers() -> None:
    sums = np.stack([points(128 * step + 1, 128, 100)[:50].sum(0) for step in range(60)])
    random = np.random.default_rng(0).random((60, 50, 128)).sum(1)
    assert sums.mean(1).std() < 0.3 * random.mean(1).std()
    assert sums[1:].std() == pytest.approx((50 / 12) ** 0.5, rel=0.05)


@pytest.mark.parametrize("words", [["task=inalu_arithmetic"], ["task.interpolation=[[-2,-1],[1,2]]"]])
def test_tasks_of_other_numbers_are_refused(words: list[str]) -> None:
    chosen = [*words, "unit=nau", "recipe=heim2020_code", "recipe.streams=npu_sobol", "budget=smoke"]
    chosen += [] if words[0].startswith("task=") else ["task=npu_arithmetic"]
    with pytest.raises(UsageError, match="npu_sobol needs a task of vectors that are uniform on one interval"):
        check_data(compose.plan_cells(chosen, multirun=False).cells[0].cell)
