"""The groups of a configuration (task, model, recipe, budget, device), which Hydra composes from files."""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, cast

import yaml
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from nalu_bench import paths, registry
from nalu_bench.errors import UsageError, unknown
from nalu_bench.models.model import Model
from nalu_bench.plan import folders, schemas, unit_files
from nalu_bench.plan.experiment import Budget
from nalu_bench.plan.recipe import Recipe
from nalu_bench.tasks.task import Task

VERSION_BASE = "1.3"


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
    files, found, left = folders.files(group), dict[Path, None](), [name]
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
    value = folders.stated(folders.files(file[1])[file[2]]).get(key)
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


@functools.cache
def with_units(groups: tuple[str, ...], units: tuple[str, ...]) -> DictConfig:
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
def undecided(groups: tuple[str, ...], units: tuple[str, ...]) -> dict[str, str]:
    """Penalty -> a warning, for those of which units differ in their factor and the model's file names none."""
    model = _composed(groups).model
    names = list(units) or unit_files.names_of(model.get("of") or [])
    return {name: told for name, told in unit_files.differing(names).items() if name not in model.penalties}


def shapes() -> list[str]:
    """The models whose file leaves its units open, for `unit=`. This reads the files of all models."""
    return [name for name, path in folders.files("model").items() if folders.stated(path).get("of") == []]
