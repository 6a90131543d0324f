"""The documents are true: what they show works."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nalu_bench import paths, registry
from nalu_bench.plan import experiment

ROOT = paths.CHECKOUT
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_recipes_of_contributing_work_in_a_copy_and_change_no_file(tmp_path: Path) -> None:
    for name in ("nalu_bench", "conf", "experiments"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    blocks = BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    commands = []
    for language, target, text in blocks:
        if target:
            assert not (tmp_path / target).exists(), f"{target} is there already: a recipe may only add files"
            (tmp_path / target).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / target).write_text(text, encoding="utf-8")
        elif language == "sh":
            commands += text.splitlines()
    assert len(commands) == 4
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "NALU_BENCH_HOME": str(tmp_path / "home")}
    for command in commands:
        line = [sys.executable, "-m", *command.replace("nalu-bench", "nalu_bench", 1).split()]
        done = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert (tmp_path / "home/results/local/mine2026/table1/table.md").exists()


def test_the_readme_is_short_and_names_every_unit_and_experiment() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    for name in [*registry.units.entries, *experiment.names()]:
        assert f"`{name}`" in text, f"the README does not name {name}"


def test_the_readme_verdicts_are_those_of_the_results() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in experiment.names():
        table = ROOT / "results" / name / "table.md"
        if table.exists():
            verdicts = re.search(r"^Verdicts: (.*)\.$", table.read_text(encoding="utf-8"), re.MULTILINE)
            assert verdicts is not None
            assert verdicts[1] in text, f"the README should say of {name}: {verdicts[1]}"


def test_every_path_in_the_documents_exists() -> None:
    for document in [ROOT / "README.md", *ROOT.glob("experiments/*/README.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} points to {target}"


@pytest.mark.parametrize("verb", ["reproduce-table1", "test", "lint", "types", "setup"])
def test_make_help_lists_the_verbs(verb: str) -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    shown = subprocess.run([make, "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert verb in shown
