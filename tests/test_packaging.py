"""The wheel carries the configurations and the experiments, and an installation without a checkout finds them."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from nalu_bench import paths
from nalu_bench.plan import experiment


def test_a_wheel_works_away_from_the_checkout(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(build, cwd=paths.CHECKOUT, check=True, capture_output=True)
    wheel = next((tmp_path / "dist").glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    environment = {key: value for key, value in os.environ.items() if key != "NALU_BENCH_HOME"}
    environment["PYTHONPATH"] = str(tmp_path / "site")
    program = "import nalu_bench, sys; from nalu_bench.cli import main; print(nalu_bench.__file__); sys.exit(main())"

    def run(*arguments: str) -> str:
        command = [sys.executable, "-P", "-c", program, *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = run("list")
    assert str(tmp_path / "site") in listed
    assert all(name in listed for name in experiment.names())
    run("run", "task=ten_parameter", "model=nmu", "budget=smoke", "device.workers=1")
    assert len(list((tmp_path / "runs").glob("*/*/*/parts/*"))) == 1
