"""Claims on relative errors: that models succeed or fail at operations, in interpolation or in extrapolation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from nalu_bench.analysis.render import style
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.medians import Array
from nalu_bench.analysis.table.claim import Claim, Limit, furthest_from_true
from nalu_bench.errors import UsageError

Errors = Mapping[tuple[str, str, str], Array]
"""(model, operation, split) -> the relative error of every seed, in percent of the runs that a sentence names."""

BASELINE = "baseline"
"""The role of untrained models."""

NAMES = {"validation": "interpolation", "extrapolation": "extrapolation"}


@dataclass
class Sentence(Limit):
    """What a claim says of the median relative errors of some models.

    Attributes:
        models, splits: which; operations: all of them if empty; task: if there are several.
        rank: None if the claim is about every model; k if it is about the one that is k-th best in its worst operation:
            `rank: 3` with `at_most` says that three models succeed, `rank: 1` with `at_least` that none does. Tested is
            that model at that operation as if it had been named, corrected for being picked.
        of: the role of the runs whose errors are 100 %: untrained models, or another that the experiment has.
        at_most, at_least: in percent of these.
    """

    models: list[str]
    splits: list[str]
    operations: list[str] = field(default_factory=list)
    task: str = ""
    rank: int | None = None
    of: str = BASELINE

    def check(self, name: str) -> None:
        """Raise UsageError for a claim without one limit, or with a rank that no model has."""
        super().check(name)
        if not self.models or not self.splits:
            raise UsageError(f"the claim {name} must name its models and splits.")
        if self.rank is not None and not 1 <= self.rank <= len(self.models):
            raise UsageError(f"rank of the claim {name} must be from 1 to {len(self.models)}, got {self.rank}.")

    def names(self) -> Iterator[tuple[str, str | None]]:
        named = {"model": self.models, "split": self.splits, "operation": self.operations}
        named |= {"task": [self.task], "role": [self.of]}
        return ((word, value) for word, values in named.items() for value in values if value)


def tested(said: Sentence, task: str, errors: Errors) -> Claim:
    """The claim where it is furthest from true; not tested unless all of its models have runs on the task."""
    operations = said.operations or list(dict.fromkeys(operation for _, operation, _ in errors))
    wanted = [(model, operation, split) for model in said.models for operation in operations for split in said.splits]
    missing = list(
        dict.fromkeys(style.label(model) for model, *_ in wanted if _missing(errors, model, operations, said))
    )
    if missing:
        beside = "" if said.of == BASELINE else f", or of the {said.of}"
        return Claim.missing(f"no runs of ours: {', '.join(missing)}{beside}")
    if said.rank is None:
        return furthest_from_true([_claim(said, task, place, errors) for place in wanted])
    worst = sorted(
        (
            max((place for place in wanted if place[0] == model), key=lambda place: _median(errors[place]))
            for model in said.models
        ),
        key=lambda place: _median(errors[place]),
    )
    ranked = _claim(said, task, worst[said.rank - 1], errors)
    told = f"number {said.rank} of {len(said.models)} models, ordered by their worst operation: {ranked.quantity}"
    return replace(ranked, quantity=told, places=len(wanted), picked=True)


def _missing(errors: Errors, model: str, operations: list[str], said: Sentence) -> bool:
    return any((model, operation, split) not in errors for operation in operations for split in said.splits)


def _median(samples: Array) -> float:
    return float(np.median(samples))


def _claim(said: Sentence, task: str, place: tuple[str, str, str], errors: Errors) -> Claim:
    model, operation, split = place
    threshold, above = said.limit
    whole = "" if said.of == BASELINE else f" of the {said.of}'s error"
    label = style.label(model)
    of, by = (f" of {label}", "") if said.rank or len(said.models) == 1 else ("", f" by {label}")
    claim = Claim.estimated(f"percentage{whole}{of}", partial(medians.exact_of, errors[place]), threshold, above)
    where = f"{style.operation_label(task, operation)}{by} in {NAMES[split]}"
    return replace(claim, where=where)
