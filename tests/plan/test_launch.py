"""Sweeps of small jobs through the launchers: limits, failures, folders, and what is left in this process."""

import itertools
import os
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.plan import launch, processors

LAUNCHERS = OmegaConf.load(paths.conf_dir() / "launch/launchers.yaml").presets
HERE = [
    ["hydra/launcher=basic"],
    ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"],
    ["hydra/launcher=submitit_local"],
]

JOBS = """
import os, time, pathlib

def note(folder, index):
    began = time.monotonic()
    time.sleep(0.5)
    pathlib.Path(folder, str(index)).write_text(f"{began} {time.monotonic()}")

def here(folder, index):
    pathlib.Path(folder, str(index)).write_text(os.getcwd())

def fail(folder, index):
    note(folder, index)
    if index == 0:
        raise ValueError("job 0 is bad")

def die(folder, index):
    os._exit(9)
"""

Job = Callable[[int], None]


@pytest.fixture
def make_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Job]:
    """A job by name, which notes in tmp_path when it began and ended; other processes can import it."""
    (tmp_path / "launched_jobs.py").write_text(JOBS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "launched_jobs", raising=False)

    def make(name: str) -> Job:
        import functools
        import importlib

        job: Job = functools.partial(getattr(importlib.import_module("launched_jobs"), name), tmp_path)
        return job

    return make


def spans(folder: Path) -> list[list[float]]:
    """When each job began and ended, in the order of their beginnings."""
    return sorted([float(time) for time in path.read_text().split()] for path in folder.glob("[0-9]"))


@pytest.mark.parametrize("overrides", HERE)
def test_every_job_runs_once_and_nothing_stays_behind(
    overrides: list[str], make_job: Callable[[str], Job], tmp_path: Path
) -> None:
    arguments, environment = sys.argv, dict(os.environ)
    launch.sweep(make_job("note"), [0, 1], overrides, tmp_path / "hydra")
    assert len(spans(tmp_path)) == 2
    assert list((tmp_path / "hydra").iterdir()) == []
    assert sys.argv is arguments
    assert {name: os.environ.get(name) for name in environment} == environment
    assert "HYDRA_FULL_ERROR" not in os.environ


@pytest.mark.parametrize("overrides", HERE)
def test_jobs_run_in_the_folder_of_the_command_wherever_hydra_goes(
    overrides: list[str], make_job: Callable[[str], Job], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    launch.sweep(make_job("here"), [0, 1], [*overrides, "hydra.job.chdir=true"], Path("hydra").absolute())
    assert [(tmp_path / name).read_text() for name in "01"] == [str(tmp_path)] * 2
    assert Path.cwd() == tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["joblib", "submitit_local"])
def test_no_more_jobs_run_at_a_time_than_there_are_processors_for(
    launcher: str, make_job: Callable[[str], Job], tmp_path: Path
) -> None:
    launch.sweep(make_job("note"), range(3), [f"hydra/launcher={launcher}"], tmp_path / "hydra", processors.usable())
    assert all(ended <= began for (_, ended), (began, _) in itertools.pairwise(spans(tmp_path)))
    assert len(spans(tmp_path)) == 3


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What Hydra would get: the overrides of the last sweep, and the environment."""
    seen: dict[str, str] = {}

    def application() -> None:
        seen.update(os.environ)
        seen.update(argument.split("=", 1) for argument in sys.argv[2:])

    monkeypatch.setattr(launch.hydra, "main", lambda **_: lambda _: application)
    monkeypatch.setattr(launch.ConfigStore, "list", lambda *_: [f"{name}.yaml" for name in LAUNCHERS])
    monkeypatch.setattr(processors, "usable", lambda: 8)
    return seen


@pytest.mark.parametrize(("given", "limit"), [([], "4"), (["hydra.sweeper.max_batch_size=3"], "3")])
def test_an_option_of_the_command_line_counts_before_ours(
    given: list[str], limit: str, seen: dict[str, str], tmp_path: Path
) -> None:
    launch.sweep(print, [0], ["hydra/launcher=submitit_local", *given], tmp_path, workers=2)
    assert seen["hydra.sweeper.max_batch_size"] == limit
    assert seen["hydra.launcher.timeout_min"] == "525600"


@pytest.mark.parametrize("count", ["0", "-3", "many"])
def test_a_launcher_that_would_start_no_job_is_refused(count: str) -> None:
    with pytest.raises(UsageError, match="must be a number of jobs, at least 1, got"):
        launch.check([f"hydra.sweeper.max_batch_size={count}"])


def test_ray_gets_a_key_of_its_own_unless_it_joins_a_cluster(seen: dict[str, str], tmp_path: Path) -> None:
    launch.sweep(print, [0], ["hydra/launcher=ray"], tmp_path, workers=2)
    assert seen["hydra.launcher.ray.init.address"] == "local"
    assert seen["+hydra.launcher.ray.remote.num_cpus"] == "2"
    assert len(seen.pop("RAY_AUTH_TOKEN")) == 64
    launch.sweep(print, [0], ["hydra/launcher=ray", "hydra.launcher.ray.init.address=there:6379"], tmp_path)
    assert seen["hydra.launcher.ray.init.address"] == "there:6379"
    assert "RAY_AUTH_TOKEN" not in seen
    assert "RAY_AUTH_TOKEN" not in os.environ


@pytest.mark.parametrize("overrides", HERE)
def test_a_job_that_fails_stops_no_other_and_fails_the_sweep(
    overrides: list[str], make_job: Callable[[str], Job], tmp_path: Path
) -> None:
    with pytest.raises(launch.LaunchError, match="job 0 is bad"):
        launch.sweep(make_job("fail"), [0, 1], overrides, tmp_path / "hydra")
    assert len(spans(tmp_path)) == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of joblib, for the dead process
@pytest.mark.parametrize("overrides", HERE[1:])
def test_a_process_that_dies_fails_the_sweep(
    overrides: list[str], make_job: Callable[[str], Job], tmp_path: Path
) -> None:
    with pytest.raises(launch.LaunchError, match="the launcher stopped"):
        launch.sweep(make_job("die"), [0, 1], overrides, tmp_path / "hydra")


def test_two_sweeps_of_one_second_have_folders_of_their_own(make_job: Callable[[str], Job], tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(launch.LaunchError):
            launch.sweep(make_job("fail"), [0], ["hydra/launcher=basic"], tmp_path / "hydra")
    assert len(list((tmp_path / "hydra").iterdir())) == 2


@pytest.mark.parametrize(
    ("option", "told"),
    [
        ("hydra.launcher.timout_min=1", "Key 'timout_min' not in"),
        ("hydra.launcher.timeout_min=long", "'long' of type 'str' could not be converted to Integer"),
    ],
)
def test_an_option_that_the_launcher_does_not_have_is_refused_in_one_line(
    option: str, told: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        launch.sweep(print, [0], ["hydra/launcher=submitit_local", option], tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", LAUNCHERS)
def test_a_launcher_that_is_missing_names_the_extra_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch.ConfigStore, "list", lambda *_: ["basic.yaml"])
    extras = tomllib.loads((paths.CHECKOUT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    preset = LAUNCHERS[name]
    assert preset.extra in extras
    assert (paths.CHECKOUT / preset.get("constraints", "constraints.txt")).is_file()
    with pytest.raises(UsageError, match=rf"pip install 'nalu_bench\[{preset.extra}\]'"):
        launch.check([f"hydra/launcher={name}"])
