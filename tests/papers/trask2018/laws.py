"""Which law of the inputs comes nearest to the raw errors of Table 6? Closed forms, nothing is trained.

The paper does not state the law. Three of the models of Table 6 have errors that follow from the law of the two sums
alone, once they are trained to the end:

    Random init   E[y²], if the output of an untrained network is near 0
    None          the least E[(y - u a - v b)²] over u and v: a linear network without a bias
    NAC           the same with |u|, |v| at most 2, which two hidden units with weights in [-1, 1] reach

    y = a ∘ b,   x ~ U[low, low + width];   beyond the training range:   x ~ U[low + width, low + (1 + growth) width]

So every extrapolation example has an a above all of training, as the paper says. The lengths of the two subsections
were drawn once, and are not known: every operation takes the two that fit it best. The distance of a law is the mean of
|log(ours / printed)| over the errors of all operations but the exact 0 of + and −; exp(distance) is the factor by which
it typically misses.

    python -m tests.papers.trask2018.laws      # writes experiments/trask2018/laws.csv, in minutes

Source: Trask et al. 2018, Table 6. The other eight models of that table are not used.
"""

import csv
import itertools
import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nalu_bench import paths
from nalu_bench.tasks.subset_sums import OPERATIONS

Array = NDArray[np.float64]
Key = tuple[str, str, str]
"""Operation, split and model of a printed error."""

RANDOM, NONE, NAC = "random", "none", "nac"
WITHIN, BEYOND = "validation", "extrapolation"

LOWS = (0.0, 0.1, 0.25, 0.5, 1.0)
"""Lower ends, as multiples of the width."""
WIDTHS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0)
GROWTHS = (0.25, 0.5, 1.0, 2.0, 3.0)
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25)
"""Lengths of a subsection."""

EXAMPLES = 2000
LARGEST = 2.0
"""The largest coefficient that a NAC of two hidden units reaches."""


class Law(NamedTuple):
    """x ~ U[low, low + width], and its range beyond training."""

    low: float
    width: float
    growth: float

    def sums(self, uniform: Array, split: str) -> Array:
        """The sums of the first 1, 2, ... inputs of every example (lengths, examples)."""
        beyond = split == BEYOND
        low = self.low + self.width if beyond else self.low
        width = self.growth * self.width if beyond else self.width
        sums: Array = np.cumsum(low + width * uniform, axis=0)[np.array(LENGTHS) - 1]
        return sums


class Fit(NamedTuple):
    """How near a law comes: its distance, and the lengths that each operation took."""

    law: Law
    distance: float
    lengths: dict[str, tuple[int, int]]


def laws() -> Iterator[Law]:
    """All laws that are tried."""
    for low, width, growth in itertools.product(LOWS, WIDTHS, GROWTHS):
        yield Law(low * width, width, growth)


def ranked(printed: Mapping[Key, float], tried: Iterator[Law] | None = None) -> list[Fit]:
    """All laws, from the nearest on."""
    rng = np.random.default_rng(0)
    uniform = {split: rng.random((2, max(LENGTHS), EXAMPLES)) for split in (WITHIN, BEYOND)}
    return sorted((fitted(law, uniform, printed) for law in tried or laws()), key=lambda fit: fit.distance)


def fitted(law: Law, uniform: Mapping[str, Array], printed: Mapping[Key, float]) -> Fit:
    """A law with the lengths that come nearest, one operation after the other."""
    sums = {split: [law.sums(one, split) for one in both] for split, both in uniform.items()}
    moments = {split: _moments(*both) for split, both in sums.items()}
    total, count, lengths = 0.0, 0, {}
    for operation in OPERATIONS:
        targets = {key: value for key, value in printed.items() if key[0] == operation}
        errors = _errors(operation, sums, moments)
        misses = np.sum([np.abs(np.log(errors[key[2], key[1]] / value)) for key, value in targets.items()], axis=0)
        first, second = np.unravel_index(np.argmin(misses), misses.shape)
        lengths[operation] = (LENGTHS[first], LENGTHS[second])
        total, count = total + float(misses[first, second]), count + len(targets)
    return Fit(law, total / count, lengths)


def _moments(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """E[a²] (A, 1), E[ab] (A, B) and E[b²] (1, B) for all lengths of a and b."""
    return (a**2).mean(1)[:, None], a @ b.T / a.shape[1], (b**2).mean(1)[None, :]


def _errors(
    operation: str, sums: Mapping[str, list[Array]], moments: Mapping[str, tuple[Array, Array, Array]]
) -> dict[tuple[str, str], Array]:
    """(model, split) -> its mean squared error for all lengths of a and b (A, B)."""
    with_y = {split: _with_target(operation, *both) for split, both in sums.items()}
    weights = {
        NONE: _best(moments[WITHIN], with_y[WITHIN], math.inf),
        NAC: _best(moments[WITHIN], with_y[WITHIN], LARGEST),
    }
    found = {}
    for split, (y2, ya, yb) in with_y.items():
        aa, ab, bb = moments[split]
        found[RANDOM, split] = y2
        for model, (u, v) in weights.items():
            rest = y2 - 2 * (u * ya + v * yb) + u * u * aa + 2 * u * v * ab + v * v * bb
            found[model, split] = np.maximum(rest, 1e-9 * y2)  # rounding
    return found


def _with_target(operation: str, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """E[y²], E[ya] and E[yb] for all lengths of a and b (A, B)."""
    y = np.broadcast_to(OPERATIONS[operation](a[:, None], b[None]), (len(a), len(b), a.shape[1]))  # some use a alone
    return (y**2).mean(2), (y * a[:, None]).mean(2), (y * b[None]).mean(2)


def _best(moments: tuple[Array, Array, Array], target: tuple[Array, Array, Array], most: float) -> tuple[Array, Array]:
    """The coefficients of a and b with the least error among those of at most `most`."""
    aa, ab, bb = moments
    _, ya, yb = target
    det = np.maximum(aa * bb - ab**2, 1e-12 * aa * bb)
    u, v = (ya * bb - yb * ab) / det, (yb * aa - ya * ab) / det
    if math.isinf(most):
        return u, v
    edges = [(np.full_like(ab, at), np.clip((yb - at * ab) / bb, -most, most)) for at in (-most, most)]
    edges += [(np.clip((ya - at * ab) / aa, -most, most), np.full_like(ab, at)) for at in (-most, most)]
    inside = (np.abs(u) <= most) & (np.abs(v) <= most)
    losses = [u * u * aa + 2 * u * v * ab + v * v * bb - 2 * (u * ya + v * yb) for u, v in edges]
    nearest = np.argmin(losses, axis=0)
    return (
        np.where(inside, u, np.choose(nearest, [edge[0] for edge in edges])),
        np.where(inside, v, np.choose(nearest, [edge[1] for edge in edges])),
    )


def read_printed() -> dict[Key, float]:
    """The printed errors of the three models: all that are not an exact 0 by construction."""
    path = paths.experiments_dir() / "trask2018" / "table6.published.csv"
    names = {("mse", "hidden_linear"): NONE, ("mse", "nac"): NAC, ("untrained", "hidden_linear"): RANDOM}
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if (row["metric"], row["model"]) in names]
    found = {
        (row["operation"], row["split"], names[row["metric"], row["model"]]): float(row["printed"].strip("<"))
        for row in rows
    }
    exact = {(operation, model) for operation in ("add", "sub") for model in (NONE, NAC)}
    return {key: value for key, value in found.items() if (key[0], key[2]) not in exact}


def main() -> None:
    """Write the nearest laws beside the experiments."""
    fits = ranked(read_printed())[:20]
    path = paths.experiments_dir() / "trask2018" / "laws.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["low", "width", "growth", "factor", *OPERATIONS])
        for fit in fits:
            lengths = [f"{first} {second}" for first, second in fit.lengths.values()]
            told = [f"{value:g}" for value in fit.law] + [f"{math.exp(fit.distance):.3f}"]
            writer.writerow([*told, *lengths])


if __name__ == "__main__":
    main()
