"""The wheel carries the configurations and the experiments, and an installation without a checkout finds them."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import nalu_bench
from nalu_bench import paths
from nalu_bench.plan import experiment

COMMANDS = [
    ["list"],
    ["run", "task=ten_parameter", "model=nmu", "budget=smoke", "device.workers=1"],
    ["list", "experiment"],
    ["explain", "madsen2020/table1", "model=nac_mul"],
    ["run", "madsen2020/figure2"],
    ["report", "madsen2020/figure2"],
]
PROGRAM = f"""
import nalu_bench
from nalu_bench.cli import main

print(nalu_bench.__file__)
for arguments in {COMMANDS}:
    assert main(arguments) == 0, arguments
found = nalu_bench.load("madsen2020/table1")
print(len(found.table), len(found.runs))
"""


@pytest.mark.slow
def test_a_wheel_works_away_from_the_checkout(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    subprocess.run(build, cwd=paths.CHECKOUT, check=True, capture_output=True)
    wheel = next((tmp_path / "dist").glob("*.whl"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    environment = {key: value for key, value in os.environ.items() if key != "NALU_BENCH_HOME"}
    environment["PYTHONPATH"] = str(tmp_path / "site")
    command = [sys.executable, "-P", "-c", PROGRAM]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site/nalu_bench/shipped/CITATION.cff").read_bytes() == paths.citation().read_bytes()
    assert done.stdout.startswith(str(tmp_path / "site"))
    assert all(name in done.stdout for name in experiment.names())
    assert len(list((tmp_path / "runs").glob("*/*/*/parts/*"))) == 1
    assert "5 agrees, 1 inconclusive" in done.stdout
    assert "24 of 100 against 13 of 100" in done.stdout
    assert f"results{os.sep}madsen2020{os.sep}figure2{os.sep}table.md and report.html" in " ".join(done.stdout.split())
    assert done.stdout.endswith("\n24 600\n")


def test_the_version_is_written_in_one_place_and_known_where_people_look() -> None:
    citation = (paths.CHECKOUT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {nalu_bench.__version__}\n" in citation
    assert f"\n## {nalu_bench.__version__}\n" in (paths.CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8")
