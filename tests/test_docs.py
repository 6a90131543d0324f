"""The documents are true: their commands and recipes work."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from nalu_bench import paths, registry
from nalu_bench.analysis.measure.read import MEASURED
from nalu_bench.models.model import Model, Penalty
from nalu_bench.models.network import Network
from nalu_bench.models.recurrent import Recurrent
from nalu_bench.pages.build import reported
from nalu_bench.pages.listing import listing
from nalu_bench.plan import folders
from nalu_bench.plan.recipe import Recipe
from nalu_bench.tasks.actor_critic import ActorCritic
from nalu_bench.tasks.task import Task
from nalu_bench.training.random.kind import Streams
from nalu_bench.training.restart import RestartRule
from nalu_bench.units import Unit

ROOT = paths.CHECKOUT
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)


ADDED = "plain or total or mine2026"
"""The names that the recipes of CONTRIBUTING add."""

COPIED = {"nalu_bench", "conf", "experiments", "results", "tests", "benchmarks", "examples", "notebooks"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with the files that the recipes of CONTRIBUTING add."""
    root = tmp_path_factory.mktemp("copy")
    for path in ROOT.iterdir():
        if path.is_dir() and path.name in COPIED:
            ignored = shutil.ignore_patterns("__pycache__", "local", "*.parquet")
            shutil.copytree(path, root / path.name, ignore=ignored)
        elif path.is_file() and path.name != ".git":
            shutil.copy(path, root)
    for _, target, text in blocks():
        if target:
            assert not (root / target).exists(), f"{target} is there already: a recipe may only add files"
            (root / target).parent.mkdir(parents=True, exist_ok=True)
            (root / target).write_text(text, encoding="utf-8")
    install(root / "package")
    return root


def blocks() -> list[tuple[str, str, str]]:
    """(language, file, text) of the blocks of CONTRIBUTING."""
    return BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))


def install(package: Path) -> None:
    """The metadata that pip would write for a package: its entry points."""
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = package / f"{project['name']}-{project['version']}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0\n")
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in points.items()) for group, points in groups]
    (folder / "entry_points.txt").write_text("\n".join(lines))


def in_copy(copy: Path, *command: str) -> str:
    """The output of a command that finds the copy in place of this repository."""
    places = {"PYTHONPATH": f"{copy}{os.pathsep}{copy / 'package'}", "NALU_BENCH_HOME": str(copy / "home")}
    line = [sys.executable, "-m", *command]
    done = subprocess.run(line, cwd=copy, env=os.environ | places, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_recipes_of_contributing_work_in_a_copy_and_change_no_file(copy: Path) -> None:
    commands = [line for language, target, text in blocks() if language == "sh" for line in text.splitlines()]
    commands = [command for command in commands if command.startswith("nalu-bench ")]
    assert len(commands) == 8
    told = [in_copy(copy, *command.replace("nalu-bench", "nalu_bench", 1).split()) for command in commands]
    assert "Solved" in told[1]
    assert "Squares by two models" in told[-1]
    assert (copy / "home/results/local/mine2026/table1/table.md").exists()


def test_every_entry_point_that_contributing_shows_is_found(copy: Path) -> None:
    project = tomllib.loads((copy / "package/pyproject.toml").read_text(encoding="utf-8"))["project"]
    kinds = {kind.package: kind for kind in vars(registry).values() if isinstance(kind, registry.Registry)}
    configurations = project["entry-points"].pop(folders.ENTRY_POINTS)
    assert [copy / "package" / name.replace(".", "/") for name in configurations.values()] == [
        copy / "package/mine/conf"
    ]
    assert set(project["entry-points"]) <= set(kinds)
    text = (copy / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert all(group in text for group in kinds)
    program = "import doctest, sys; from nalu_bench.registry import Registry\n"
    program += (
        "for pair in sys.argv[1:]:\n    group, name = pair.split(':'); found = Registry('part', group).load(name)\n"
    )
    program += "    assert not doctest.testmod(sys.modules[found.__module__]).failed\n"
    (copy / "load_entries.py").write_text(program)
    pairs = [f"{group}:{name}" for group, found in project["entry-points"].items() for name in found]
    in_copy(copy, "load_entries", *pairs)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_contracts_and_documents_hold_for_what_the_recipes_add(copy: Path) -> None:
    chosen = f"not slow and not copy and not entry_point and not prose and ({ADDED} or not smoke)"
    in_copy(copy, "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, "tests/contract", "tests/test_docs.py")


def test_the_readme_is_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 120
    assert max(map(len, lines)) <= 118


def test_the_guide_names_units_that_exist() -> None:
    text = (ROOT / "GUIDE.md").read_text(encoding="utf-8")
    rows = text[text.index("| class | name |") :].partition("\n\n")[0].splitlines()[2:]
    units = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[2])]
    assert len(units) > 10
    assert set(units) <= set(registry.units.entries)


def test_the_list_of_experiments_is_that_of_the_results() -> None:
    written = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    experiments = list(reported(ROOT / "results"))
    assert listing(experiments) == written, "make it again: nalu-bench report --all"
    assert written.count("| `") == len(experiments) > 10


def test_the_walks_of_contributing_name_what_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walks = re.findall(r"^```walk\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line for walk in walks for line in walk.splitlines()]
    for line in lines:
        path, names = line.split(": ")
        tree = ast.parse((ROOT / "nalu_bench" / path).read_text(encoding="utf-8"))
        there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert set(names.split()) <= there, line
    assert len(lines) > 20


def test_a_committed_run_weighs_less_than_4_kb_beside_what_every_experiment_has() -> None:
    for one in reported(ROOT / "results"):
        files = ["manifest.json", *(name for name in MEASURED if (one.folder / name).exists())]
        weight = sum((one.folder / name).stat().st_size for name in files)
        assert weight <= 4_000 * one.manifest["runs"] + 150_000, one.experiment.name


def test_every_path_in_the_documents_exists() -> None:
    for document in [ROOT / "README.md", ROOT / "GUIDE.md", *ROOT.glob("experiments/*/README.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} points to {target}"


def test_the_table_of_defaults_names_what_the_classes_have() -> None:
    owners = (Task, ActorCritic, Model, Penalty, Recurrent, Network, Unit, Recipe, RestartRule, Streams)
    classes = {one.__name__: one for one in owners}
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = text[text.index("| class | override |") :].partition("\n\n")[0].splitlines()[2:]
    for row in rows:
        owner, names, *_ = (re.findall(r"`(\w+)`", cell) for cell in row.split("|")[1:])
        known = {*dir(classes[owner[0]]), *getattr(classes[owner[0]], "__dataclass_fields__", {})}
        assert set(names) <= known, f"CONTRIBUTING names {names} of {owner[0]}"
    assert len(rows) > 20


@pytest.mark.parametrize("verb", ["reproduce-table1", "test", "lint", "types", "setup"])
def test_make_help_lists_the_verbs(verb: str) -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    shown = subprocess.run([make, "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert verb in shown
