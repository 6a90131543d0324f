"""The usual way to train one network with torch, as the baseline of the engine.

python benchmarks/plain.py nmu
"""

import sys
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn

from nalu_bench.units import NAC, NALU, NAU, NMU

Batch = Callable[[int, float, float], tuple[Tensor, Tensor]]
Logged = Callable[[int], None]


def arithmetic_batch(size: int, low: float, high: float) -> tuple[Tensor, Tensor]:
    """100 inputs, t = a · b for two overlapping subsets of 25 (Madsen & Johansen 2020, section 4.1)."""
    x = low + (high - low) * torch.rand(size, 100)
    return x, (x[:, 20:45].sum(1) * x[:, 33:58].sum(1)).unsqueeze(1)


def ten_parameter_batch(size: int, low: float, high: float) -> tuple[Tensor, Tensor]:
    """Four inputs, t = (x1 + x2)(x1 + x2 + x3 + x4) (Madsen & Johansen 2020, Table 1)."""
    x = low + (high - low) * torch.rand(size, 4)
    return x, (x[:, :2].sum(1) * x.sum(1)).unsqueeze(1)


def train(layers: list[nn.Module], batch: Batch, steps: int, log_every: int, logged: Logged) -> None:
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


class Series(nn.Module):
    """The CNN of pytorch/examples on every image, then a NAC on its output and its own."""

    def __init__(self) -> None:
        super().__init__()
        self.images = nn.Sequential(
            nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 1),
        )  # fmt: skip
        self.cell = NAC(2, 1)

    def forward(self, x: Tensor) -> Tensor:
        z = self.images(x.flatten(0, 1)).view(*x.shape[:2], 1)
        h = torch.zeros(len(x), 1)
        for step in range(x.shape[1]):
            h = self.cell(torch.cat([z[:, step], h], dim=-1))
        return h


def train_images(steps: int, log_every: int, logged: Logged) -> None:
    """Train on the sums of series of ten images, 64 at a time, made of noise: only the time matters."""
    network = Series()
    optimizer = torch.optim.Adam(network.parameters())
    x, t = torch.rand(64, 10, 1, 28, 28), torch.rand(64, 1)
    for step in range(1, steps + 1):
        loss = nn.functional.mse_loss(network(x), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % log_every == 0:
            with torch.no_grad():
                nn.functional.mse_loss(network(x), t).item()
            logged(step)


WORKLOADS: dict[str, Callable[[int, int, Logged], None]] = {
    "nmu": lambda *given: train([NAU(100, 2), NMU(2, 1)], arithmetic_batch, *given),
    "nalu": lambda *given: train([NALU(100, 2), NALU(2, 1)], arithmetic_batch, *given),
    "ten_parameter": lambda *given: train([NAU(4, 2), NMU(2, 1)], ten_parameter_batch, *given),
    "images": train_images,
}


if __name__ == "__main__":
    torch.set_num_threads(1)
    started = time.perf_counter()
    WORKLOADS[sys.argv[1]](5000, 1000, lambda step: None)
    print(f"{(time.perf_counter() - started) / 5000 * 1e6:.0f} microseconds a step, one seed, one core")
