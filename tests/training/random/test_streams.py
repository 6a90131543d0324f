"""Addressable randomness compared with known answers, big integers and simple statistics."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor

from nalu_bench.training.random import streams
from nalu_bench.training.random.streams import MASK, splitmix64, stream_key, stream_keys, uniforms

GOLDEN = 0x9E3779B97F4A7C15


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def outputs(start: int, gamma: int, count: int, first: int = 0) -> list[int]:
    """Outputs of the tensor operations, as unsigned integers."""
    position = torch.arange(first, first + count)
    z = splitmix64(torch.tensor(signed(start)), torch.tensor(signed(gamma)), position)
    return [value & MASK for value in z.tolist()]


def reference(start: int, gamma: int, count: int, first: int = 0) -> list[int]:
    """The same outputs from Python's integers, step by step."""
    state, found = (start + first * gamma) & MASK, []
    for _ in range(count):
        state = (state + gamma) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        found.append(z ^ (z >> 31))
    return found


def batches(key: tuple[int, int], numbers: range, count: int) -> Tensor:
    return torch.stack([uniforms(torch.tensor(key), torch.tensor(number), count) for number in numbers])


def test_splitmix64_gives_the_known_answers() -> None:
    assert outputs(1234567, GOLDEN, 5) == [
        6457827717110365317, 3203168211198807973, 9817491932198370423,
        4593380528125082431, 16408922859458223821,
    ]  # fmt: skip
    assert outputs(0, GOLDEN, 3) == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


@pytest.mark.parametrize("seed", [0, 1, 24, 10_000])
def test_splitmix64_equals_big_integers_for_any_stream(seed: int) -> None:
    start, gamma = (part & MASK for part in stream_key("data", seed))
    for first in (0, 1, 5_000_000 * 6_400):
        assert outputs(start, gamma, 100, first) == reference(start, gamma, 100, first)
    assert outputs(MASK, 1, 100) == reference(MASK, 1, 100)


@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_a_batch_is_a_slice_of_the_sequence_of_its_stream(count: int) -> None:
    key = stream_key("data", 3)
    half = (count + 1) // 2
    for number in (0, 1, 17):
        z = reference(key[0] & MASK, key[1] & MASK, half, first=number * half)
        bits = [part for value in z for part in (value >> 8 & 0xFFFFFF, value >> 40)]
        batch = uniforms(torch.tensor(key), torch.tensor(number), count)
        assert batch.dtype == torch.float32
        assert batch.tolist() == [value / 2**24 for value in bits[:count]]


def test_uniforms_are_multiples_of_two_to_the_minus_24_below_one() -> None:
    u = batches(stream_key("data", 0), range(100), 1000)
    scaled = u.double() * 2**24
    assert torch.equal(scaled, scaled.round())
    assert 0 <= u.min() < 1e-4
    assert 1 - 1e-4 < u.max() < 1


def test_uniforms_have_the_moments_and_frequencies_of_a_uniform_distribution() -> None:
    u = batches(stream_key("data", 0), range(1, 201), 1000).double().flatten().numpy()
    n = len(u)
    for power in (1, 2, 3, 4):
        error = np.sqrt((1 / (2 * power + 1) - 1 / (power + 1) ** 2) / n)
        assert abs(np.mean(u**power) - 1 / (power + 1)) < 4 * error
    counts = np.bincount((u * 256).astype(int), minlength=256)
    chi_square = np.sum((counts - n / 256) ** 2 / (n / 256))
    assert abs(chi_square - 255) < 4 * np.sqrt(2 * 255)
    distance = np.abs(np.sort(u) - (np.arange(n) + 0.5) / n).max()
    assert distance < 1.95 / np.sqrt(n)  # Kolmogorov-Smirnov at 0.001
    low_bits = np.bincount((u * 2**24).astype(int) & 0xFF, minlength=256)
    assert abs(np.sum((low_bits - n / 256) ** 2 / (n / 256)) - 255) < 4 * np.sqrt(2 * 255)


def test_consecutive_batches_halves_and_seeds_are_not_correlated() -> None:
    u = torch.cat([batches(stream_key("data", seed), range(1, 3), 20_000) for seed in range(3)]).double()
    parts = torch.cat([u[:, :10_000], u[:, 10_000:]])
    assert len(parts.unique(dim=0)) == len(parts)
    correlations = torch.corrcoef(parts) - torch.eye(len(parts), dtype=torch.float64)
    assert correlations.abs().max() < 4.5 / 10_000**0.5
    for lag in (1, 2, 100):
        pair = torch.stack([u[0, :-lag], u[0, lag:]])
        assert torch.corrcoef(pair)[0, 1].abs() < 4 / 20_000**0.5


def test_streams_of_other_purposes_and_seeds_differ_and_their_gammas_are_odd() -> None:
    keys = [stream_key(purpose, seed) for purpose in ("data", "validation", "extrapolation") for seed in range(200)]
    starts, gammas = zip(*keys, strict=True)
    assert len(set(starts)) == len(set(gammas)) == len(keys)
    for gamma in (gamma & MASK for gamma in gammas):
        assert gamma % 2 == 1
        assert (gamma ^ gamma >> 1).bit_count() >= 24


def test_a_stream_is_the_same_on_every_machine() -> None:
    assert stream_key("data", 0) == (4239165678201502359, -4120890077739280905)
    assert streams.digest64("init", 3, "layers.0.W") == 17340340225584100311
    assert streams.digest64("data", 1, "start") != streams.digest64("data", 11, "start")
    generator = streams.torch_generator("init", 3, "layers.0.W")
    assert generator.initial_seed() == streams.digest64("init", 3, "layers.0.W")
    assert generator.device.type == "cpu"
    draws = [streams.numpy_generator("task", seed).integers(1 << 40) for seed in (3, 3, 4)]
    assert draws[0] == draws[1] != draws[2]


def test_an_odd_batch_is_an_even_one_without_its_last_number() -> None:
    odd, even = (batches(stream_key("data", 0), range(3), count) for count in (7, 8))
    assert odd.shape == (3, 7)
    assert torch.equal(odd, even[:, :7])


def test_stacked_streams_equal_single_ones() -> None:
    keys = stream_keys("data", [0, 1, 5])
    together = torch.vmap(lambda key: uniforms(key, torch.tensor(4), 9))(keys)
    alone = [uniforms(torch.tensor(stream_key("data", seed)), torch.tensor(4), 9) for seed in (0, 1, 5)]
    assert torch.equal(together, torch.stack(alone))
    assert all(not torch.equal(one, other) for one, other in pairwise(alone))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU")
def test_a_gpu_draws_the_same_bits() -> None:
    keys = stream_keys("data", [0, 1])
    for key in keys:
        on_cpu, on_gpu = (uniforms(key.to(device), torch.tensor(4, device=device), 999) for device in ("cpu", "cuda"))
        assert torch.equal(on_cpu, on_gpu.cpu())
