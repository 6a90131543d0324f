"""The documents are true: their commands work, and their links lead somewhere."""

import ast
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from told import commands, script

from nalu_bench import paths, registry
from nalu_bench.analysis.measure.read import MEASURED
from nalu_bench.models.model import Model, Penalty
from nalu_bench.models.network import Network
from nalu_bench.models.recurrent import Recurrent
from nalu_bench.pages.build import reported, untrained
from nalu_bench.pages.listing import listing
from nalu_bench.plan import folders, unit_files
from nalu_bench.plan.recipe import Recipe
from nalu_bench.tasks.actor_critic import ActorCritic
from nalu_bench.tasks.task import Task
from nalu_bench.training.random.kind import Streams
from nalu_bench.training.restart import RestartRule
from nalu_bench.units import Unit

ROOT = paths.CHECKOUT
EXAMPLES = ROOT / "examples"
OWN = EXAMPLES / "my_paper"
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)")

ADDED = "my_unit or my_task or my_paper"
"""The names that the READMEs of the examples put into the repository, and that of the package that is installed."""

COPIED = {"nalu_bench", "conf", "experiments", "results", "tests", "benchmarks", "examples", "notebooks"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with the files that the READMEs of the examples copy, and one package installed."""
    root = tmp_path_factory.mktemp("copy")
    for path in ROOT.iterdir():
        if path.is_dir() and path.name in COPIED:
            ignored = shutil.ignore_patterns("__pycache__", "local", "*.parquet")
            shutil.copytree(path, root / path.name, ignore=ignored)
        elif path.is_file() and path.name != ".git":
            shutil.copy(path, root)
    before = checksums(root)
    for line in told("cp "):
        subprocess.run(shlex.split(line), cwd=root, check=True)
    after = checksums(root)
    assert len(after) == len(before) + 10
    assert after | before == after, "a unit, task or experiment may only add files"
    install(root / OWN.relative_to(ROOT))
    return root


def checksums(root: Path) -> dict[Path, str]:
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in root.rglob("*") if path.is_file()}


def told(begin: str, holding: str = "") -> list[str]:
    """The commands in the READMEs of the examples that begin and hold so."""
    readmes = sorted(EXAMPLES.glob("*/README.md"))
    return [command for readme in readmes for command in commands(readme, begin) if holding in command]


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
    places = {"PYTHONPATH": f"{copy}{os.pathsep}{copy / OWN.relative_to(ROOT)}", "NALU_BENCH_HOME": str(copy / "home")}
    return output(copy, places, "-m", *command)


def output(folder: Path, variables: dict[str, str], *command: str) -> str:
    """What Python prints in a folder, with more variables."""
    line = [sys.executable, *command]
    done = subprocess.run(line, cwd=folder, env=os.environ | variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


FOLLOW = """
import contextlib, io, json, shlex, sys
from nalu_bench.cli import main
if __name__ == "__main__":
    said = {}
    for command in sys.argv[1:]:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            assert main(shlex.split(command)[1:]) == 0, command
        said[command] = output.getvalue()
    print(json.dumps(said))
"""
"""Commands in one process, which loads torch once, and what each has said."""


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.timeout(900)
def test_the_examples_work_in_a_copy_to_the_letter(copy: Path) -> None:
    followed = told("nalu-bench ", "budget=smoke")
    assert len(followed) == 10
    (copy / "follow.py").write_text(FOLLOW)
    said = json.loads(in_copy(copy, "follow", *followed).splitlines()[-1])
    assert "Solved" in said["nalu-bench run task=my_task model=nau budget=smoke"]
    assert "Squares by two models" in said["nalu-bench report my_paper/table2 budget=smoke"]
    assert all(
        (copy / f"home/results/local/{name}/table.md").exists() for name in ("my_task/momentum", "my_paper/table1")
    )


def test_every_entry_point_of_the_package_is_found_and_every_group_is_told(copy: Path) -> None:
    package = copy / OWN.relative_to(ROOT)
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    kinds = {kind.package: kind for kind in vars(registry).values() if isinstance(kind, registry.Registry)}
    configurations = project["entry-points"].pop(folders.ENTRY_POINTS)
    assert [package / name.replace(".", "/") for name in configurations.values()] == [package / "my_paper/conf"]
    assert set(project["entry-points"]) <= set(kinds)
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{group}`" in text for group in kinds)
    program = "import doctest, sys; from nalu_bench.registry import Registry\n"
    program += (
        "for pair in sys.argv[1:]:\n    group, name = pair.split(':'); found = Registry('part', group).load(name)\n"
    )
    program += "    assert not doctest.testmod(sys.modules[found.__module__]).failed\n"
    (copy / "load_entries.py").write_text(program)
    pairs = [f"{group}:{name}" for group, found in project["entry-points"].items() for name in found]
    in_copy(copy, "load_entries", *pairs)


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.timeout(900)
def test_contracts_and_documents_hold_for_what_the_examples_add(copy: Path) -> None:
    assert told("pytest ") == [f"pytest tests/contract -k {name}" for name in ("my_task", "my_unit")]
    chosen = f"not slow and not copy and not entry_point and not prose and ({ADDED} or not smoke)"
    in_copy(copy, "pytest", "-q", "-p", "no:cacheprovider", "-k", chosen, "tests/contract", "tests/test_docs.py")


@pytest.mark.slow
def test_what_the_readme_shows_works(tmp_path: Path) -> None:
    """Its commands and its script, with few steps where they train. The published table is made of committed runs."""
    short = [f"{one} budget=smoke" if " -m " in one else one for one in commands(ROOT / "README.md")]
    (tmp_path / "follow.py").write_text(FOLLOW)
    shutil.copytree(ROOT / "results/madsen2020/table1", tmp_path / "results/madsen2020/table1")
    home = {"NALU_BENCH_HOME": str(tmp_path)}
    said = json.loads(output(tmp_path, home, "follow.py", *short).splitlines()[-1])
    assert len(said) == 5
    assert "verdict           agrees             agrees" in said["nalu-bench report madsen2020/table1"]
    assert "verdict  agrees" in said["nalu-bench explain madsen2020/table1 model=nalu"]
    (tmp_path / "mine.py").write_text(
        script(ROOT / "README.md").replace('"model=nac,nau"', '"model=nac,nau", "budget=smoke"')
    )
    assert "25 seeds" in output(tmp_path, home, "mine.py")


def test_the_readme_is_short() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) < 120
    assert max(map(len, lines)) <= 118


def test_the_guide_names_units_that_exist() -> None:
    text = (ROOT / "GUIDE.md").read_text(encoding="utf-8")
    rows = text[text.index("| class | `unit=` |") :].partition("\n\n")[0].splitlines()[2:]
    units = [name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[2])]
    assert len(units) > 10
    assert set(units) <= set(unit_files.files())


def test_the_list_of_experiments_is_that_of_the_results() -> None:
    written = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    experiments = list(reported(ROOT / "results"))
    waiting = list(untrained(ROOT / "results"))
    assert listing(experiments, waiting) == written, "make it again: nalu-bench report --all"
    assert all(one.name in written for one in waiting if one.published.exists())
    assert written.count("| `") == len(experiments) > 10


def test_contributing_is_short() -> None:
    lines = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 200
    assert max(map(len, lines)) <= 118


def test_the_walks_through_the_code_name_what_is_there() -> None:
    text = (ROOT / "nalu_bench/README.md").read_text(encoding="utf-8")
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


def test_every_link_in_the_documents_leads_somewhere() -> None:
    """Paths, and headings of Markdown files; not addresses of the web, nor templates, whose pages lie elsewhere."""
    folders = [ROOT / name for name in COPIED - {"results"}]
    documents = [
        *ROOT.glob("*.md"),
        *(path for folder in folders for path in folder.rglob("*.md") if path.parent.name != "templates"),
    ]
    assert len(documents) > 20
    for document in documents:
        for target, heading in LINK.findall(document.read_text(encoding="utf-8")):
            there = document.parent / target if target else document
            assert there.exists(), f"{document.relative_to(ROOT)} points to {target}"
            assert not heading or heading in anchors(there), f"{document.relative_to(ROOT)}: {target} lacks {heading}"


def anchors(document: Path) -> set[str]:
    """The headings of a Markdown file, as addresses name them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def test_the_table_of_what_to_override_names_what_the_classes_have() -> None:
    owners = (Task, ActorCritic, Model, Penalty, Recurrent, Network, Unit, Recipe, RestartRule, Streams)
    classes = {one.__name__: one for one in owners}
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    rows = text[text.index("| class | override |") :].partition("\n\n")[0].splitlines()[2:]
    for row in rows:
        owner, names, *_ = (re.findall(r"`(\w+)`", cell) for cell in row.split("|")[1:])
        known = {*dir(classes[owner[0]]), *getattr(classes[owner[0]], "__dataclass_fields__", {})}
        assert set(names) <= known, f"the table names {names} of {owner[0]}"
    assert len(rows) > 30
    assert {row.split("`")[1] for row in rows} == set(classes)


def test_make_help_lists_the_verbs() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    shown = subprocess.run([make, "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {"reproduce-table1", "test", "lint", "types", "setup"} <= {line.split()[0] for line in shown.splitlines()}
