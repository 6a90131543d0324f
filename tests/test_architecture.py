"""The arrows between packages, and the modules that commands which only look must not load.

import-linter would hold the arrows in a file of its own; here the list that people read, in nalu_bench/README.md, is
checked.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import nalu_bench

PACKAGE = Path(nalu_bench.__file__).parent
VOCABULARY = {"errors", "files", "output", "registry", "paths", "__version__"}
"""Modules at the top level that every package may import."""


def arrows() -> dict[str, set[str]]:
    """Package -> the packages it may import, from the graph in the package's README."""
    text = (PACKAGE / "README.md").read_text(encoding="utf-8")
    block = re.search(r"^```imports\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert block, "nalu_bench/README.md must hold the graph of imports"
    found: dict[str, set[str]] = {}
    for line in filter(str.strip, block[1].splitlines()):
        package, _, others = line.partition(":")
        found[package.strip()] = set(found) if others.strip() == "*" else set(others.split())
    return found


ARROWS = arrows()


def imports(path: Path, typing: bool = True) -> Iterator[str]:
    """Every module that a file imports, anywhere in it; without `typing` not those for annotations alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    left_out = set() if typing else {node for block in blocks for node in ast.walk(block)}
    for node in ast.walk(tree):
        if node in left_out:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(module: str) -> str:
    """The innermost room of the graph that holds a module: `analysis/stats` for `nalu_bench.analysis.stats.compare`."""
    parts = module.split(".")[1:]
    places = ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((place for place in places if place in ARROWS), parts[0])


def test_the_graph_names_every_package() -> None:
    packages = {path.parent.relative_to(PACKAGE).parts[0] for path in PACKAGE.glob("*/*.py")}
    assert packages == {name.partition("/")[0] for name in ARROWS}


def test_no_arrow_runs_back() -> None:
    above: dict[str, set[str]] = {}
    for package, below in ARROWS.items():
        assert below <= set(above), f"{package} may only import what the graph names above it"
        above[package] = below


@pytest.mark.parametrize("package", ARROWS)
def test_packages_import_only_along_the_arrows(package: str) -> None:
    allowed = ARROWS[package] | VOCABULARY | {package}
    for path in (PACKAGE / package).rglob("*.py"):
        if room(".".join(["nalu_bench", *path.relative_to(PACKAGE).with_suffix("").parts])) != package:
            continue
        inner = {room(name) for name in imports(path) if name.startswith("nalu_bench.")}
        assert inner <= allowed, f"{path.relative_to(PACKAGE)} imports {sorted(inner - allowed)}"


def test_nothing_imports_what_belongs_to_one_paper() -> None:
    assert not [package for package, others in ARROWS.items() if "papers" in others]
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(name.startswith("nalu_bench.papers") for name in imports(path))
    }
    assert all(user.startswith("papers/") for user in users), users


def test_a_paper_imports_no_other_paper() -> None:
    for folder in (PACKAGE / "papers").glob("*/"):
        names = {
            name for path in folder.glob("*.py") for name in imports(path) if name.startswith("nalu_bench.papers.")
        }
        assert {name.split(".")[2] for name in names} <= {folder.name}


@pytest.mark.parametrize("package", ["analysis", "datasets", "papers", "verbs", "verify"])
def test_no_module_imports_itself_by_a_detour(package: str) -> None:
    paths = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path
             for path in (PACKAGE / package).rglob("*.py")}  # fmt: skip
    TopologicalSorter({name: {*imports(path, typing=False)} & set(paths) for name, path in paths.items()}).prepare()


def test_three_modules_alone_know_hydra() -> None:
    users = {path.name for path in PACKAGE.rglob("*.py") if any(name.startswith("hydra") for name in imports(path))}
    assert users == {"grammar.py", "config_groups.py", "launch.py"}


def test_only_the_writer_writes_the_store_and_only_results_writes_results() -> None:
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(name.startswith("nalu_bench.files.write") for name in imports(path))
    }
    trial = "running/compiler.py"  # what came out of it, for this machine
    assert users == {"store/writer.py", "analysis/results.py", "pages/build.py", trial}


LOOKING = [
    ["list"],
    ["status"],
    ["status", "experiment=trask2018/table1"],
    ["status", "madsen2020/table1"],
    ["status", "trask2018/figure5"],
    ["status", "trask2018/table5"],
    ["report", "--help"],
]


def test_looking_does_not_load_torch_or_scipy_stats() -> None:
    program = (
        "import sys; from nalu_bench.cli import main\n"
        f"for arguments in {LOOKING!r}:\n"
        "    main(arguments)\n"
        "    assert not {'torch', 'scipy.stats'} & set(sys.modules), arguments"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_analysis_does_not_load_torch() -> None:
    program = "import sys, nalu_bench.analysis.results; from nalu_bench import registry\n"
    program += "[registry.reports.load(name) for name in registry.reports.entries]\nassert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
