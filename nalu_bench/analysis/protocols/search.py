"""A search over protocols of the static task, in closed form: every setting, metric and denominator."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.protocols.closed_form import Range, Setting, errors, finite
from nalu_bench.analysis.protocols.misfit import log_scores, misfit

Array = NDArray[np.float64]

SPLITS = ("validation", "extrapolation")
METRICS = {"mae": ("mae", 1.0), "rmse": ("mse", 0.5), "mse": ("mse", 1.0)}
"""Metric -> the mean that it is computed from, and the power of that mean."""

ONE_OPERAND = ("square", "sqrt")
"""Operations that leave b out; the size of B does not matter to them."""

FAMILIES = ("shared", "drawn", "each")
"""What the numbers of terms may be: one pair for all operations; a pair for each, drawn at random; any pair for each."""


@dataclass
class Space:
    """The settings that are searched: all combinations.

    Attributes:
        ranges: law -> ranges of its inputs.
        growths: extrapolation draws from the range times these factors.
        grown: "all" inputs or the "summed" ones have that range.
        terms: numbers of terms of a and of b.
        hidden: hidden sizes. linear: models that may stand for the printed Linear.
        metrics, denominators: of the score, 100 · error / error of the denominator.
    """

    ranges: dict[str, list[list[float]]]
    growths: list[float]
    grown: list[str]
    terms: list[int]
    hidden: list[int]
    linear: list[str] = field(default_factory=lambda: ["linear", "linear_no_bias"])
    metrics: list[str] = field(default_factory=lambda: list(METRICS))
    denominators: list[str] = field(default_factory=lambda: ["zero", "mean"])

    def protocols(self) -> Iterator[dict[str, Any]]:
        """The laws and ranges of the inputs in training."""
        for law, ranges in self.ranges.items():
            yield from ({"law": law, "range": (float(low), float(high))} for low, high in ranges)

    def choices(self) -> Iterator[dict[str, Any]]:
        """What needs no other inputs: the networks and how they are scored."""
        keys = ("hidden", "linear", "metric", "denominator")
        for values in itertools.product(self.hidden, self.linear, self.metrics, self.denominators):
            yield dict(zip(keys, values, strict=True))

    def beyond(self, limits: Range) -> list[tuple[Range, str]]:
        """What extrapolation may draw from. A normal law grows in its deviation, and in its mean."""
        return [((limits[0] * k, limits[1] * k), grown) for k, grown in itertools.product(self.growths, self.grown)]

    def pairs(self, operation: str) -> list[tuple[int, int]]:
        """Numbers of terms of a and b."""
        if operation in ONE_OPERAND:
            return [(size, 1) for size in self.terms]
        return list(itertools.product(self.terms, repeat=2))


@dataclass(frozen=True)
class Searched:
    """The result of a search.

    Attributes:
        ranking: one row for every protocol, metric, denominator and family, the smallest misfit first.
        discrepancy: the common term that suits the best protocol best.
        settings: number of settings of an operation that were computed.
    """

    ranking: pd.DataFrame
    discrepancy: float
    settings: int


Printed = Mapping[tuple[str, str, str], str]
"""(operation, model, split) -> the printed score."""


def predicted(space: Space, operations: Sequence[str]) -> list[dict[str, Any]]:
    """The errors of every setting: protocol words, and for every operation its pairs and an array of errors.

    The arrays have axes (pair, extrapolation, predictor, split, mean); nan where the moments do not exist.
    """
    found = []
    for protocol in space.protocols():
        tables = {operation: _table(space, protocol, operation) for operation in operations}
        found.append(protocol | {"tables": tables})
    return found


def _predictors(space: Space) -> list[str]:
    return ["linear", "linear_no_bias", "zero", "mean", *(f"nac_{size}" for size in space.hidden)]


MEANS = ("mae", "mse")


def _table(space: Space, protocol: Mapping[str, Any], operation: str) -> Array:
    limits = protocol["range"]
    beyond, pairs, predictors = space.beyond(limits), space.pairs(operation), _predictors(space)
    table = np.full((len(pairs), len(beyond), len(predictors), len(SPLITS), len(MEANS)), math.nan)
    for row, terms in enumerate(pairs):
        setting = Setting(operation, protocol["law"], limits, limits, "all", terms)
        if not finite(setting, 1):
            continue
        for column, values in enumerate(errors(setting, space.hidden, beyond)):
            table[row, column] = [[values[name, split] for split in SPLITS] for name in predictors]
        if not finite(setting, 2):
            table[row, ..., MEANS.index("mse")] = math.nan
    return table


def search(space: Space, printed: Printed, discrepancies: Sequence[float] = (0.05, 0.1, 0.2, 0.4, 0.8)) -> Searched:
    """Rank all protocols by how well they explain printed scores of Linear and NAC.

    Args:
        printed: of the models "linear" and "nac". discrepancies: candidates of the common term.
    """
    operations = list(dict.fromkeys(operation for operation, *_ in printed))
    return ranked(space, predicted(space, operations), printed, discrepancies)


def ranked(
    space: Space, predictions: Sequence[Mapping[str, Any]], printed: Printed, discrepancies: Sequence[float]
) -> Searched:
    """As `search`, of what `predicted` gave."""
    rankings = {term: _ranking(space, predictions, printed, term) for term in discrepancies}
    best = min(rankings, key=lambda term: float(rankings[term]["misfit"].min()))
    count = sum(table.shape[0] * table.shape[1] for one in predictions for table in one["tables"].values())
    return Searched(rankings[best], best, count)


def _ranking(
    space: Space, predictions: Sequence[Mapping[str, Any]], printed: Printed, discrepancy: float
) -> pd.DataFrame:
    frames = []
    for one in predictions:
        beyond = space.beyond(one["range"])
        protocol = {key: [one[key]] * len(beyond) for key in ("law", "range")}
        protocol |= {"beyond": [limits for limits, _ in beyond], "grown": [grown for _, grown in beyond]}
        for choice in space.choices():
            misfits = {
                operation: _misfits(space, table, operation, printed, choice, discrepancy)
                for operation, table in one["tables"].items()
            }
            words = protocol | choice
            frames += [pd.DataFrame(words | chosen) for chosen in _families(space, misfits)]
    return pd.concat(frames, ignore_index=True).sort_values("misfit", kind="stable", ignore_index=True)


def _misfits(
    space: Space, table: Array, operation: str, printed: Printed, choice: Mapping[str, Any], discrepancy: float
) -> Array:
    """The misfit (pair, extrapolation) of one operation, summed over its printed cells."""
    mean, power = METRICS[choice["metric"]]
    values, names = table[..., MEANS.index(mean)] ** power, _predictors(space)
    total = np.zeros(values.shape[:2])
    for model, predictor in (("linear", choice["linear"]), ("nac", f"nac_{choice['hidden']}")):
        for place, split in enumerate(SPLITS):
            text = printed.get((operation, model, split))
            if text is not None:
                error = values[:, :, names.index(predictor), place]
                below = values[:, :, names.index(choice["denominator"]), place]
                total += misfit(text, log_scores(100 * error / below), 0.0, math.inf, discrepancy)
    return total


def _families(space: Space, misfits: Mapping[str, Array]) -> list[dict[str, Any]]:
    """The misfit of each family of numbers of terms, extrapolation by extrapolation, and the terms that it takes."""
    every = list(itertools.product(space.terms, repeat=2))
    pairs = {operation: space.pairs(operation) for operation in misfits}
    place = {
        operation: [pairs[operation].index(_alone(pair, operation)) for pair in every] for operation in misfits
    }
    common = sum(values[place[operation]] for operation, values in misfits.items())
    shared = np.argmin(common, axis=0)
    best = {operation: values.argmin(axis=0) for operation, values in misfits.items()}
    own = [
        " ".join(f"{operation}:{_told(pairs[operation][rows[column]])}" for operation, rows in best.items())
        for column in range(len(shared))
    ]
    return [
        {"family": "shared", "misfit": np.min(common, axis=0), "terms": [_told(every[row]) for row in shared]},
        {"family": "drawn", "misfit": sum(_averaged(values) for values in misfits.values()), "terms": ""},
        {"family": "each", "misfit": sum(values.min(axis=0) for values in misfits.values()), "terms": own},
    ]


def _alone(pair: tuple[int, int], operation: str) -> tuple[int, int]:
    return (pair[0], 1) if operation in ONE_OPERAND else pair


def _told(pair: tuple[int, int]) -> str:
    return f"{pair[0]}+{pair[1]}"


def _averaged(misfits: Array) -> Array:
    """The misfit of a pair that is drawn at random: its probability is the mean over all pairs."""
    least = misfits.min(axis=0)
    averaged: Array = least - np.log(np.exp(least - misfits).mean(axis=0))
    return averaged
