"""A search over protocols of the static task, in closed form: every setting, metric and denominator."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.protocols.closed_form import ONE_OPERAND, Range, Setting, errors, finite
from nalu_bench.analysis.protocols.misfit import MEANS, METRICS, SPLITS, log_scores, misfit

Array = NDArray[np.float64]

DISCREPANCIES = (0.05, 0.1, 0.2, 0.4, 0.8)

FAMILIES = ("shared", "drawn", "each")
"""The numbers of terms: one pair for all operations; a pair for each, drawn at random; any pair for each."""


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

    ranges: dict[str, list[list[Any]]]
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
        return list(itertools.product(self.terms, self.terms))


MODELS = ("linear", "nac")

Printed = Mapping[tuple[str, str, str], str]
"""(operation, model, split) -> the printed score."""


@dataclass(frozen=True)
class Predicted:
    """The log scores of one protocol under one choice, for all extrapolations and terms.

    Attributes:
        words: law, range, hidden, linear, metric, denominator.
        logs: (operation, model) -> log scores (pair, extrapolation, split); models are `MODELS`. Choices that give a
            model the same scores share them.
    """

    words: dict[str, Any]
    logs: dict[tuple[str, str], Array]


Known = dict[tuple[int, str, str], Array]
"""(log scores by their id, split, printed text) -> misfits: those shared by several choices are computed once."""


def misfits(one: Predicted, printed: Printed, discrepancy: float, known: Known) -> dict[str, Array]:
    """Operation -> the misfit (pair, extrapolation), summed over its printed cells."""
    found: dict[str, Array] = {}
    for (operation, model, split), text in printed.items():
        logs = one.logs[operation, model]
        key = (id(logs), split, text)
        if key not in known:
            known[key] = misfit(text, logs[:, :, SPLITS.index(split)], 0.0, math.inf, discrepancy)
        found[operation] = known[key] + found.get(operation, 0.0)
    return found


def predicted(space: Space, operations: Sequence[str]) -> list[Predicted]:
    """The scores of every setting."""
    found = []
    for protocol in space.protocols():
        tables = {operation: _table(space, protocol, operation) for operation in operations}
        made: dict[tuple[str, str, str, str], Array] = {}
        for choice in space.choices():
            logs = {}
            for operation, (model, predictor) in itertools.product(operations, _stand_ins(choice)):
                key = (operation, predictor, choice["metric"], choice["denominator"])
                if key not in made:
                    made[key] = _logs(space, tables[operation], *key[1:])
                logs[operation, model] = made[key]
            found.append(Predicted(protocol | choice, logs))
    return found


def _stand_ins(choice: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The models of the printed table, each with the predictor that stands for it."""
    return list(zip(MODELS, (str(choice["linear"]), f"nac_{choice['hidden']}"), strict=True))


def _predictors(space: Space) -> list[str]:
    return ["linear", "linear_no_bias", "zero", "mean", *(f"nac_{size}" for size in space.hidden)]


def _table(space: Space, protocol: Mapping[str, Any], operation: str) -> Array:
    """Errors (pair, extrapolation, predictor, split, mean); nan where the moments do not exist."""
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


def without_moments(space: Space, operations: Sequence[str]) -> dict[tuple[str, Range, str], tuple[float, float]]:
    """Law, range and operation -> shares of the pairs of terms without a finite mean absolute and squared error.

    Such settings are left out of the search. Operations that have all moments are not listed.
    """
    found = {}
    for protocol, operation in itertools.product(space.protocols(), operations):
        law, limits = protocol["law"], protocol["range"]
        settings = [Setting(operation, law, limits, limits, "all", terms) for terms in space.pairs(operation)]
        mae, mse = (float(np.mean([not finite(one, power) for one in settings])) for power in (1, 2))
        if mse > 0:
            found[law, limits, operation] = mae, mse
    return found


def _logs(space: Space, table: Array, predictor: str, metric: str, denominator: str) -> Array:
    mean, power = METRICS[metric]
    values, names = table[..., MEANS.index(mean)] ** power, _predictors(space)
    return log_scores(100 * values[:, :, names.index(predictor)] / values[:, :, names.index(denominator)])


def ranking(space: Space, predictions: Sequence[Predicted], printed: Printed, discrepancy: float) -> pd.DataFrame:
    """One row for every protocol, extrapolation, choice and family, the smallest misfit first.

    Columns: law, range, beyond, grown, hidden, linear, metric, denominator, family, terms, misfit.
    """
    frames = []
    known: Known = {}
    for one in predictions:
        beyond = space.beyond(one.words["range"])
        words = {key: [value] * len(beyond) for key, value in one.words.items()}
        words |= {"beyond": [limits for limits, _ in beyond], "grown": [grown for _, grown in beyond]}
        chosen = _families(space, misfits(one, printed, discrepancy, known))
        frames += [pd.DataFrame(words | family) for family in chosen]
    return pd.concat(frames, ignore_index=True).sort_values("misfit", kind="stable", ignore_index=True)


def suited(predictions: Sequence[Predicted], printed: Printed) -> float:
    """The discrepancy, common to all protocols, that suits the best one best."""
    return min(DISCREPANCIES, key=lambda term: best(predictions, printed, term)[1])


def best(predictions: Sequence[Predicted], printed: Printed, discrepancy: float) -> tuple[tuple[int, int], float]:
    """The place (prediction, extrapolation) with the smallest misfit if every operation has its own terms."""
    known: Known = {}
    least = np.array([sum(_least(misfits(one, printed, discrepancy, known))) for one in predictions])
    row, column = np.unravel_index(least.argmin(), least.shape)
    return (int(row), int(column)), float(least[row, column])


def _least(found: Mapping[str, Array]) -> list[Array]:
    """The misfit of the best terms of each operation, extrapolation by extrapolation."""
    return [values.min(axis=0) for values in found.values()]


def _families(space: Space, found: Mapping[str, Array]) -> list[dict[str, Any]]:
    """The misfit of each family of numbers of terms, extrapolation by extrapolation, and the terms that it takes."""
    every = list(itertools.product(space.terms, space.terms))
    pairs = {operation: space.pairs(operation) for operation in found}
    place = {operation: [pairs[operation].index(_alone(pair, operation)) for pair in every] for operation in found}
    common = sum(values[place[operation]] for operation, values in found.items())
    shared = np.argmin(common, axis=0)
    best = {operation: values.argmin(axis=0) for operation, values in found.items()}
    own = [
        " ".join(f"{operation}:{_told(pairs[operation][rows[column]])}" for operation, rows in best.items())
        for column in range(len(shared))
    ]
    return [
        {"family": "shared", "misfit": np.min(common, axis=0), "terms": [_told(every[row]) for row in shared]},
        {"family": "drawn", "misfit": sum(_averaged(values) for values in found.values()), "terms": ""},
        {"family": "each", "misfit": sum(values.min(axis=0) for values in found.values()), "terms": own},
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
