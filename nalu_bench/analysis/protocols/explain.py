"""Which protocol explains a printed table best: chosen by some of its cells, judged by the others."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from nalu_bench.analysis.protocols.closed_form import ONE_OPERAND
from nalu_bench.analysis.protocols.misfit import misfit
from nalu_bench.analysis.protocols.predictions import Candidate, Choice, Predictions
from nalu_bench.errors import unknown

Array = NDArray[np.float64]

Place = tuple[str, str, str]
"""The operation, the model and the split of a printed number."""

Printed = Mapping[Place, str]
"""The printed numbers."""

DISCREPANCIES = (0.1, 0.2, 0.4, 0.8)
"""What every hypothesis may be off by, as a deviation of the log of a number.

The largest is a factor of 2.2. A table that needs more is not explained, see `WITHOUT_LIMIT`.
"""

WITHOUT_LIMIT = (*DISCREPANCIES, 1.6, 3.2, 6.4)
"""What hypotheses may be off by if any discrepancy were granted."""

PERMUTATIONS, PERMUTATION_SEED = 999, 20_100_101


class Hypothesis(NamedTuple):
    """A protocol with the candidates that it allows for each operation; several: the best one may be taken.

    Attributes:
        name: such as `law=uniform range=[0, 1] ... terms=[8, 3]`.
        rows: operation -> rows of the predictions.
        choices: places of the choices that it allows; none: all.
    """

    name: str
    rows: Mapping[str, Sequence[int]]
    choices: Sequence[int] = ()

    def with_choice(self, choice: Choice, predictions: Predictions) -> "Hypothesis":
        """The same with one choice; raises UsageError if the predictions have no such choice."""
        if choice not in predictions.choices:
            known = [one.words() for one in predictions.choices]
            for name, word in choice.words().items():
                if all(one[name] != word for one in known):
                    raise unknown(f"{name} of a score", word, {one[name] for one in known})
        return self._replace(choices=(predictions.choices.index(choice),))


class Explained(NamedTuple):
    """A hypothesis with the choice that suits it best, and how well it does.

    Attributes:
        rows: operation -> the row that was taken.
        fitted, held_out: its misfit on the cells that chose it, and on the others.
        cells: its misfit (operation, model, split).
    """

    hypothesis: Hypothesis
    choice: Choice
    rows: Mapping[str, int]
    fitted: float
    held_out: float
    cells: Array


def hypotheses(predictions: Predictions) -> list[Hypothesis]:
    """Every protocol with one pair of terms for all operations; and with any pair for each, where it has several."""
    found = []
    protocols: dict[tuple[str, ...], list[int]] = {}
    for row, one in enumerate(predictions.candidates):
        protocols.setdefault(one.protocol, []).append(row)
    operations = list(dict.fromkeys(one.operation for one in predictions.candidates))
    for protocol, rows in protocols.items():
        at = {_place(predictions.candidates[row]): row for row in rows}
        name = " ".join(protocol)
        pairs = dict.fromkeys(terms for operation, terms in at if operation not in ONE_OPERAND)
        for pair in pairs:
            places = {operation: (operation, _alone(operation, pair)) for operation in operations}
            if all(place in at for place in places.values()):
                shared = {operation: [at[place]] for operation, place in places.items()}
                terms = f" terms={list(pair)}" if any(pair) else ""
                found.append(Hypothesis(f"{name}{terms}", shared))
        if len(rows) > len(operations) or len(pairs) > 1:
            own = {operation: [row for (o, _), row in at.items() if o == operation] for operation in operations}
            found.append(Hypothesis(f"{name} terms of each", own))
    return found


def _place(one: Candidate) -> tuple[str, tuple[int, int]]:
    return one.operation, _alone(one.operation, one.terms)


def _alone(operation: str, terms: tuple[int, int]) -> tuple[int, int]:
    return (terms[0], 0) if operation in ONE_OPERAND else terms


@dataclass(frozen=True)
class Judge:
    """Ranks hypotheses by a printed table.

    Attributes:
        predictions: of all candidates.
        fitting: the printed cells that choose; the others are held out, and judge.
        discrepancy: the term common to all hypotheses.
    """

    predictions: Predictions
    fitting: Collection[Place]
    discrepancy: float

    def misfits(self, printed: Printed) -> Array:
        """The misfit (candidate, choice, model, split) of every prediction; 0 where nothing is printed."""
        one = self.predictions
        found = np.zeros(one.location.shape)
        operations = np.array([candidate.operation for candidate in one.candidates])
        for (operation, model, split), text in printed.items():
            at = (operations == operation, slice(None), one.models.index(model), list(one.splits).index(split))
            found[at] = misfit(text, one.location[at], one.deviation[at], one.freedom, self.discrepancy)
        return found

    def ranked(self, printed: Printed, among: Sequence[Hypothesis]) -> list[Explained]:
        """The hypotheses, each with the choice and the terms that suit the fitting cells best; the best first."""
        every = self.misfits(printed)
        fits = (every * self.chosen([one.operation for one in self.predictions.candidates])[:, None]).sum(axis=(2, 3))
        return sorted((self._explained(one, every, fits) for one in among), key=lambda one: one.fitted)

    def chosen(self, operations: Iterable[str]) -> NDArray[np.bool_]:
        """Whether the cells of these operations choose: (operation, model, split)."""
        one = self.predictions
        return np.array(
            [
                [[(operation, model, split) in self.fitting for split in one.splits] for model in one.models]
                for operation in operations
            ]
        )

    def _explained(self, one: Hypothesis, every: Array, fits: Array) -> Explained:
        columns = np.array(one.choices or range(fits.shape[1]))
        best = {
            operation: np.array(rows)[fits[np.array(rows)[:, None], columns].argmin(axis=0)]
            for operation, rows in one.rows.items()
        }
        place = int(np.argmin(sum(fits[rows, columns] for rows in best.values())))
        column, rows = int(columns[place]), {operation: int(taken[place]) for operation, taken in best.items()}
        cells, fitting = np.stack([every[row, column] for row in rows.values()]), self.chosen(rows)
        fitted, held_out = float(cells[fitting].sum()), float(cells[~fitting].sum())
        return Explained(one, self.predictions.choices[column], rows, fitted, held_out, cells)


def suited(
    predictions: Predictions,
    fitting: Collection[Place],
    printed: Printed,
    among: Sequence[Hypothesis],
    terms: Sequence[float] = DISCREPANCIES,
) -> Judge:
    """The judge whose discrepancy, one of the `terms`, suits the best hypothesis best."""
    judges = [Judge(predictions, fitting, term) for term in terms]
    return min(judges, key=lambda judge: judge.ranked(printed, among)[0].fitted)


def without_limit(judge: Judge, printed: Printed, among: Sequence[Hypothesis]) -> float:
    """The discrepancy that would suit the best hypothesis best if any were granted: much, if none comes near."""
    return suited(judge.predictions, judge.fitting, printed, among, WITHOUT_LIMIT).discrepancy


def by_chance(one: Explained, judge: Judge, printed: Printed) -> float:
    """Probability that a hypothesis suits the cells held out as well if their numbers change places within a split.

    Source: permutation test, Phipson & Smyth 2010, Stat. Appl. Genet. Mol. Biol. 9, 39. Deviations: none.
    """
    predictions, rng = judge.predictions, np.random.default_rng(PERMUTATION_SEED)
    column = predictions.choices.index(one.choice)
    own, shuffled = 0.0, np.zeros(PERMUTATIONS)
    for side, split in enumerate(predictions.splits):
        held = [(o, m) for o, m, s in printed if s == split and (o, m, s) not in judge.fitting]
        at = [one.rows[o] for o, _ in held], column, [predictions.models.index(m) for _, m in held], side
        texts = [printed[o, m, split] for o, m in held]
        scale = predictions.location[at], predictions.deviation[at], predictions.freedom, judge.discrepancy
        table = np.stack([misfit(text, *scale) for text in texts])
        cells = np.arange(len(held))
        orders = rng.permuted(np.tile(cells, (PERMUTATIONS, 1)), axis=1)
        own += float(table[cells, cells].sum())
        shuffled += table[orders, cells].sum(axis=1)
    return float((1 + (shuffled <= own).sum()) / (1 + PERMUTATIONS))


class Gain(NamedTuple):
    """How much better one hypothesis explains a cell held out than another: mean over operations, with its interval."""

    mean: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether it is better for sure."""
        return self.low > 0


def gain(better: Explained, worse: Explained, judge: Judge) -> Gain:
    """The mean difference of the misfits of a cell held out, with Student's 95 % interval over the operations.

    Every operation counts once, with the mean of its cells: these share their inputs, and are not independent.

    Source: ours. Deviations: does not apply.
    """
    held_out = ~judge.chosen(better.rows)
    differences = zip(worse.cells - better.cells, held_out, strict=True)
    found = np.array([cells[chosen].mean() for cells, chosen in differences if chosen.any()])
    half = float(stdtrit(len(found) - 1, 0.975)) * float(found.std(ddof=1)) / math.sqrt(len(found))
    return Gain(float(found.mean()), float(found.mean()) - half, float(found.mean()) + half)
