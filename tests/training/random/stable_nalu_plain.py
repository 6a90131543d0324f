"""The first numbers of stable-nalu's experiments, by torch and NumPy alone: python stable_nalu_plain.py

It prints stable_nalu.txt, which stands beside it. Nothing of nalu_bench is used, so that the two can be compared.
The order of the draws is that of github.com/AndreasMadsen/stable-nalu, experiments/simple_function_static.py.
"""

import math
from typing import Any

import numpy as np
import torch
from scipy.optimize import bisect
from torch.nn.init import uniform_, xavier_uniform_, zeros_

SEEDS = (0, 1, 27)
SHOWN = 4
"""Numbers that are shown of every array."""

Numbers = dict[str, Any]


def nac(inputs: int, outputs: int) -> Numbers:
    """Ŵ, then M̂."""
    fan = max(inputs + outputs, 5)

    def excess(r: float) -> float:
        return fan * (1 - math.tanh(r) / r) * (r - math.tanh(r / 2)) / (2 * r) - 2 if r else -2.0

    r = bisect(excess, 0, 10)
    return {name: uniform_(torch.empty(outputs, inputs), -r, r) for name in ("W_hat", "M_hat")}


def nalu(inputs: int, outputs: int) -> Numbers:
    """The NAC, then the gate."""
    return nac(inputs, outputs) | {"G": xavier_uniform_(torch.empty(outputs, inputs))}


def nau(inputs: int, outputs: int) -> Numbers:
    r = min(0.5, math.sqrt(3.0) * math.sqrt(2.0 / (inputs + outputs)))
    return {"W": uniform_(torch.empty(outputs, inputs), -r, r)}


def nmu(inputs: int, outputs: int) -> Numbers:
    return {"W": uniform_(torch.empty(outputs, inputs), 0.25, 0.75)}


def linear(inputs: int, outputs: int) -> Numbers:
    return {"W": xavier_uniform_(torch.empty(outputs, inputs)), "b": zeros_(torch.empty(outputs))}


NETWORKS = {
    "nac nac_mul": (nac, nac),
    "nalu nalu": (nalu, nalu),
    "nau nmu": (nau, nmu),
    "linear linear": (linear, linear),
}


def weights(layers: Any, inputs: int, seed: int) -> Numbers:
    """The first initial weights of a network with 2 hidden units: it is drawn when it is made, and once more."""
    torch.manual_seed(seed)
    for _ in range(2):
        drawn = [layers[0](inputs, 2), layers[1](2, 1)]
    return {
        f"layers.{number}.{name}": value.flatten().tolist()
        for number, layer in enumerate(drawn)
        for name, value in layer.items()
    }


def batch(generator: Any, low: float, high: float, shape: tuple[int, int], a: slice, b: slice) -> Numbers:
    """The inputs of the last example of a batch, and the targets of three operations from the first example on."""
    x = generator.uniform(low=low, high=high, size=shape)
    sums = x[:, a].sum(axis=1), x[:, b].sum(axis=1)
    return {"inputs": x[-1], "add": sums[0] + sums[1], "sub": sums[0] - sums[1], "mul": sums[0] * sums[1]}


def data(seed: int, inputs: int, low: float, high: float) -> Numbers:
    """The offset of the subsets (none of 4 inputs), two batches of 128, and the examples that are evaluated."""
    generator = np.random.RandomState(seed)
    offset = generator.randint(0, 100 - 38 + 1) if inputs == 100 else 0
    a, b = (slice(offset, offset + 25), slice(offset + 13, offset + 38)) if inputs == 100 else (slice(2), slice(4))
    training = np.random.RandomState(generator.randint(0, 2**32 - 1))
    drawn = {
        "batch 1": batch(training, low, high, (128, inputs), a, b),
        "batch 2": batch(training, low, high, (128, inputs), a, b),
        "validation": batch(np.random.RandomState(43953907), low, high, (10_000, inputs), a, b),
        "extrapolation": batch(np.random.RandomState(8689336), 2, 6, (10_000, inputs), a, b),
    }
    numbers = {f"{split} {name}": value for split, part in drawn.items() for name, value in part.items()}
    return {"offset": [offset]} | numbers


def two_intervals(seed: int) -> Numbers:
    """The last example of a batch of 128 from [-2, -1] or [1, 2], for the ranges of the paper's figures."""
    generator = np.random.RandomState(seed)
    generator.randint(0, 100 - 38 + 1)
    training = np.random.RandomState(generator.randint(0, 2**32 - 1))
    first, second = (training.uniform(low, high, (128, 100)) for low, high in ((-2, -1), (1, 2)))
    return {"batch 1 inputs": np.where(training.randint(2, size=(128, 100)), first, second)[-1]}


def constants() -> str:
    """Everything: one line an array, its first numbers as float32 with the nine digits that tell them apart."""
    lines = []
    for seed in SEEDS:
        parts = {
            f"{name}, {size} inputs": weights(NETWORKS[name], size, seed) for name in NETWORKS for size in (4, 100)
        }
        parts["ten_parameter"] = data(seed, 4, 1, 2)
        parts["arithmetic"] = data(seed, 100, 1, 2)
        parts["arithmetic from 1.1 to 1.2"] = data(seed, 100, 1.1, 1.2)
        parts["arithmetic from two intervals"] = two_intervals(seed)
        for part, arrays in parts.items():
            for name, values in arrays.items():
                shown = " ".join(f"{number:.9g}" for number in np.float32(values[:SHOWN]))
                lines.append(f"seed {seed}; {part}; {name}: {shown}\n")
    return "".join(lines)


if __name__ == "__main__":
    print(constants(), end="")
