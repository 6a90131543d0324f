"""The usual way to train one network with torch, as the baseline of the engine.

python benchmarks/plain.py nmu
"""

import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from nalu_bench.units import NALU, NAU, NMU

Batch = Callable[[int, float, float], tuple[Tensor, Tensor]]


def arithmetic_batch(size: int, low: float, high: float) -> tuple[Tensor, Tensor]:
    """100 inputs, t = a · b for two overlapping subsets of 25 (Madsen & Johansen 2020, section 4.1)."""
    x = low + (high - low) * torch.rand(size, 100)
    return x, (x[:, 20:45].sum(1) * x[:, 33:58].sum(1)).unsqueeze(1)


def ten_parameter_batch(size: int, low: float, high: float) -> tuple[Tensor, Tensor]:
    """Four inputs, t = (x1 + x2)(x1 + x2 + x3 + x4) (Madsen & Johansen 2020, Table 1)."""
    x = low + (high - low) * torch.rand(size, 4)
    return x, (x[:, :2].sum(1) * x.sum(1)).unsqueeze(1)


def train(layers: list[nn.Module], batch: Batch, steps: int, log_every: int, logged: Callable[[int], None]) -> None:
    """Train by Adam on fresh batches, with a penalty on a ramp, a clamp after every step, and evaluations."""
    network = nn.Sequential(*layers)
    optimizer = torch.optim.Adam(network.parameters())
    tests = [batch(10_000, 1, 2), batch(10_000, 2, 6)]
    for step in range(1, steps + 1):
        x, t = batch(128, 1, 2)
        loss = nn.functional.mse_loss(network(x), t)
        ramp = 10 * min(max((step - 1 - 1_000_000) / 1_000_000, 0), 1)
        for layer in network:
            for penalty in layer.penalties(x).values():
                loss = loss + ramp * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for layer in network:
                layer.project_()
            if step % log_every == 0:
                for x, t in tests:
                    nn.functional.mse_loss(network(x), t).item()
                logged(step)


WORKLOADS: dict[str, tuple[Callable[[], list[nn.Module]], Batch]] = {
    "nmu": (lambda: [NAU(100, 2), NMU(2, 1)], arithmetic_batch),
    "nalu": (lambda: [NALU(100, 2), NALU(2, 1)], arithmetic_batch),
    "ten_parameter": (lambda: [NAU(4, 2), NMU(2, 1)], ten_parameter_batch),
}


if __name__ == "__main__":
    make, draw = WORKLOADS[sys.argv[1]]
    torch.set_num_threads(1)
    started = time.perf_counter()
    train(make(), draw, 5000, 1000, lambda step: None)
    print(f"{(time.perf_counter() - started) / 5000 * 1e6:.0f} microseconds a step, one seed, one core")
