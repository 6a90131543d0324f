"""Configurations: their schemas, their composition and their checks. Only this module and `launch` know Hydra.

Hydra composes the groups (task, model, recipe, budget, device) from `conf/`. OmegaConf then sets the values
(`task.operation=mul`), typed by the schemas. We check first that every key exists, because Hydra accepts `+typo=1`.
"""

import contextlib
import difflib
import functools
import itertools
import math
import re
import shlex
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, cast

import yaml
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import ConfigKeyError, MissingMandatoryValue, OmegaConfBaseException

from nalu_bench import paths, registry
from nalu_bench.errors import UsageError, unknown
from nalu_bench.models.model import MOST_WIDTH, Model
from nalu_bench.plan import folders, limits, looks, processors, schemas, sweep, unit_files
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.experiment import OWN_WIDTH, Budget, CellGroup, Experiment
from nalu_bench.plan.identity import canonical
from nalu_bench.plan.machine import Machine
from nalu_bench.plan.names import refuse_repeated
from nalu_bench.plan.recipe import Recipe
from nalu_bench.tasks.task import Task

QUOTED = re.compile(r"""(["'])(?:\\.|(?!\1).)*\1""")
"""A text in quotes."""

BETWEEN = re.compile(r"[\s,\[\](){}:]+")
"""What stands between the words of a value."""

Pair = tuple[str, Any]
"""A key and the value it is given."""

GROUPS = ("task", "model", "recipe", "budget", "device")
MACHINE_KEYS = ("device", "compile", "committed", "logger")
VERSION_BASE = "1.3"

HYDRA = ("hydra/launcher", "hydra.launcher", "hydra.sweeper.max_batch_size", "hydra.job.chdir")
"""The words for Hydra that a launcher of jobs reads, and `hydra.job.chdir`, which changes nothing here."""

SHOWN = ("model.label", "model.look")
"""Keys that tables and figures read from the file of a model."""

RECIPE = "recipe."
"""The start of the keys of a recipe."""

MOST_SEEDS = 100_000
"""A thousand times what papers train; more can only be a slip."""

MOST_CELLS = 10_000
"""Cells of a sweep; the largest experiment has some hundreds."""

MOST_WORKERS = 1_024
"""Processes on one machine: a hundred times what is usual."""

END_OF_SEEDS = 2_000_000_000
"""Seeds are stored as signed integers of 32 bits, those of the last block too, which may go on beyond this."""


@dataclass
class SharedBudget(Budget):
    """A budget of `conf/budget`, for any cell; `compile` as in `Machine`."""

    name: str
    compile: bool | None


@dataclass
class Device:
    """A machine setting.

    Attributes:
        name: torch's device.
        workers: blocks trained side by side; None for as many as there are processors that may be used, or for a single
            one under a Hydra launcher.
        width: seeds of a block; None for the model's width.
    """

    name: str
    workers: int | None
    width: int | None


@dataclass
class Config:
    """All values that a command can set."""

    task: Any
    model: Any
    recipe: Recipe
    budget: SharedBudget
    device: Device
    seeds: int
    first_seed: int
    compile: bool | None
    committed: bool
    logger: str


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
    overrides, hydra_overrides = _split(arguments)
    for override in overrides:
        key = override.key_or_group
        if override.is_sweep_override() and (key in ("budget", "seeds") or key.startswith(MACHINE_KEYS)):
            hint = "; it is their number, and first_seed the first of them" if key == "seeds" else ""
            raise UsageError(f"{key} takes one value for all cells, got '{override.input_line}'{hint}.")
    choices = list(_expand(overrides)) if multirun else [_single(overrides)]
    configs, words = [_configure(choice, overrides) for choice in choices], _swept(overrides)
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
    overrides, hydra_overrides = _split(arguments)
    swept = experiment.swept()
    only = {o.key_or_group: _values(o) for o in overrides if o.key_or_group in swept}
    for key, values in only.items():
        for value in sorted(values - swept[key]):
            raise unknown(f"{key} of {experiment.name}", value, swept[key])
    typed = _single(override for override in overrides if override.key_or_group not in swept)
    budget = experiment.budget(dict(typed).get("budget"))
    changed = [(key, value) for key, value in typed if key != "budget"]
    numbers = dict(experiment.budgets[budget])
    given = [*_pairs(numbers.pop("overrides", [])), *changed]
    scale = [(f"budget.{key}", number) for key, number in numbers.items()]
    if budget in group_names("budget"):  # else a name of the experiment's own: other values are the default's
        scale.insert(0, ("budget", budget))
    choices = ((group, choice) for group in experiment.cells for choice in group.expand(only))
    few = list(itertools.islice(choices, MOST_CELLS + 1))
    _refuse_many(len(few), f"the grids of {experiment.name}")
    pairs = [(group, _configure(_in_order(scale, _pairs(choice), given, group), overrides)) for group, choice in few]
    if experiment.cells and not pairs:
        asked = " and ".join(f"{key}={','.join(sorted(values))}" for key, values in only.items())
        raise UsageError(f"no cell of {experiment.name} has {asked}.")
    cells = [_told_apart(_wanted(config, group.role), experiment) for group, config in pairs]
    machine = pairs[0][1] if pairs else _configure([*scale, *given], overrides)
    return _plan(experiment, _merged(cells), budget, machine, overrides, hydra_overrides)


def _told_apart(want: Wanted, experiment: Experiment) -> Wanted:
    """Add the values of the keys in the experiment's `settings`, other than the usual ones, and its criterion."""
    values = {word: want.cell.value(key) for word, key in experiment.settings.items()}
    usual = experiment.usual
    settings = {word: value for word, value in values.items() if word not in usual or value != usual[word]}
    return replace(want, settings=settings, criterion=experiment.criterion)


def _values(override: Override) -> set[str]:
    """The values of an override, one or a list of them, as Python writes them."""
    return {str(_parse(f"value={text}").value()) for text in _texts(override)}


def _in_order(scale: list[Pair], own: list[Pair], given: list[Pair], group: CellGroup) -> list[Pair]:
    """Order overrides so that the later of two for one key holds, and multiply the steps by the group's share."""
    seeds = [] if group.seeds is None else [("seeds", group.seeds)]
    pairs = [*scale, *given, *seeds, *own] if group.fixed else [*scale, *seeds, *own, *given]
    steps = dict(pairs)["budget.steps"] * group.share
    return [*pairs, ("budget.steps", int(steps) if float(steps).is_integer() else steps)]


def group_files(group: str) -> dict[str, Path]:
    """Name -> YAML file of all that a group offers: shipped, of installed packages and the user's."""
    return folders.files(group)


def group_names(group: str) -> list[str]:
    """The names that a group offers."""
    return list(group_files(group))


def configuration(arguments: Sequence[str]) -> dict[str, Any]:
    """All values of the cell that the overrides describe."""
    overrides = _split(arguments)[0]
    config = _configure(_single(overrides), overrides)
    try:
        return {str(key): value for key, value in OmegaConf.to_container(config, resolve=True).items()}  # type: ignore[union-attr]
    except OmegaConfBaseException as error:
        raise UsageError(str(error).splitlines()[0]) from None


def is_for_hydra(argument: str) -> bool:
    """Whether an override is meant for Hydra, such as a launcher; no file may hold one, as launchers run commands."""
    return argument.lstrip("+~").startswith("hydra")


def _split(arguments: Sequence[str]) -> tuple[list[Override], list[str]]:
    """Our overrides, parsed, and those for Hydra."""
    ours = [argument for argument in arguments if not is_for_hydra(argument)]
    hydra_overrides = [argument for argument in arguments if is_for_hydra(argument)]
    for argument in hydra_overrides:
        if not f"{argument.lstrip('+~').partition('=')[0]}.".startswith(tuple(f"{word}." for word in HYDRA)):
            raise UsageError(
                f"a word for Hydra must be one that a launcher reads, {', '.join(HYDRA)}, got {argument!r:.100}; leave "
                "it out."
            )
    for argument in ours:
        if "=" not in argument or argument.startswith("~") or "@" in argument.partition("=")[0]:
            raise UsageError(f"an override must look like key=value, got '{argument}'.")
    refuse_repeated(arguments)
    return [_parse(argument) for argument in ours], hydra_overrides


@functools.lru_cache(maxsize=4096)
def _parse(argument: str) -> Override:
    try:
        return OverridesParser.create().parse_override(argument)
    except RecursionError:
        raise UsageError(f"brackets must not be nested so deeply, got {argument!r:.60}; write fewer of them.") from None
    except HydraException:
        raise UsageError(f"cannot read '{argument}': {_readable(argument)}.") from None


def _readable(argument: str) -> str:
    """What to do about an override that cannot be read: the form of a text that can be, if there is one."""
    key, _, value = argument.partition("=")
    if not re.fullmatch(r"[+~]*[A-Za-z_][A-Za-z0-9_.@/]*", key):
        return f"a key consists of letters from a to z, digits, '_' and '.', got '{key}'"
    if re.search(r"(^|,)\s*(,|$)", value):
        return f"a value must stand before and after every comma, got {value!r:.60}"
    inner = re.fullmatch(r"\[(.*)\]", value)
    texts = [f"{key}=[{','.join(map(_in_quotes, inner[1].split(',')))}]"] if inner else []
    for text in (*texts, f"{key}={_in_quotes(value)}"):
        with contextlib.suppress(HydraException):
            OverridesParser.create().parse_override(text)
            return f"a text with special characters needs quotes of its own: {shlex.quote(text)}"
    return "brackets must match, special characters need quotes"


def _in_quotes(text: str) -> str:
    return '"' + text.strip().replace('"', r"\"") + '"'


def _texts(override: Override) -> list[str]:
    """The values of an override, one or a list of them, as Hydra writes them."""
    if not override.is_sweep_override():
        return [override.get_value_element_as_str()]
    try:
        found = list(itertools.islice(override.sweep_string_iterator(), MOST_CELLS + 1))
    except (HydraException, ArithmeticError, ValueError):  # the latter two for a range without a step, or an end
        found = []
    if repeated := next((text for text in found if found.count(text) > 1), None):
        raise UsageError(f"'{override.input_line}' must list every value once, got {repeated} again.")
    if not found:
        raise UsageError(
            f"'{override.input_line}' lists no values; write them with commas, as {override.key_or_group}=a,b, or as "
            "choice(a,b) or range(1,5), with finite ends and a step that is not 0."
        )
    return found


def _single(overrides: Iterable[Override]) -> list[Pair]:
    pairs = []
    for override in overrides:
        if override.is_sweep_override():
            raise UsageError(
                f"'{override.input_line}' lists several values, where an experiment and `show` take one; add -m to "
                "`run`, `status` or `report` of a task and a model to sweep over them, or write a list in brackets."
            )
        pairs.append((override.key_or_group, override.value()))
    return pairs


def _expand(overrides: Iterable[Override]) -> Iterator[list[Pair]]:
    axes = [[f"{override.key_or_group}={text}" for text in _texts(override)] for override in overrides]
    _refuse_many(math.prod(map(len, axes)), "these lists")
    for choice in itertools.product(*axes):
        yield _pairs(choice)


def _refuse_many(count: int, what: str) -> None:
    if count > MOST_CELLS:
        raise UsageError(f"a sweep must have at most {MOST_CELLS:,} cells, and {what} give more; shorten them.")


def _pairs(arguments: Iterable[str]) -> list[Pair]:
    """The pairs of overrides that stand in a file; Hydra's own, such as a launcher's `_target_`, are refused there."""
    ours, hydra_overrides = _split(list(arguments))
    if hydra_overrides:
        raise UsageError(f"an experiment cannot set '{hydra_overrides[0]}'; give it on the command line.")
    return _single(ours)


def _configure(pairs: Sequence[Pair], typed: Sequence[Override] = ()) -> DictConfig:
    """Compose the groups, then set the values; `typed` are those of the command itself."""
    chosen = {key: value for key, value in pairs if key in GROUPS}
    units = next((tuple(unit_files.names_of(value)) for key, value in pairs if key == unit_files.GROUP), None)
    if units == ():
        raise UsageError(f"unit= must name at least one unit, one of {', '.join(unit_files.files())}.")
    units = units or ()
    if units:
        chosen.setdefault("model", unit_files.SHAPE)
    for group, name in chosen.items():
        if str(name) not in group_names(group):
            raise folders.unknown(group, str(name), group_names(group))
    if units and (called := unit_files.called(str(chosen["model"]), units)) in group_names("model"):
        chosen["model"], units = called, ()
    groups = tuple(f"{group}={name}" for group, name in sorted(chosen.items()))
    config = _with_units(groups, units).copy()
    _refuse_both(config, typed)
    for penalty, told in _undecided(groups, units).items():
        if not any(f"{key}.".startswith(f"model.penalties.{penalty}.") for key, _ in pairs):
            warnings.warn(told, stacklevel=2)
    for key, value in pairs:
        if key not in (*GROUPS, unit_files.GROUP):
            _set(config, _keys_of(groups, units), key, value)
    _refuse_rewritten(config, typed)
    return config


def _refuse_both(config: DictConfig, typed: Sequence[Override]) -> None:
    """Raise UsageError for a value that is that of the budget if nothing else is said, and for which both are said."""
    keys = [override.key_or_group for override in typed]
    for key in keys:
        parent, _, last = key.rpartition(".")
        if (budget := f"budget.{last}") in keys and key != budget:
            level: Any = _selected(config, parent) if parent else config
            if OmegaConf.is_dict(level) and last in level and level._get_node(last)._value() == f"${{{budget}}}":
                raise UsageError(f"{key} takes the place of {budget}, got both; leave one of them out.")


def _refuse_rewritten(config: DictConfig, typed: Sequence[Override]) -> None:
    """Raise UsageError for a text without quotes that was read as something else: 1_1 as 11, true as True."""
    for override in typed:
        line = override.input_line or ""
        for word, read in _rewritten(line):
            if read in _present(config, override.key_or_group):
                quoted = re.sub(rf"(?<![\w.\"']){re.escape(word)}(?![\w.\"'])", _in_quotes(word), line)
                raise UsageError(
                    f"{override.key_or_group} takes texts, and {word} is read as {read}: put it in quotes, as in "
                    f"{shlex.quote(quoted)}."
                )


@functools.lru_cache(maxsize=4096)
def _rewritten(argument: str) -> list[Pair]:
    """The words without quotes in the value of an override that are read as numbers, and written otherwise as such."""
    words = filter(None, BETWEEN.split(QUOTED.sub("", argument.partition("=")[2])))
    read = [(word, _parse(f"value={word}").value()) for word in words]
    return [(word, str(value)) for word, value in read if isinstance(value, int | float) and str(value) != word]


def _present(config: DictConfig, key: str) -> list[Any]:
    """The value of a key, or those in its list."""
    found = _selected(config, key)
    return list(found) if OmegaConf.is_list(found) else [found]


def _selected(config: DictConfig, key: str) -> Any:
    """The value of a key; None for a reference that leads nowhere, which is told elsewhere unless it is replaced."""
    try:
        return OmegaConf.select(config, key, throw_on_missing=False)
    except (OmegaConfBaseException, RecursionError):
        return None


@functools.cache
def _keys_of(groups: tuple[str, ...], units: tuple[str, ...]) -> list[str]:
    """All keys of a composed configuration."""
    return list(_keys(_with_units(groups, units)))


@functools.cache
def _with_units(groups: tuple[str, ...], units: tuple[str, ...]) -> DictConfig:
    """The composed configuration with units at the places of its model: those that its file names, or `units`.

    Raises:
        UsageError for units of a model that names its own or has no place for them, and for a shape without units.
    """
    config = _composed(groups)
    model, kind = config.model, cast(type[Model], OmegaConf.get_type(config, "model"))
    shape, open_ = str(model.name), model.of == []
    if units and not open_:
        raise UsageError(
            f"model={shape} takes no unit=: leave it out, or choose a shape, one of {', '.join(shapes())}."
        )
    if open_ and not units:
        raise UsageError(f"model={shape} needs its units: unit=NAME, one of {', '.join(unit_files.files())}.")
    if model.get("of") is None and not units:
        return config
    stated = cast(dict[str, Any], OmegaConf.to_container(model))
    names = list(units) or unit_files.names_of(stated["of"])
    free = {key: count for key, count in kind.places.items() if OmegaConf.is_missing(model, key)}
    found = unit_files.placed(free, names)
    found["penalties"] |= stated["penalties"]
    if units:
        found |= {"of": names, "name": unit_files.called(shape, names)}
    with open_dict(config.copy()) as open_config:  # Hydra's result takes no new keys, and penalties are such
        return cast(DictConfig, OmegaConf.merge(open_config, {"model": found}))


@functools.cache
def _undecided(groups: tuple[str, ...], units: tuple[str, ...]) -> dict[str, str]:
    """Penalty -> a warning, for those of which units differ in their factor and the model's file names none."""
    model = _composed(groups).model
    names = list(units) or unit_files.names_of(model.get("of") or [])
    return {name: told for name, told in unit_files.differing(names).items() if name not in model.penalties}


def shapes() -> list[str]:
    """The models whose file leaves its units open, for `unit=`. This reads the files of all models."""
    return [name for name, path in group_files("model").items() if folders.stated(path).get("of") == []]


def _set(config: DictConfig, keys: Sequence[str], key: str, value: Any) -> None:
    if key not in keys:
        raise _unknown_key(key, keys)
    if key == "model.of":
        raise UsageError("model.of tells the units of a model and cannot be set; choose them with unit=...")
    if key.endswith((".name", ".kind")):
        raise UsageError(f"{key} names a configuration and cannot be set; choose one with {key.split('.')[0]}=...")
    if key in SHOWN:
        raise UsageError(f"{key} is for tables and figures, and stands in the file of the model: change it there.")
    inner = _selected(config, key)
    if OmegaConf.is_dict(inner) and not isinstance(value, dict):
        told = f"{key}.{next(iter(inner), 'NAME')}"
        raise UsageError(
            f"{key} holds {', '.join(map(str, inner)) or 'nothing'}: set one of them, as in {told}={value}."
        )
    if isinstance(inner, bool) and not isinstance(value, bool | None):
        raise UsageError(f"{key} must be true or false, got '{value}'.")
    try:
        if isinstance(value, dict) or (isinstance(value, list) and any(isinstance(one, dict) for one in value)):
            kind = OmegaConf.get_type(inner) if OmegaConf.is_dict(inner) else None
            empty = OmegaConf.structured(kind) if is_dataclass(kind) else type(value)()
            OmegaConf.update(config, key, empty, merge=False)  # the new value takes the place of the old one
            config.merge_with(functools.reduce(lambda inner, part: {part: inner}, reversed(key.split(".")), value))
        else:
            OmegaConf.update(config, key, value, merge=False)
    except OmegaConfBaseException as error:
        if "is not a ListConfig" in str(error):
            raise UsageError(f"{key} must be a list, got '{value}': write '{key}=[{value}]'.") from None
        if isinstance(error, ConfigKeyError) and is_dataclass(error.object_type):
            known = [entry.name for entry in fields(cast(Any, error.object_type))]
            raise unknown(f"key of {key}", str(error.key), known) from None
        group, _, last = key.rpartition(".")
        form = schemas.form(OmegaConf.get_type(config, group or None), last)
        raise UsageError(
            f"{key} must be {form}, got '{value}'." if form else f"{key}: {str(error).splitlines()[0]}."
        ) from None


def _unknown_key(key: str, keys: Sequence[str]) -> UsageError:
    """The error for an unknown key. It suggests the nearest with the same last part, or else one of the same level."""
    parent, _, last = key.rpartition(".")
    same = [known for known in keys if known.rpartition(".")[2] == last]
    if same:
        near = difflib.get_close_matches(parent, [known.rpartition(".")[0] for known in same], n=1, cutoff=0)
        return UsageError(f"unknown key '{key}'; did you mean '{'.'.join([*filter(None, near), last])}'?")
    level = [known for known in keys if known.rpartition(".")[0] == parent]
    return unknown("key", key, level or [known for known in keys if "." not in known])


def _keys(config: Any, prefix: str = "") -> Iterator[str]:
    """All keys of a configuration, dotted, branches included."""
    if OmegaConf.is_dict(config):
        for key in config:
            yield f"{prefix}{key}"
            if not OmegaConf.is_missing(config, key) and not OmegaConf.is_interpolation(config, key):
                yield from _keys(config[key], f"{prefix}{key}.")


@functools.cache
def _composed(groups: tuple[str, ...]) -> DictConfig:
    _register_schemas()
    GlobalHydra.instance().clear()
    shipped, *others = folders.of_configurations()
    for group in groups:
        for path in _with_bases(*group.split("=", 1)):
            _check_file(path)
    try:
        with initialize_config_dir(version_base=VERSION_BASE, config_dir=str(shipped)):
            return _typed(
                compose("config", overrides=[*groups, f"hydra.searchpath=[{','.join(map(_quoted, others))}]"]), groups
            )
    except RecursionError:
        raise UsageError(
            f"cannot compose {' '.join(groups)}: the `defaults` of a file must not lead back to the file itself."
        ) from None
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, OSError, ValueError) as error:
        for schema, reason in _register_schemas().items():
            if schema in str(error):
                raise reason from None
        told = f"cannot compose {' '.join(groups) or 'the defaults'}: {paths.gone() or error}"
        raise UsageError(_fault_of_file(error) or " ".join([told, *folders.installed().lost])) from None


def _check_file(path: Path) -> None:
    """Raise UsageError for what Hydra or YAML would read as something else, such as the label `no`."""
    if re.search(r"^\s*#\s*@package\b", folders.text(path), re.MULTILINE):
        raise UsageError(
            f"{path} must have the keys of its folder, and `# @package` gives it others; remove that line."
        )
    bases = folders.stated(path).get("defaults")
    for base in bases if isinstance(bases, list) else []:
        if not isinstance(base, str) or "/" in base:
            raise UsageError(f"{path}: `defaults` must name files of its own folder, got {base!r:.60}.")
    label = folders.values(path).get("label", "")
    if not isinstance(label, str):
        raise UsageError(f"{path}: label must be a text, got {label!r:.60}; put it in quotes.")


def _with_bases(group: str, name: str) -> dict[Path, None]:
    """The YAML file of a name, and those of the names in its `defaults`, on which it builds."""
    files, found, left = group_files(group), dict[Path, None](), [name]
    while left:
        if (path := files.get(str(left.pop()))) and path not in found:
            found[path] = None
            bases = folders.stated(path).get("defaults")
            left += bases if isinstance(bases, list) else []
    return found


def _fault_of_file(error: Exception) -> str:
    """What a file of a group must hold and does not, where Hydra's error is about one of its keys; else empty."""
    file, cause = re.match(r"In '(\w+)/([^']+)'", str(error)), error.__cause__ or error.__context__
    schema = getattr(cause, "object_type", None)
    if file is None or not isinstance(cause, OmegaConfBaseException) or not is_dataclass(schema):
        return ""
    where, key, known = f"{file[1]}/{file[2]}.yaml", str(cause.key), [entry.name for entry in fields(schema)]
    if key not in known:
        return str(unknown(f"key of {where}", key, known))
    value = folders.stated(group_files(file[1])[file[2]]).get(key)
    return f"{where}: {key} must be {schemas.form(cast(type, schema), key) or 'of its type'}, got {value!r:.60}."


def _typed(config: DictConfig, groups: Sequence[str]) -> DictConfig:
    """The configuration, if each group's file says what it describes, and sets what no command can."""
    files = dict(group.split("=", 1) for group in groups)
    for key, schema in (("task", Task), ("model", Model), ("recipe", Recipe)):
        kind = OmegaConf.get_type(config, key)
        if kind is None or not issubclass(kind, schema):
            raise UsageError(f"the file of a {key} must begin with: defaults: [<kind>_schema, _self_]")
        for fixed in ("kind", "name"):
            if OmegaConf.is_missing(config[key], fixed):
                raise UsageError(f"{key}/{files.get(key, '*')}.yaml must set {fixed}.")
    for key, file in files.items():
        if (stated := str(config[key].name)) != file:
            raise UsageError(
                f"{key}/{file}.yaml must say name: {file}, as its file is called, and have _self_ as the last of its "
                f"`defaults`, got the name {stated}."
            )
    return config


def _quoted(folder: Path) -> str:
    """A folder as an element of Hydra's search path."""
    path = str(folder).replace("'", r"\'")
    return f"'file://{path}'"


@functools.cache
def _register_schemas() -> dict[str, UsageError]:
    """Give Hydra the schemas of all classes; returns schema -> error for those of packages that cannot be loaded."""
    lost = {}
    OmegaConf.register_new_resolver("oc.env", _secret, replace=True)
    store = ConfigStore.instance()
    store.store(name="config_schema", node=Config)
    store.store(group="recipe", name="recipe_schema", node=Recipe)
    store.store(group="budget", name="budget_schema", node=SharedBudget)
    store.store(group="device", name="device_schema", node=Device)
    for kind, classes, base in (("task", registry.tasks, Task), ("model", registry.models, Model)):
        for name in classes.entries:
            try:
                store.store(group=kind, name=f"{name}_schema", node=_schema(classes.entry(name), base))
            except UsageError as error:  # only a cell that needs this class fails
                lost[f"{kind}/{name}_schema"] = error
    return lost


def _secret(name: str, *_: str) -> str:
    """Refuse what `${oc.env:NAME}` asks for: files of others would bring the environment into pages and manifests."""
    raise UsageError(
        f"a configuration must hold its values itself, and one asks for the variable {name}; set the value."
    )


def _schema(entry: registry.Entry, base: type) -> Any:
    """The class of a task or a model, if it can be a schema."""
    found = entry.load()
    if not (isinstance(found, type) and issubclass(found, base)):
        raise UsageError(f"the {entry.kind} {entry.name} at {entry.place} must be a subclass of {base.__name__}.")
    return schemas.structured(found, f"the {entry.kind} {entry.name} at {entry.place}")


RESOLVER = re.compile(r"\$\{\s*[\w.]+\s*:")
"""What asks for more than another key, as `${now:%Y}` does."""


def _refuse_resolvers(config: DictConfig) -> None:
    """Raise UsageError for a value that depends on when and where it is read."""
    raw: Any = OmegaConf.to_container(config, resolve=False)
    for value in _leaves({group: raw[group] for group in ("task", "model", "recipe", "seeds", "first_seed")}):
        if isinstance(value, str) and RESOLVER.search(value):
            raise UsageError(
                f"a configuration must hold its values itself, and one asks for {value!r:.60}; set the value."
            )


def _leaves(value: Any) -> Iterator[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if inner is None:
        yield value
    else:
        for one in inner:
            yield from _leaves(one)


def _wanted(config: DictConfig, role: str = "cell") -> Wanted:
    """The cell and its seeds, checked."""
    _refuse_resolvers(config)
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
