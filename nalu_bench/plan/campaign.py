"""A campaign: experiments in the order in which they are trained, first with few seeds, then with more.

Its file is YAML with the keys of `File`:

    budget: paper
    stages: [25, 50]
    experiments:
      - madsen2020/all_models
      - {experiment: madsen2020/overlap, overrides: ["task.overlap_ratio=0,1"], stages: [25]}

The first stage trains all cells of all experiments. A later one trains the cells that are undecided at the stage before
it, see `analysis/undecided.py`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, experiment, folders, grammar
from nalu_bench.plan.names import check_texts
from nalu_bench.plan.schemas import filled


@dataclass
class Entry:
    """One experiment of a campaign.

    Attributes:
        experiment: its name. overrides: as on the command line, beside those of the campaign.
        stages: numbers of seeds, in rising order; those of the campaign if empty.
    """

    experiment: str
    overrides: list[str] = field(default_factory=list)
    stages: list[int] = field(default_factory=list)


@dataclass
class File:
    """The keys of a campaign's file.

    Attributes:
        experiments: names, or mappings with the keys of `Entry`, in the order of training.
        stages: numbers of seeds, in rising order.
        budget, overrides: of all experiments, as on the command line.
        microseconds: of one core for a step of one seed, with which hours are estimated until a block is finished.
    """

    experiments: list[Any] = field(metadata={"must": "a list of experiments"})
    stages: list[int] = field(metadata={"must": "a list of numbers of seeds"})
    budget: str = "paper"
    overrides: list[str] = field(default_factory=list)
    microseconds: float = 5.0


@dataclass(frozen=True)
class Leg:
    """One experiment at one stage.

    Attributes:
        stage: its number, from 0. seeds: how many each of its cells gets. before: seeds of the stage before it, or 0.
        plan: all its cells with these seeds. words: those of the command that trains them, without the seeds.
    """

    stage: int
    seeds: int
    before: int
    plan: compose.Plan
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        """The experiment."""
        return self.plan.experiment.name


def load(path: Path) -> File:
    """Read the file of a campaign.

    Raises:
        UsageError for a file that cannot be read, for wrong or missing keys, for experiments that do not exist or that
        stand there twice, and for stages that do not rise.
    """
    if not path.is_file():
        there = "is a folder, a pipe or a device" if path.exists() else "is not there"
        raise UsageError(f"a campaign must be a file with a list of experiments, and {path} {there}.")
    try:
        folders.text(path)
        content = OmegaConf.to_container(OmegaConf.load(path))
    except (yaml.YAMLError, OmegaConfBaseException, UsageError, OSError, ValueError, RecursionError) as error:
        told = f"a campaign must be a file of YAML with a list of experiments, and {path} is none"
        raise UsageError(f"{told}: {str(error).splitlines()[0]}") from None
    check_texts(path.name, content)
    read = filled(File, content, path.name)
    if not read.experiments:
        raise UsageError(f"{path.name} must list at least one experiment.")
    read.experiments = [_entry(given, path.name) for given in read.experiments]
    if not 0 < read.microseconds < math.inf:
        raise UsageError(f"microseconds of {path.name} must be a number above 0, got {read.microseconds}.")
    for override in [*read.overrides, *(one for entry in read.experiments for one in entry.overrides)]:
        refuse_launcher(override)
    names = [entry.experiment for entry in read.experiments]
    for entry in read.experiments:
        if names.count(entry.experiment) > 1:
            raise UsageError(f"{path.name} must list {entry.experiment} once, and has it several times.")
        _check_stages(entry.stages or read.stages, f"{entry.experiment} in {path.name}")
    return read


def legs(campaign: File, machine: Sequence[str]) -> Iterator[Leg]:
    """All experiments at the first stage, then all at the second, ...; `machine` are the words of machine settings."""
    last = max(len(entry.stages or campaign.stages) for entry in campaign.experiments)
    for stage in range(last):
        for entry in campaign.experiments:
            stages = entry.stages or campaign.stages
            if stage < len(stages):
                words = [f"budget={campaign.budget}", *campaign.overrides, *entry.overrides, *machine]
                chosen = experiment.load(entry.experiment)
                plan = compose.plan_experiment(chosen, [*words, f"seeds={stages[stage]}"])
                before = stages[stage - 1] if stage else 0
                yield Leg(stage, stages[stage], before, plan, (entry.experiment, *words))


def refuse_launcher(word: str) -> None:
    """Raise UsageError for a word that is meant for Hydra."""
    if grammar.is_for_hydra(word):
        raise UsageError(
            f"a campaign trains in processes of this machine, device.workers=2 for two, and takes no launcher, got "
            f"'{word}'; launch an experiment alone: nalu-bench run PAPER/ARTIFACT {word}."
        )


def _entry(given: Any, where: str) -> Entry:
    """One element of the list; the experiment must exist."""
    entry = Entry(given) if isinstance(given, str) else filled(Entry, given, f"an experiment of {where}")
    experiment.load(entry.experiment)
    return entry


def _check_stages(stages: Sequence[int], where: str) -> None:
    if not stages or stages[0] < 1 or list(stages) != sorted(set(stages)):
        raise UsageError(f"stages of {where} must rise from at least 1, as [25, 50], got {list(stages)}.")
