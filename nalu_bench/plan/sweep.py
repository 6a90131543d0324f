"""A sweep from the command line as an experiment: its cells are those of the words that were typed."""

import hashlib
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.plan.experiment import CellGroup, Experiment
from nalu_bench.plan.names import NAME

FOLDER = "sweeps"
"""The paper, so to say, of all sweeps: their results lie in `results/local/sweeps/<name>/`."""

LAST = "last"
"""The file beside the sweeps with the name of the last one, and so no name."""

SEEDS = ("seeds=", "first_seed=")
"""Words without a part in the name, so that a sweep can grow."""

LONGEST = 40

MOST_BYTES = 200
"""Length of a name; file systems take 255, and temporary files need some of them."""


def experiment(name: str, budget: str, scale: Mapping[str, Any], overrides: Sequence[str]) -> Experiment:
    """The experiment that a sweep is.

    Args:
        name: see `name_of`. budget: its name. scale: the seeds and the steps. overrides: the words that were typed.

    Raises:
        UsageError for a name that is no name of a folder.
    """
    check_name(name)
    return Experiment(
        f"{FOLDER}/{name}",
        paths.results_dir() / "local" / FOLDER,
        title=" ".join(overrides) or f"budget={budget}",
        source="a sweep from the command line",
        budgets={budget: {key: scale[key] for key in ("seeds", "steps")}},
        cells=[CellGroup([], {text.partition("=")[0]: [text.partition("=")[2]] for text in overrides})],
        report={"kind": "cells"},
        local=True,
    )


def check_name(name: str) -> None:
    """Raise UsageError for a name of a sweep that is no name of a folder."""
    if not NAME.fullmatch(name) or name == LAST or len(name.encode()) > MOST_BYTES:
        raise UsageError(
            f"name must begin with a letter, a digit or '_', consist of these, '.' and '-', have at most {MOST_BYTES} "
            f"bytes, and not be '{LAST}', got '{name:.{MOST_BYTES}}'."
        )


def command(verb: str, chosen: Experiment, budget: str, overrides: Sequence[str]) -> str:
    """The command that runs or reports an experiment or a sweep again; a sweep's name is in it if it was given."""
    words = [f"budget={budget}", *overrides]
    if not chosen.local:
        return shlex.join(["nalu-bench", verb, chosen.name, *words])
    name = chosen.name.partition("/")[2]
    called = [f"name={name}"] if name != name_of(budget, overrides) else []
    return shlex.join(["nalu-bench", verb, *(["-m"] if verb == "run" else []), *words, *called])


def name_of(budget: str, overrides: Sequence[str]) -> str:
    """The swept values, and a digest of all words: `add-sub_nac-nau-1f3a09`."""
    words = sorted(text for text in overrides if not text.startswith(SEEDS))
    digest = hashlib.sha256(" ".join([budget, *words]).encode()).hexdigest()[:6]
    values = [text.partition("=")[2] for text in overrides if "," in text] or [
        text.partition("=")[2] for text in overrides if text.startswith(("task=", "model="))
    ]
    readable = "_".join(re.sub(r"\W+", "-", value).strip("-") for value in values)[:LONGEST]
    return "-".join(filter(None, [readable, digest]))
