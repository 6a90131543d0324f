"""The numbers of a training step: their intervals, and the kernel compared with tensor operations."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nalu_bench.training.random import streams
from nalu_bench.training.random.draws import coefficients, numba_draw, spread, tensor_draw

INTERVALS = [[[0, 0.5], [0.5, 1]], [[1, 1.5], [1.5, 2]], [[-6, -2], [2, 6]], [[-6, -2], [2, 3]]]


def lines(intervals: Any) -> Tensor:
    return coefficients(np.array(intervals, np.float32))


def test_by_default_numbers_are_the_uniform_ones() -> None:
    u = torch.rand(1000, generator=torch.Generator().manual_seed(0))
    assert torch.equal(spread(u, lines([[0, 0.5], [0.5, 1]])), u)


@pytest.mark.parametrize(("low", "high"), [(1, 2), (2, 6), (-2, 2), (-20, -15)])
def test_the_halves_of_one_interval_are_spread_evenly(low: float, high: float) -> None:
    u = torch.rand(1000, generator=torch.Generator().manual_seed(0))
    x = spread(u, lines([[low, (low + high) / 2], [(low + high) / 2, high]]))
    torch.testing.assert_close(x, low + (high - low) * u, rtol=1e-6, atol=1e-6)


def test_two_intervals_are_chosen_with_equal_probability_and_numbers_stay_inside() -> None:
    x = spread(torch.arange(8000) / 8000, lines([[-6, -2], [2, 3]]))
    below, above = x[x < 0], x[x > 0]
    assert len(below) == len(above) == 4000
    for part, low, high in ((below, -6, -2), (above, 2, 3)):
        assert low <= part.min() < low + 0.002
        assert high - 0.002 < part.max() < high
        assert part.mean().item() == pytest.approx((low + high) / 2, abs=0.002)


@pytest.mark.parametrize(
    "intervals",
    [*INTERVALS, [[0.1, 0.15], [0.15, 0.2]], [[1.1, 1.15], [1.15, 1.2]], [[-6, -4], [-4, -2]], [[-2, 0], [0, 2]]],
)
def test_numbers_leave_their_range_by_no_more_than_two_roundings(intervals: Any) -> None:
    u = torch.tensor([0, 2.0**-24, 0.5 - 2.0**-24, 0.5, 1 - 2.0**-24])
    x, ends = spread(u, lines(intervals)), torch.tensor(intervals)
    infinity = torch.tensor(torch.inf)
    assert (x >= torch.nextafter(torch.nextafter(ends.min(), -infinity), -infinity)).all()
    assert (x <= torch.nextafter(torch.nextafter(ends.max(), infinity), infinity)).all()


@pytest.mark.parametrize("intervals", INTERVALS)
@pytest.mark.parametrize("shape", [(100, 128), (4, 128), (5, 999), (1, 7)])
def test_the_kernel_gives_the_bits_of_the_tensors(intervals: Any, shape: tuple[int, int]) -> None:
    keys = streams.stream_keys("data", [0, 1, 10_000])
    kernel, tensors = numba_draw(keys, shape, lines(intervals)), tensor_draw(shape)
    for step in (0, 1, 4_999_999):
        assert torch.equal(kernel(step), tensors(keys, lines(intervals), torch.tensor(step)))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU")
def test_a_gpu_draws_the_same_numbers() -> None:
    keys, uniform = streams.stream_keys("data", [0, 1]), lines(INTERVALS[0])
    on_gpu = tensor_draw((100, 128))(keys.cuda(), uniform.cuda(), torch.tensor(7, device="cuda"))
    assert torch.equal(numba_draw(keys, (100, 128), uniform)(7), on_gpu.cpu())
