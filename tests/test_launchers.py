"""Whole commands through Hydra's launchers: their numbers, failures and progress, and the page that explains them."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from omegaconf import OmegaConf

from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.plan.cell import Wanted
from nalu_bench.plan.machine import Machine
from nalu_bench.running import launched, process, progress, runner
from nalu_bench.running.jobs import pending
from nalu_bench.store import schema
from nalu_bench.store.reader import Store
from nalu_bench.training import loop

PAGE = (paths.CHECKOUT / "conf/launch/README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^nalu-bench (run experiment=.* hydra/launcher=(\w+).*)$", PAGE, re.MULTILINE)
SMALL = ["task=ten_parameter", "budget=smoke", "compile=false"]

SBATCH = """#!/bin/sh
# Slurm in small: keep the script, print the array's id, and run every task of the array on this machine.
cp "$1" {folder}/script.sh
last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' "$1")
echo "Submitted batch job 17"
for task in $(seq 0 "$last"); do
    SLURM_JOB_ID=$((18 + task)) SLURM_ARRAY_JOB_ID=17 SLURM_ARRAY_TASK_ID=$task SLURM_NTASKS=1 SLURM_JOB_NUM_NODES=1 \\
        SLURM_NODEID=0 SLURM_PROCID=0 SLURM_LOCALID=0 sh {folder}/script.sh > {folder}/task$task.log 2>&1 &
done
"""

SRUN = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do case "$1" in --output|--error) shift 2;; *) shift;; esac; done
exec "$@"
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store and results of the test's own."""
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    return tmp_path


def run_command(arguments: Sequence[str], **environment: str) -> str:
    """The standard error of a command that must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "nalu_bench", *arguments], capture_output=True, text=True, timeout=280, check=False,
        env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stderr


def stored(home: Path) -> pd.DataFrame:
    """All curves of a store."""
    parts = sorted(home.glob("runs/*/*/*/parts/*/curves.parquet"))
    named = [pd.read_parquet(part).assign(part=str(part.relative_to(home))) for part in parts]
    return pd.concat(named, ignore_index=True)


def in_smoke(example: str) -> list[str]:
    """The arguments of an example of the page, with one of its models and a budget of seconds."""
    return [*shlex.split(re.sub(r"budget=\w+", "budget=smoke", example)), "model=nmu", "compile=false"]


def test_the_page_has_a_paragraph_and_an_example_for_every_launcher_that_we_know() -> None:
    known = list(OmegaConf.load(paths.conf_dir() / "launch/launchers.yaml").presets)
    assert [launcher for _, launcher in EXAMPLES] == known
    assert re.findall(r"^## (\w+)$", PAGE, re.MULTILINE) == [*known, "Trust"]


@pytest.mark.slow
@pytest.mark.parametrize("launcher", ["joblib", pytest.param("submitit_local", marks=pytest.mark.thorough)])
def test_the_example_of_the_page_trains_with_the_numbers_of_one_process(launcher: str, home: Path) -> None:
    example = in_smoke(dict(reversed(pair) for pair in EXAMPLES)[launcher])
    here = [argument for argument in example if not argument.startswith("hydra")]
    run_command([*here, "device.workers=1"], NALU_BENCH_HOME=str(home / "here"))
    assert "blocks 2/2" in run_command(example, NALU_BENCH_HOME=str(home / "there"))
    pd.testing.assert_frame_equal(stored(home / "here"), stored(home / "there"), check_exact=True)
    assert list((home / "there/runs/.hydra").iterdir()) == []


@pytest.mark.slow
def test_slurm_gets_a_script_with_the_options_and_runs_it(home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    programs = tmp_path_factory.mktemp("slurm")
    for name, text in (("sbatch", SBATCH.replace("{folder}", str(programs))), ("srun", SRUN)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    example = in_smoke(dict(reversed(pair) for pair in EXAMPLES)["submitit_slurm"])
    options = ["hydra.launcher.partition=cpu", "device.workers=1"]
    run_command([*example, *options], PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    assert len(list(home.glob("runs/*/*/*/parts/*"))) == 2
    script = (programs / "script.sh").read_text()
    flags = dict(re.findall(r"^#SBATCH --([\w-]+)=(.*)$", script, re.MULTILINE))
    assert flags["array"] == "0-1%2"
    assert flags["time"] == "600"
    assert flags["cpus-per-task"] == "1"
    assert flags["partition"] == "cpu"
    assert flags["signal"] == "USR2@120"
    assert f"{home}/runs/.hydra/" in flags["output"]
    assert f"{sys.executable} -u -m submitit.core._submit" in script


@pytest.fixture
def bad_nau(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training of the model nau raises."""
    train = loop.train_together

    def train_or_raise(requests: Sequence[loop.Request], mode: Any, *rest: Any) -> Any:
        if requests[0].cell.model.name == "nau":
            raise RuntimeError("the unit is bad")
        return train(requests, mode, *rest)

    monkeypatch.setattr(loop, "train_together", train_or_raise)


@pytest.mark.usefixtures("bad_nau")
def test_a_cell_that_fails_fails_the_command_with_its_reason_and_the_other_cells_are_trained(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "-m", *SMALL, "model=nau,nmu", "hydra/launcher=basic"]) == 1
    failed = [line for line in capsys.readouterr().err.splitlines() if line.startswith("failed: ")][-1]
    assert "/ nau" in failed
    assert "RuntimeError: the unit is bad" in failed
    assert [path.parts[-4] for path in home.glob("runs/*/*/*/parts/*")] == ["nmu"]


def test_a_machine_without_memory_for_a_cell_fails_that_cell_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    free = iter([2**36, 0, 2**36])  # in the check of the command, then in each job
    monkeypatch.setattr(runner.memory, "available", lambda: next(free))
    assert main(["run", "-m", *SMALL, "model=nau,nmu", "hydra/launcher=basic"]) == 1
    assert "must fit into the 0.0 GB of memory" in capsys.readouterr().err
    assert len(list(home.glob("runs/*/*/*/parts/*"))) == 1


def test_a_launcher_that_gives_up_fails_the_command_and_names_what_is_left(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # no srun
    assert main(["run", "-m", *SMALL, "model=nau,nmu", "hydra/launcher=submitit_slurm"]) == 1
    told = capsys.readouterr().err.splitlines()
    assert any(line.startswith("the launcher stopped") and 'Could not detect "srun"' in line for line in told)
    assert len([line for line in told if line.startswith("failed: ")]) == 2
    assert told[-1] == "2 of 2 blocks failed; the same command tries them again."
    assert main(["run", "-m", *SMALL, "model=nau,nmu", "--only-failed", "device.workers=1"]) == 0
    assert len(list(home.glob("runs/*/*/*/parts/*"))) == 2
    assert list(home.glob("runs/.hydra/*"))


def test_what_a_job_leaves_in_its_process_does_not_reach_the_next(make_cell: Any, home: Path) -> None:
    jobs = {
        name: pending([Wanted(make_cell(), (0,))], Store(home / name), Machine("cpu", False, 1))
        for name in ("runs", "after/runs")
    }
    launched.train_cell([jobs["runs"]], jobs["runs"][0].machine, os.getpid(), 0)
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.set_grad_enabled(False)
    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    torch.set_float32_matmul_precision("medium")
    torch.manual_seed(99)
    try:
        launched.train_cell([jobs["after/runs"]], jobs["runs"][0].machine, os.getpid(), 0)
        assert torch.get_num_threads() == 1
    finally:
        process.prepare()
    pd.testing.assert_frame_equal(stored(home), stored(home / "after"), check_exact=True)


def test_the_bar_shows_what_the_store_holds(make_cell: Any, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [make_cell(layers) for layers in ("nau nmu", "nau nau")]
    store, machine = Store(home / "runs"), Machine("cpu", False, 1)
    jobs = pending([Wanted(cell, (0, 1)) for cell in cells], store, machine)
    with progress.followed(jobs, store):
        launched.train_cell([jobs[:1]], machine, os.getpid(), 0)
        note = schema.checkpoint_path(store.root / cells[1].folder, jobs[1].block.span).with_suffix(".json")
        note.parent.mkdir(parents=True)
        note.write_text('{"step": 5}')
    shown = capsys.readouterr().err
    assert "blocks 1/2" in shown
    assert "25.0/40.0" in shown
    assert "1 with a checkpoint" in shown
