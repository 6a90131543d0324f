"""Cells as jobs of a Hydra launcher: serial, joblib, submitit (this machine or Slurm), ray.

`conf/launch/launchers.yaml` holds what each launcher needs beside its own defaults.
"""

import contextlib
import functools
import os
import re
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from nalu_bench import paths
from nalu_bench.errors import UsageError, unknown
from nalu_bench.plan import processors
from nalu_bench.plan.config_groups import VERSION_BASE

CHOICE = "hydra/launcher"

BATCH = "hydra.sweeper.max_batch_size"


class LaunchError(Exception):
    """The launcher ended before all jobs were done: a process died, or the cluster cannot be reached."""


@dataclass
class Variable:
    """A variable of the environment, set where nobody has set it and no override gives the key `unless`."""

    value: str
    unless: str | None = None


@dataclass
class Preset:
    """What a launcher needs.

    Attributes:
        extra: the extra of this package that installs it.
        constraints: the file of versions that go with it.
        overrides: options, each used unless the command line gives the same one.
        environment: variables by name.
    """

    extra: str
    constraints: str = "constraints.txt"
    overrides: list[str] = field(default_factory=list)
    environment: dict[str, Variable] = field(default_factory=dict)


@dataclass
class Launchers:
    """The schema of launchers.yaml, and the values that it may refer to."""

    workers: int
    side_by_side: int
    secret: str
    presets: dict[str, Preset] = field(default_factory=dict)


def check(hydra_overrides: Sequence[str]) -> None:
    """Raise UsageError if the launcher that the overrides choose is not installed, or would start no job at a time."""
    _preset(hydra_overrides, workers=1)
    for key, _, value in (override.partition("=") for override in hydra_overrides):
        if key == BATCH and not re.fullmatch("0*[1-9][0-9]*|null", value):
            raise UsageError(f"{BATCH} must be a number of jobs, at least 1, got {value!r:.60}.")


def sweep(
    job: Callable[[int], None], indices: Sequence[int], hydra_overrides: Sequence[str], root: Path, workers: int = 1
) -> None:
    """Run job(index) for every index through the Hydra launcher that the overrides choose.

    Args:
        job: a picklable function, run in the current folder; it must store its own outcome, because nothing is
            returned.
        indices: one Hydra job each.
        hydra_overrides: such as `hydra/launcher=joblib`.
        root: where the sweep makes a folder of its own for the launcher's files; it is removed if all goes well.
        workers: processes inside one job.

    Raises:
        UsageError for a launcher that is not installed, and for options that it does not have.
        LaunchError if the launcher gives up; jobs that it has started may still run.
    """
    preset = _preset(hydra_overrides, workers)
    folder = _own_folder(root)
    application = hydra.main(version_base=VERSION_BASE, config_path=str(paths.conf_dir() / "launch"), config_name="job")
    arguments = ["--multirun", f"index={','.join(map(str, indices))}", f"hydra.sweep.dir={folder}"]
    arguments += [*_not_given(preset.overrides, hydra_overrides), *hydra_overrides]
    with _as_command(["nalu-bench", *arguments], _environment(preset, hydra_overrides)):
        try:
            application(functools.partial(_run_job, job, os.getcwd()))()
        except (HydraException, OmegaConfBaseException) as error:
            shutil.rmtree(folder)
            raise UsageError(f"Hydra cannot launch with {' '.join(hydra_overrides)}: {_one_line(error)}") from None
        except Exception as error:  # each launcher has errors of its own
            told = f"{type(error).__name__}: {_one_line(error)}"
            raise LaunchError(f"the launcher stopped, its files are in {folder}: {told}") from error
    shutil.rmtree(folder, ignore_errors=True)  # on a network's disk, a job's log may still be open


def _preset(hydra_overrides: Sequence[str], workers: int) -> Preset:
    """The preset of the chosen launcher; an empty one for a launcher that this package does not know.

    Raises:
        UsageError if the launcher is not installed.
    """
    given = [override.partition("=")[2] for override in hydra_overrides if _key(override) == CHOICE]
    name = given[-1] if given else "basic"
    side_by_side = max(1, processors.usable() // workers)
    values = Launchers(workers, side_by_side, secrets.token_hex(32))
    config = OmegaConf.merge(OmegaConf.structured(values), OmegaConf.load(paths.conf_dir() / "launch/launchers.yaml"))
    launchers: Any = OmegaConf.to_object(config)
    preset: Preset | None = launchers.presets.get(name)
    Plugins.instance()  # finds the launchers that are installed, and stores their options
    installed = [file.removesuffix(".yaml") for file in ConfigStore.instance().list(CHOICE)]
    if name not in installed:
        raise unknown(CHOICE, name, installed) if preset is None else _missing(name, preset)
    return preset or Preset(extra="")


def _missing(name: str, preset: Preset) -> UsageError:
    return UsageError(
        f"{CHOICE}={name} needs the extra [{preset.extra}], which is not installed: pip install "
        f"'nalu_bench[{preset.extra}]', with -c {preset.constraints} for the versions that are tested."
    )


def _key(override: str) -> str:
    return override.lstrip("+~").partition("=")[0]


def _not_given(overrides: Sequence[str], hydra_overrides: Sequence[str]) -> list[str]:
    """The overrides whose keys the command line does not give."""
    given = {_key(override) for override in hydra_overrides}
    return [override for override in overrides if _key(override) not in given]


def _environment(preset: Preset, hydra_overrides: Sequence[str]) -> dict[str, str]:
    given = {_key(override) for override in hydra_overrides}
    wanted = {name: one.value for name, one in preset.environment.items() if one.unless not in given}
    return {name: value for name, value in wanted.items() if name not in os.environ}


def _own_folder(root: Path) -> Path:
    """A new folder: two sweeps of the same second must not share one."""
    root.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=time.strftime("%Y-%m-%d_%H-%M-%S_"), dir=root))


@contextlib.contextmanager
def _as_command(arguments: Sequence[str], variables: Mapping[str, str]) -> Iterator[None]:
    """Within, the process has these arguments, as Hydra reads them, and variables; exceptions reach the caller."""
    variables = {"HYDRA_FULL_ERROR": "1", **variables}
    before, argv = {name: os.environ.get(name) for name in variables}, sys.argv
    os.environ.update(variables)
    sys.argv = list(arguments)
    try:
        yield
    finally:
        sys.argv = argv
        for name, value in before.items():
            os.environ.pop(name)
            os.environ.update({} if value is None else {name: value})


def _one_line(error: BaseException) -> str:
    """The lines of an error and of its cause as one, without a traceback that came as text from another process."""
    told = str(error).partition("Traceback (most recent call last)")[0] or str(error)
    cause = f" {error.__cause__}" if isinstance(error.__cause__, OmegaConfBaseException) else ""
    return " ".join(f"{told}{cause}".split())


def _run_job(job: Callable[[int], None], folder: str, config: DictConfig) -> None:
    """Run a job in the folder of the command, where relative paths begin; Hydra may be in another."""
    with contextlib.chdir(folder) if os.path.isdir(folder) else contextlib.nullcontext():  # as on another machine
        job(int(config.index))
