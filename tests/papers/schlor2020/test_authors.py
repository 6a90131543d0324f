"""The authors' runs, made again with Adam, have the printed numbers: so this trainer made them."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nalu_bench import paths
from tests.papers.schlor2020.authors import SEEDS, Outcome, made_again

PRINTED = paths.CHECKOUT.parent / "shared" / "published" / "inalu.csv"

INPUTS = {"experiment1": 2, "experiment2": 10}
MODELS = {"single-inalu_shared": "iNALU (sw) shared weights", "single-inalu": "iNALU (iw) independent weights"}
"""Model -> its name in print."""

OUTSIDE = {"N": ["normal", 8, 10], "U": ["uniform", -10, -5], "Exp": ["exponential", 0.5]}
KINDS = {kind: name for kind, (name, *_) in OUTSIDE.items()}

FEW = {
    ("experiment1", "sub", "U(-5,5)", "single-inalu_shared"), ("experiment1", "mul", "N(-4,2)", "single-inalu"),
}  # fmt: skip
"""Cells with one to nine reinitialisations, made again whenever slow tests are; the others by thorough ones."""

THRESHOLD, NEAR = 1e-5, 3.0
"""Of a solved run; errors that are so many times as large or as small may fall on either side by rounding."""

OTHERWISE = ("experiment2", "div", "N(-2,4)", "single-inalu_shared")
"""The cell whose errors outside fluctuate about the threshold: two of ten fall on its other side."""

Case = tuple[str, str, str, str]


def marked(case: Case) -> Any:
    marks = [] if case in FEW else [pytest.mark.thorough]
    marks += [pytest.mark.xfail(strict=True, reason="errors about the threshold")] if case == OTHERWISE else []
    return pytest.param(case, marks=marks, id=" ".join(case))


def published(name: str) -> pd.DataFrame:
    """The printed numbers of the iNALUs of an experiment, by place and metric."""
    rows = pd.read_csv(paths.experiments_dir() / "schlor2020" / f"{name}.published.csv")
    rows = rows[~rows["metric"].str.startswith("claim_")].astype({"printed": float})
    rows = rows[rows["model"].isin(MODELS)].assign(range=rows["setting"].str.removeprefix("range="))
    places = ["operation", "range", "model"]
    return rows.pivot(index=places, columns=["split", "metric"], values="printed")


def cases() -> list[Case]:
    return [(name, *place) for name in INPUTS for place in published(name).index]


def outcomes(case: Case) -> list[Outcome]:
    """The ten runs of a cell."""
    name, operation, trained, model = case
    kind, ends = re.fullmatch(r"(\w+)\((.*)\)", trained).groups()  # type: ignore[union-attr]
    inside = [KINDS[kind], *map(float, ends.split(","))]
    return [
        made_again(operation, inside, OUTSIDE[kind], seed, INPUTS[name], separate=model == "single-inalu")
        for seed in SEEDS
    ]


@pytest.mark.slow
@pytest.mark.parametrize("case", [marked(case) for case in cases()])
def test_runs_made_again_have_the_printed_numbers(case: Case) -> None:
    name, *place = case
    found, printed = outcomes(case), published(name).loc[tuple(place)]
    for split in ("validation", "extrapolation"):
        errors = np.array([getattr(outcome, split) for outcome in found])
        surely, perhaps = (np.mean(errors < factor * THRESHOLD) for factor in (1 / NEAR, NEAR))
        assert surely - 0.01 < printed[split, "success_rate"] < perhaps + 0.01
    if PRINTED.exists():
        theirs = pd.read_csv(PRINTED)
        _, operation, trained, model = case
        theirs = theirs[
            (theirs["experiment"] == name.replace("eriment", "")) & (theirs["operation"] == operation)
            & theirs["ranges"].str.startswith(f"train {trained};") & (theirs["model"] == MODELS[model])
            & (theirs["metric"] == "reinitialisations_mean")
        ]  # fmt: skip
        again = np.mean([outcome.reinitialised for outcome in found])
        assert again == pytest.approx(theirs["value"].item(), abs=0.11)  # rounding moves one run of ten in one cell
