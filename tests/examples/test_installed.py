"""The examples of one's own, installed by pip into an environment of their own as their READMEs say."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from nalu_bench import paths

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

OWN = ("my_unit", "my_task")


@pytest.fixture(scope="module", params=[pytest.param("editable", marks=pytest.mark.thorough), "copied"])
def python(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment that sees this one's packages, with both examples installed."""
    root = tmp_path_factory.mktemp(request.param)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / "venv"], check=True)
    (site,) = (root / "venv/lib").glob("python*/site-packages")
    (site / "parent.pth").write_text(f"{paths.CHECKOUT}\n{sysconfig.get_paths()['purelib']}\n")
    python = root / "venv/bin/python"
    for name in OWN:
        shutil.copytree(paths.CHECKOUT / "examples" / name, root / name)
        how = ["-e"] if request.param == "editable" else ["--no-build-isolation"]
        pip = [python, "-m", "pip", "--disable-pip-version-check", "--timeout=15", "--retries=0"]
        done = subprocess.run([*pip, "install", "--no-deps", *how, root / name], capture_output=True, text=True)
        if "-e" in how and "Could not find a version" in done.stderr:
            pytest.skip("an editable installation downloads its build tools, and pip reaches no index")
        assert done.returncode == 0, done.stderr
    return python


def nalu_bench(python: Path, *arguments: str) -> str:
    """The output of a command in that environment, from a folder elsewhere."""
    home = python.parents[2] / "home"
    home.mkdir(exist_ok=True)
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NALU_BENCH_CONF")}
    done = subprocess.run(
        [python, "-m", "nalu_bench", *arguments],
        cwd=home, env=variables | {"NALU_BENCH_HOME": str(home)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_installed_is_listed_trained_and_reported(python: Path) -> None:
    assert "\n  single_my_unit " in nalu_bench(python, "list", "model")
    assert "\n  my_task " in nalu_bench(python, "list", "task")
    both = ["task=my_task", "model=my_unit,single_my_unit,nalu", "budget=smoke"]
    assert nalu_bench(python, "run", "-m", *both, "device.workers=2").count("Runs: 6 finished") == 1
    nalu_bench(python, "run", "experiment=my_unit/powers", "budget=smoke")
    assert "Real NPU " in nalu_bench(python, "report", "my_unit/powers", "budget=smoke")


def test_the_jobs_of_a_launcher_find_it(python: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    cells = ["task=my_task", "model=my_unit,single_my_unit", "budget=smoke", "seeds=3", "hydra/launcher=joblib"]
    assert nalu_bench(python, "run", "-m", *cells).count("Runs: 6 finished") == 1
