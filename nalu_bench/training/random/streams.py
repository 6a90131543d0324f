"""Addressable randomness: every number is a pure function of (purpose, seed, position).

Data come from SplitMix64 with a gamma of its own for each stream (Steele, Lea & Flood 2014): output i is

    z_i = mix(start + (i + 1) · gamma)   (mod 2^64)

with `start` and the odd `gamma` hashed from the stream's name, so that the batch of step t is the t-th slice of one
sequence and nothing has to be stored to go on from there. Written in int64 tensor operations, it gives the same bits
on every device. Initial weights and the per-seed constants of a task, drawn once and on the CPU, come from the
generators of torch and NumPy, seeded by the same hash.
"""

import hashlib

import numpy as np
import torch
from torch import Tensor

MASK = (1 << 64) - 1
MIX_1, MIX_2 = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def digest64(*name: str | int) -> int:
    """A 64-bit hash of a name, the same on every machine."""
    text = "/".join(str(part) for part in ("nalu_bench", *name))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def stream_key(purpose: str, seed: int) -> tuple[int, int]:
    """(start, gamma) of a stream, as signed 64-bit integers.

    A gamma must be odd and have enough bit changes, as in Steele et al. 2014, figure 16.
    """
    gamma = digest64(purpose, seed, "gamma") | 1
    if (gamma ^ gamma >> 1).bit_count() < 24:
        gamma ^= 0xAAAAAAAAAAAAAAAA
    return _signed(digest64(purpose, seed, "start")), _signed(gamma)


def stream_keys(purpose: str, seeds: list[int]) -> Tensor:
    """The keys of one stream a seed, (S, 2) int64."""
    return torch.tensor([stream_key(purpose, seed) for seed in seeds], dtype=torch.int64)


def splitmix64(start: Tensor, gamma: Tensor, position: Tensor) -> Tensor:
    """The outputs of SplitMix64 at the given positions (from 0), as int64 bit patterns."""
    z = start + (position + 1) * gamma
    z = (z ^ _shift_right(z, 30)) * _signed(MIX_1)
    z = (z ^ _shift_right(z, 27)) * _signed(MIX_2)
    return z ^ _shift_right(z, 31)


def uniforms(key: Tensor, batch: Tensor, count: int) -> Tensor:
    """The numbers of one batch of one stream: multiples of 2^-24 in [0, 1), float32, shape (count,).

    Every output gives two neighbouring numbers: its bits 8 to 31, then its bits 40 to 63.

    Args:
        key: (2,) start and gamma.
        batch: number of the batch in the stream, such as the training step; a scalar int64 tensor.
        count: numbers in a batch.
    """
    outputs = (count + 1) // 2
    position = batch * outputs + torch.arange(outputs, device=key.device)
    z = splitmix64(key[0], key[1], position)
    bits = torch.stack([_shift_right(z, 8) & 0xFFFFFF, _shift_right(z, 40)], dim=-1)
    return bits.flatten()[:count].to(torch.float32) * 2.0**-24


def torch_generator(purpose: str, seed: int, name: str) -> torch.Generator:
    """A CPU generator for one draw, such as the initial value of one parameter."""
    return torch.Generator().manual_seed(digest64(purpose, seed, name))


def numpy_generator(purpose: str, seed: int) -> np.random.Generator:
    """A generator for the constants of one seed."""
    return np.random.Generator(np.random.PCG64(digest64(purpose, seed)))


def _shift_right(z: Tensor, bits: int) -> Tensor:
    """The logical shift; `>>` on int64 keeps the sign."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def _signed(value: int) -> int:
    value &= MASK
    return value - (1 << 64) if value >> 63 else value
