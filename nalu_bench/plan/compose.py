"""The plan of a command: the cells that it asks for, with their seeds, checked."""

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from nalu_bench import registry
from nalu_bench.errors import UsageError, unknown
from nalu_bench.models.model import MOST_WIDTH
from nalu_bench.plan import configuration, folders, grammar, limits, looks, processors, sweep
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.experiment import OWN_WIDTH, CellGroup, Experiment
from nalu_bench.plan.grammar import Override, Pair
from nalu_bench.plan.identity import canonical
from nalu_bench.plan.machine import Machine

MACHINE_KEYS = ("device", "compile", "committed", "logger")

RECIPE = "recipe."
"""The start of the keys of a recipe."""

MOST_SEEDS = 100_000
"""A thousand times what papers train; more can only be a slip."""

MOST_WORKERS = 1_024
"""Processes on one machine: a hundred times what is usual."""

END_OF_SEEDS = 2_000_000_000
"""Seeds are stored as signed integers of 32 bits, those of the last block too, which may go on beyond this."""


@dataclass(frozen=True)
class Plan:
    """The cells that a command asks for, and how to compute them.

    Attributes:
        experiment: the experiment, or the sweep as one.
        cells: the cells, in the order of the experiment or of the sweep.
        machine: how to compute.
        budget: the budget's name.
        overrides: the words that were typed, without the budget and machine settings. Results of an experiment with
            any are never published; see `Experiment.changes` for those that are compared with no printed number.
        committed: whether committed results count as done.
        hydra: overrides meant for Hydra, such as the launcher.
        verb: the command that reports it.
    """

    experiment: Experiment
    cells: list[Wanted]
    machine: Machine
    budget: str
    overrides: tuple[str, ...]
    committed: bool
    hydra: list[str]
    verb: str = "report"


def plan_cells(arguments: Sequence[str], multirun: bool, name: str = "") -> Plan:
    """The cell that the overrides describe, or with `multirun` one for every combination of their lists.

    `name` is that of the sweep; it is made of the overrides by default.
    """
    overrides, hydra_overrides = grammar.split(arguments)
    for override in overrides:
        key = override.key_or_group
        if override.is_sweep_override() and (key in ("budget", "seeds") or key.startswith(MACHINE_KEYS)):
            hint = "; it is their number, and first_seed the first of them" if key == "seeds" else ""
            raise UsageError(f"{key} takes one value for all cells, got '{override.input_line}'{hint}.")
    choices = list(grammar.expand(overrides)) if multirun else [grammar.single(overrides)]
    configs, words = [configuration.configure(choice, overrides) for choice in choices], _swept(overrides)
    wanted = [_named(_wanted(config), choice, words) for config, choice in zip(configs, choices, strict=True)]
    _refuse_alike(wanted, choices)
    cells, typed, budget = _merged(wanted), _words(overrides), str(configs[0].budget.name)
    scale = {
        "seeds": max(len(want.seeds) for want in cells), "steps": max(want.cell.recipe.steps for want in cells),
    }  # fmt: skip
    chosen = sweep.experiment(name or sweep.name_of(budget, typed), budget, scale, typed)
    return _plan(chosen, cells, budget, configs[0], overrides, hydra_overrides)


def _refuse_alike(wanted: Sequence[Wanted], choices: Sequence[Sequence[Pair]]) -> None:
    """Raise UsageError for two combinations of a sweep that ask for the same runs, as two copies of a table do."""
    seen: dict[tuple[str, tuple[int, ...]], Sequence[Pair]] = {}
    for want, choice in zip(wanted, choices, strict=True):
        if (other := seen.setdefault((want.cell.digest, want.seeds), choice)) is not choice:
            apart = [f"{key}={mine} and {theirs}" for (key, mine), (_, theirs) in zip(other, choice, strict=True)
                     if str(mine) != str(theirs)]  # fmt: skip
            raise UsageError(
                f"the values of a sweep must ask for different runs, and {', '.join(apart)} ask for the same; leave "
                "one out."
            )


def _swept(overrides: Iterable[Override]) -> dict[str, str]:
    """Key -> word of the values by which a sweep tells its cells apart, beside those that every label has."""
    keys = [override.key_or_group for override in overrides if override.is_sweep_override()]
    keys = [key for key in keys if key not in ("task", "model", "unit", "seeds", "first_seed")]
    short = {key: ".".join(key.split(".")[2:] or key.split(".")[-1:]) for key in keys}
    return {key: word if list(short.values()).count(word) == 1 else key for key, word in short.items()}


def _named(want: Wanted, choice: Iterable[Pair], words: dict[str, str]) -> Wanted:
    """Add the swept values as settings of the cell, other than those that its task names."""
    told = want.cell.task.setting()
    values = {words[key]: value for key, value in choice if key in words}
    return replace(want, settings={word: value for word, value in values.items() if word not in told})


def plan_experiment(experiment: Experiment, arguments: Sequence[str]) -> Plan:
    """The cells of an experiment under one of its budgets.

    An override of a key that the experiment sweeps (model=nac,nalu) chooses among its values; any other holds for
    every cell.
    """
    overrides, hydra_overrides = grammar.split(arguments)
    swept = experiment.swept()
    only = {o.key_or_group: grammar.values(o) for o in overrides if o.key_or_group in swept}
    stated = [*_stated(experiment)] if only else []
    for key, values in only.items():
        known = swept[key] | {str(own[key]) for own in stated if key in own}
        for value in sorted(values - known):
            raise unknown(f"{key} of {experiment.name}", value, known)
    typed = grammar.single(override for override in overrides if override.key_or_group not in swept)
    budget = experiment.budget(dict(typed).get("budget"))
    changed = [(key, value) for key, value in typed if key != "budget"]
    numbers = dict(experiment.budgets[budget])
    given = [*grammar.pairs(numbers.pop("overrides", [])), *changed]
    scale = [(f"budget.{key}", number) for key, number in numbers.items()]
    if budget in folders.files("budget"):  # else a name of the experiment's own: other values are the default's
        scale.insert(0, ("budget", budget))
    choices = ((group, grammar.pairs(choice)) for group in experiment.cells for choice in group.expand(only))
    chosen = list(itertools.islice(choices, grammar.MOST_CELLS + 1))
    grammar.refuse_many(len(chosen), f"the grids of {experiment.name}")
    ordered = [(group, _in_order(scale, own, given, group)) for group, own in chosen]
    pairs = [(group, configuration.configure(values, overrides)) for group, values in ordered]
    if experiment.cells and not pairs:
        asked = " and ".join(f"{key}={','.join(sorted(values))}" for key, values in only.items())
        raise UsageError(
            f"no cell of {experiment.name} has {asked}; nalu-bench status {experiment.name} lists its cells."
        )
    cells = [_told_apart(_wanted(config, group.role), experiment) for group, config in pairs]
    machine = pairs[0][1] if pairs else configuration.configure([*scale, *given], overrides)
    return _plan(experiment, _merged(cells), budget, machine, overrides, hydra_overrides)


def _stated(experiment: Experiment) -> Iterator[dict[str, Any]]:
    """What each group of cells sets beside its grid, for each of its cases."""
    for group in experiment.cells:
        if group.role == "cell":
            yield from (dict(grammar.pairs([*group.overrides, *case])) for case in group.cases)


def _told_apart(want: Wanted, experiment: Experiment) -> Wanted:
    """Add the values of the keys in the experiment's `settings`, other than the usual ones, and its criterion."""
    values = {word: want.cell.value(key) for word, key in experiment.settings.items()}
    usual = experiment.usual
    settings = {word: value for word, value in values.items() if word not in usual or value != usual[word]}
    return replace(want, settings=settings, criterion=experiment.criterion)


def _in_order(scale: list[Pair], own: list[Pair], given: list[Pair], group: CellGroup) -> list[Pair]:
    """Order overrides so that the later of two for one key holds, and multiply the steps by the group's share."""
    seeds = [] if group.seeds is None else [("seeds", group.seeds)]
    pairs = [*scale, *given, *seeds, *own] if group.fixed else [*scale, *seeds, *own, *given]
    steps = dict(pairs)["budget.steps"]
    if type(steps) not in (int, float):
        return pairs  # what it must be is told where all values are checked
    steps *= group.share
    return [*pairs, ("budget.steps", int(steps) if float(steps).is_integer() else steps)]


def _wanted(config: DictConfig, role: str = "cell") -> Wanted:
    """The cell and its seeds, checked."""
    configuration.refuse_resolvers(config)
    try:
        task, model, recipe = (OmegaConf.to_object(config[key]) for key in ("task", "model", "recipe"))
        seeds, first = int(config.seeds), int(config.first_seed)
    except MissingMandatoryValue:
        missing = sorted(OmegaConf.missing_keys(config))
        told = f"{', '.join(missing)} must be set, without a default: add {'=... '.join(missing)}=..."
        raise UsageError(told) from None
    except OmegaConfBaseException as error:
        key = f"{error.full_key}: " if error.full_key else ""
        told = str(error).splitlines()[0].removeprefix("UsageError raised while resolving interpolation: ")
        raise UsageError(f"{key}{told.removesuffix('.')}.") from None
    cell = Cell(task, model, recipe)  # type: ignore[arg-type]
    cell.validate()
    return Wanted(cell, _seeds(first, seeds), role)


@functools.lru_cache(maxsize=8)
def _seeds(first: int, count: int) -> tuple[int, ...]:
    """The seeds asked for; the cells of a plan share one tuple."""
    if count < 1:
        raise UsageError(f"seeds must be at least 1, got {count}.")
    if count > MOST_SEEDS:
        raise UsageError(f"seeds must be at most {MOST_SEEDS:,}, got {count:,}.")
    if first < 0:
        raise UsageError(f"first_seed must be at least 0, got {first}.")
    if first + count > END_OF_SEEDS:
        raise UsageError(f"first_seed + seeds must be at most {END_OF_SEEDS:,}, got {first + count:,}.")
    return tuple(range(first, first + count))


def _words(overrides: Iterable[Override]) -> tuple[str, ...]:
    """The words that were typed, without the budget and machine settings; blocks of another width have other bits."""
    keys = {one.key_or_group for one in overrides if not one.key_or_group.startswith(MACHINE_KEYS)} - {"budget"}
    return tuple(str(one.input_line) for one in overrides if one.key_or_group in {*keys, OWN_WIDTH})


def _plan(
    experiment: Experiment, cells: list[Wanted], budget: str, config: DictConfig, overrides: Iterable[Override],
    hydra_overrides: list[str],
) -> Plan:  # fmt: skip
    try:
        workers, width = config.device.workers, config.device.width
        compiled, committed, logger = config.compile, config.committed, config.logger
    except OmegaConfBaseException as error:
        raise UsageError(str(error).splitlines()[0]) from None
    if workers is None:  # a launcher runs cells side by side itself
        workers = 1 if hydra_overrides else processors.usable()
    if not 1 <= workers <= MOST_WORKERS:
        raise UsageError(f"device.workers must be from 1 to {MOST_WORKERS:,}, got {workers:,}.")
    if width is not None and not 1 <= width <= MOST_WIDTH:
        raise UsageError(f"device.width must be from 1 to {MOST_WIDTH:,}, got {width:,}.")
    registry.loggers.entry(logger)
    _check_labels(cells)
    _refuse_unread(cells, overrides)
    machine = Machine(config.device.name, compiled, workers, width, logger)
    return Plan(experiment, cells, machine, budget, _words(overrides), bool(committed), hydra_overrides)


def _refuse_unread(cells: Sequence[Wanted], overrides: Iterable[Override]) -> None:
    """Raise UsageError for a value of the recipe that was typed, and has no effect in any cell."""
    keys = [one.key_or_group.removeprefix(RECIPE) for one in overrides if one.key_or_group.startswith(RECIPE)]
    for key in keys:
        without = [want.cell.unread_with(key) for want in cells]
        if without and all(without):
            raise UsageError(
                f"{RECIPE}{key} has no effect with {without[0]}; set that, too, or leave {RECIPE}{key} out."
            )


def _check_labels(cells: Iterable[Wanted]) -> None:
    """Raise UsageError for a model or an operation whose label no table can show, before it is trained."""
    shown = {(want.cell.model.name, want.cell.task.name, want.setting().get("operation")) for want in cells}
    for model, task, operation in shown:
        looks.of_model(model)
        looks.of_operation(task, str(operation))


def _merged(cells: Iterable[Wanted]) -> list[Wanted]:
    """Merge the entries of one cell and unite their seeds: a sweep over seeds asks for the same cell more than once.

    Raises:
        UsageError for two cells whose numbers differ by less than single precision holds: both would give the same.
    """
    merged: dict[tuple[str, str], Wanted] = {}
    apart: dict[str, Wanted] = {}
    for want in cells:
        same = apart.setdefault(canonical(limits.single(want.cell.identity())), want)
        if same.cell.digest != want.cell.digest:
            raise UsageError(
                f"cells must differ by more than single precision holds (7 digits), and {same.label()} and "
                f"{want.label()} do not; leave one out."
            )
        key = (want.cell.digest, want.role)
        if key in merged:
            want = replace(want, seeds=tuple(sorted({*want.seeds, *merged[key].seeds})))
        merged[key] = want
    return list(merged.values())
