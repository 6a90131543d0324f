"""As many workers as processors may be used: those that a process is bound to, within its share of their time."""

import os
from pathlib import Path

import pytest

from nalu_bench.plan import compose, launch, processors


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is bound to 4 of 128 processors."""
    monkeypatch.setattr(os, "cpu_count", lambda: 128)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 8, 13}, raising=False)
    monkeypatch.setattr(processors, "quotas", lambda: iter([]))


@pytest.mark.usefixtures("bound")
def test_processors_that_a_process_is_not_bound_to_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    assert processors.usable() == compose.plan_cells([], multirun=False).machine.workers == 4
    monkeypatch.delattr(os, "sched_getaffinity")
    assert processors.usable() == 128


@pytest.mark.usefixtures("bound")
@pytest.mark.parametrize(("quotas", "count"), [([8.0], 4), ([2.0, 3.0], 2), ([1.5], 2), ([0.1], 1)])
def test_a_share_of_their_time_counts_too(quotas: list[float], count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "quotas", lambda: iter(quotas))
    assert processors.usable() == compose.plan_cells([], multirun=False).machine.workers == count


def test_a_launcher_starts_as_many_jobs_as_there_are_processors_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "usable", lambda: 6)
    preset = launch._preset(["hydra/launcher=joblib"], workers=2)
    assert preset.overrides == ["hydra.launcher.n_jobs=3"]


@pytest.mark.parametrize(
    ("line", "folder", "files", "quotas"),
    [
        ("0::/job/step", "job", {"cpu.max": "150000 100000"}, [1.5]),
        ("0::/job/step", "job", {"cpu.max": "max 100000"}, []),
        ("4:cpu,cpuacct:/job/step", "cpu/job", {"cpu.cfs_quota_us": "400000", "cpu.cfs_period_us": "100000"}, [4.0]),
        ("4:cpu,cpuacct:/job/step", "cpu/job", {"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"}, []),
        ("4:cpuset:/job/step", "cpuset/job", {"cpuset.cpus": "0-3"}, []),
        ("0::/job/step", "job", {"cpu.max": ""}, []),
    ],
)
def test_the_quota_of_a_group_around_the_process_counts(
    tmp_path: Path, line: str, folder: str, files: dict[str, str], quotas: list[float]
) -> None:
    (tmp_path / folder / "step").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / folder / name).write_text(text + "\n")
    (tmp_path / "groups").write_text(f"1:pids:/\n{line}\n")
    assert list(processors.quotas(tmp_path / "groups", tmp_path)) == quotas
    assert list(processors.quotas(tmp_path / "absent", tmp_path)) == []
