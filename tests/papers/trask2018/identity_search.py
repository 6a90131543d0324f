"""The search for the optimiser and the training examples behind Table 5 of Trask et al. 2018, which are not stated.

Three optimisers, each with two kinds of examples, learn the identity with three activations. The candidate whose mean
errors over all integers from -1000 to 1000 come nearest to the printed three is chosen:

    distance = mean over the three activations of |log(mean error / printed error)|

A run without a finite error makes the mean, and the distance, infinite. The twelve other activations take no part.

    python -m tests.papers.trask2018.identity_search     # writes experiments/trask2018/optimisers.csv, in minutes
"""

import csv
import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import nalu_bench
from nalu_bench import paths

PRINTED = {"tanh": 493.65, "relu": 83.63, "softplus": 37.60}
"""The activations, named before the search: one saturates, one is piecewise linear, one is smooth. Table 5."""

OPTIMISERS = {
    "rmsprop": ["recipe.optimizer=rmsprop", "recipe.beta1=0", "recipe.beta2=0.99"],
    "adam": ["recipe.optimizer=adam", "recipe.beta1=0.9", "recipe.beta2=0.999"],
    "sgd": ["recipe.optimizer=sgd", "recipe.beta1=0", "recipe.beta2=0"],
}
"""With torch's defaults."""

EXAMPLES = {
    "reals": ["task.whole=false", "recipe.batch_size=128"],
    "integers": ["task.whole=true", "recipe.batch_size=11"],
}
"""New real numbers from [-5, 5] at every step, or its eleven integers at every step."""

FIRST, SEEDS = 10_000, 100
COLUMNS = ["optimizer", "examples", "activation", "seeds", "finite", "mean", "deviation", "printed"]


@dataclass(frozen=True)
class Found:
    """A line of the file: the errors of one activation under one candidate."""

    optimizer: str
    examples: str
    activation: str
    errors: NDArray[np.float64]

    def line(self) -> list[str]:
        """As it is written."""
        finite = self.errors[np.isfinite(self.errors)]
        mean = float(self.errors.mean()) if finite.size == self.errors.size else math.inf
        spread = float(finite.std(ddof=1)) if finite.size > 1 else math.nan
        words = [self.optimizer, self.examples, self.activation, str(self.errors.size), str(finite.size)]
        return [*words, f"{mean:.6g}", f"{spread:.6g}", f"{PRINTED[self.activation]:g}"]


def path() -> Path:
    """The file, beside the experiment."""
    return paths.experiments_dir() / "trask2018" / "optimisers.csv"


def distances(rows: Iterable[dict[str, str]]) -> dict[tuple[str, str], float]:
    """(optimiser, examples) -> distance, the nearest first."""
    apart: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        apart.setdefault((row["optimizer"], row["examples"]), []).append(
            abs(math.log(float(row["mean"]) / float(row["printed"])))
        )
    return dict(sorted(((key, float(np.mean(each))) for key, each in apart.items()), key=lambda one: one[1]))


def search() -> list[Found]:
    """Train what is missing, and gather the errors."""
    found = []
    for (optimizer, chosen), (examples, drawn) in itertools.product(OPTIMISERS.items(), EXAMPLES.items()):
        words = ["task=identity_integers", "recipe=trask2018_identity", "model=mlp", "budget=paper", *chosen, *drawn]
        words += [f"model.activation={','.join(PRINTED)}", "recipe.steps=10000", "recipe.log_every=100"]
        runs = nalu_bench.run(*words, "device.workers=1", first_seed=FIRST, seeds=SEEDS).runs
        for activation in PRINTED:
            mine = runs[runs["setting"] == f"activation={activation}"]
            found.append(Found(optimizer, examples, activation, mine["integers_mae"].to_numpy(float)))
    return found


def main() -> None:
    """Write the errors beside the experiment, and tell the distances."""
    lines = [found.line() for found in search()]
    with path().open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([COLUMNS, *lines])
    with path().open(encoding="utf-8", newline="") as stream:
        for (optimizer, examples), distance in distances(csv.DictReader(stream)).items():
            print(f"{optimizer} on {examples}: a factor of {math.exp(distance):.3g}")


if __name__ == "__main__":
    main()
