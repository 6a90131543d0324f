"""The runs of Schlör, Ring & Hotho 2020, made again seed by seed: the loop of their code with Adam in place of RMSprop.

Data, first weights and the weights of every reinitialisation come from NumPy's generator with the seed of the run, in
the order of `nalu_syn_simple_arith.py`, https://github.com/daschloer/inalu. Units are the iNALUs, with one output.
Letters: I inputs, B examples. Parameters stand in one vector: Ŵ, M̂ (I each), those of the other path if weights are
separate, G.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from scipy.stats import truncnorm

EXAMPLES, BATCH, EPOCHS = 64_000, 64, 100
SEEDS = range(100, 110)
RATE, BETA1, BETA2, EPSILON = 0.001, 0.9, 0.999, 1e-8
"""The defaults of `tf.train.AdamOptimizer`. Their published code has RMSprop with a rate of 0.01."""

MOST_DRAWS = 10
"""Of weights: a network may start anew in epochs 10, 20, ..., 90."""

OPERATIONS = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


@dataclass(frozen=True)
class Outcome:
    """The end of a run: how often it was reinitialised, and the mean squared errors inside and outside."""

    reinitialised: int
    validation: float
    extrapolation: float


def made_again(
    operation: str, inside: list[Any], outside: list[Any], seed: int, inputs: int, separate: bool
) -> Outcome:
    """One run, of 100 epochs, on the first two of some inputs; ranges as in `task.interpolation`."""
    generator = np.random.RandomState(seed)
    x = [sample(generator, split, inputs) for split in (inside, inside, outside)]
    t = [OPERATIONS[operation](*split[:, :2].T) for split in x]
    layers = [generator.normal(mean, 0.1, inputs) for mean in (1, -1) * (1 + separate)]
    first = np.concatenate([*layers, generator.normal(0, 0.1, 1)]).astype(np.float32)
    draws = np.stack([generator.uniform(-2, 2, len(first)) for _ in range(MOST_DRAWS)]).astype(np.float32)
    training, *tests = [(a.astype(np.float32), b.astype(np.float32)) for a, b in zip(x, t, strict=True)]
    parameters, count = _trained(*training, first, draws, separate)
    errors = (_step(*split, parameters, separate, np.empty(len(first))) for split in tests)
    return Outcome(count, *map(float, errors))


def sample(generator: np.random.RandomState, distribution: list[Any], inputs: int) -> np.ndarray:
    """The inputs of a split, (examples, inputs)."""
    kind, *numbers = distribution
    size = EXAMPLES * inputs
    if kind == "exponential":
        x = generator.exponential(numbers[0], size)
    elif kind == "uniform":
        x = generator.uniform(*numbers, size)
    else:
        low, high = numbers
        x = truncnorm.rvs(-3, 3, (low + high) / 2, (high - low) / 6, size, random_state=generator)
    generator.shuffle(x)
    return np.asarray(x).reshape(EXAMPLES, inputs)


@njit
def _sigmoid(value: float) -> float:
    return 1 / (1 + np.exp(-value))


@njit
def _step(x: np.ndarray, t: np.ndarray, raw: np.ndarray, separate: bool, slope: np.ndarray) -> float:
    """The mean squared error of a batch; its gradient is written into `slope`."""
    count, inputs = x.shape
    other = 2 * inputs if separate else 0  # where the raw weights of the product begin
    g, W, W_mul = _sigmoid(raw[-1]), np.empty(inputs, np.float32), np.empty(inputs, np.float32)
    for i in range(inputs):
        W[i] = np.tanh(raw[i]) * _sigmoid(raw[inputs + i])
        W_mul[i] = np.tanh(raw[other + i]) * _sigmoid(raw[other + inputs + i])
    dW, dW_mul, dg, error = np.zeros(inputs, np.float32), np.zeros(inputs, np.float32), np.float32(0), np.float32(0)
    logs, signs = np.empty(inputs, np.float32), np.empty(inputs, np.float32)
    for b in range(count):
        a, exponent, s = np.float32(0), np.float32(0), np.float32(1)
        for i in range(inputs):
            a += x[b, i] * W[i]
            logs[i] = np.log(max(abs(x[b, i]), np.float32(1e-7)))
            exponent += logs[i] * W_mul[i]
            signs[i] = np.sign(x[b, i]) * abs(W_mul[i]) + (np.float32(1) - abs(W_mul[i]))
            s *= signs[i]
        m, clipped = np.exp(min(exponent, np.float32(20))), min(max(s, np.float32(-1)), np.float32(1))
        rest = g * a + (1 - g) * m * clipped - t[b]
        error += rest * rest
        d = 2 * rest / count
        dg += d * (a - m * clipped)
        for i in range(inputs):
            dW[i] += d * g * x[b, i]
            change = m * logs[i] * clipped if exponent <= 20 else 0.0
            if abs(s) <= 1:
                others = np.float32(1)
                for j in range(inputs):
                    others *= signs[j] if j != i else np.float32(1)
                change += m * others * (np.sign(x[b, i]) - 1) * np.sign(W_mul[i])
            dW_mul[i] += d * (1 - g) * change
    slope[:] = 0
    for i in range(inputs):
        for start, part in ((0, dW[i]), (other, dW_mul[i])):
            tanh, sigmoid = np.tanh(raw[start + i]), _sigmoid(raw[start + inputs + i])
            slope[start + i] += part * sigmoid * (1 - tanh * tanh)
            slope[start + inputs + i] += part * tanh * sigmoid * (1 - sigmoid)
    slope[-1] = dg * g * (1 - g)
    return error / count


@njit
def _adam(raw: np.ndarray, slope: np.ndarray, means: np.ndarray, squares: np.ndarray, ks: Any, done: int) -> int:
    """One update of the parameters ks by clipped gradients; returns the number of updates."""
    done += 1
    rate = RATE * np.sqrt(1 - BETA2**done) / (1 - BETA1**done)
    for k in ks:
        clipped = min(max(slope[k], -0.1), 0.1)
        means[k] += (1 - BETA1) * (clipped - means[k])
        squares[k] += (1 - BETA2) * (clipped * clipped - squares[k])
        raw[k] -= rate * means[k] / (np.sqrt(squares[k]) + EPSILON)
    return done


@njit
def _pushed(raw: np.ndarray, inputs: int, slope: np.ndarray) -> None:
    """The gradient of 0.05 Σ mean max(20 - |v|, 0) over Ŵ, M̂ and G."""
    for k in range(len(raw)):
        size = 0.05 / (inputs if k < len(raw) - 1 else 1)
        slope[k] = 0.0 if abs(raw[k]) > 20 else -size if raw[k] >= 0 else size


@njit
def _trained(
    x: np.ndarray, t: np.ndarray, raw: np.ndarray, draws: np.ndarray, separate: bool
) -> tuple[np.ndarray, int]:
    """The parameters after training, and the number of reinitialisations."""
    size, inputs = len(raw), x.shape[1]
    weights, gate, slope = range(size - 1), range(size - 1, size), np.zeros(size)
    means, squares, done, drawn = np.zeros(size), np.zeros(size), 0, 0
    batches = len(x) // BATCH
    losses, kept = np.empty(EPOCHS * batches), 0
    for epoch in range(EPOCHS):
        for batch in range(batches):
            rows = slice(batch * BATCH, (batch + 1) * BATCH)
            loss = _step(x[rows], t[rows], raw, separate, slope)
            done = _adam(raw, slope, means, squares, weights if batch % 10 < 8 else gate, done)
            if epoch > 10 and loss < 1:
                _pushed(raw, inputs, slope)
                done = _adam(raw, slope, means, squares, weights, done)
                loss = _step(x[rows], t[rows], raw, separate, slope)
                _pushed(raw, inputs, slope)
                done = _adam(raw, slope, means, squares, gate, done)
            losses[kept] = loss
            kept += 1
            if kept > 10_000 and epoch % 10 == 0:
                before, after = losses[: kept // 2], losses[kept // 2 : kept]
                if after.mean() > 1 and before.mean() <= after.mean() + after.std():
                    raw[:] = draws[drawn]
                    drawn, kept = drawn + 1, 0
    return raw, drawn
