"""The arrows between packages, and what must not be loaded by commands that only look."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nalu_bench

PACKAGE = Path(nalu_bench.__file__).parent

# Who may import whom within nalu_bench, beside its own package.
VOCABULARY = {"errors", "files", "registry", "paths", "seeds"}
ARROWS = {
    "units": VOCABULARY,
    "tasks": VOCABULARY,
    "models": VOCABULARY | {"units", "tasks"},
    "training": VOCABULARY | {"models", "tasks", "cell"},
    "store": VOCABULARY | {"cell", "tasks"},
    "analysis": VOCABULARY | {"cell", "experiment", "store", "units"},  # units only inside functions, see below
}


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("package", ARROWS)
def test_packages_import_only_along_the_arrows(package: str) -> None:
    allowed = ARROWS[package] | {package, "__version__"}
    for path in (PACKAGE / package).rglob("*.py"):
        inner = [name.split(".")[1] for name in imports(path) if name.startswith("nalu_bench.")]
        assert set(inner) <= allowed, f"{path.name} imports {sorted(set(inner) - allowed)}"


def test_only_config_knows_hydra() -> None:
    users = {path.name for path in PACKAGE.rglob("*.py") if any(name.startswith("hydra") for name in imports(path))}
    assert users == {"config.py"}


def test_only_the_writer_writes_the_store_and_only_the_report_writes_results() -> None:
    users = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if any(name.startswith("nalu_bench.files") for name in imports(path))
    }
    assert users == {"store/writer.py", "analysis/report.py"}


@pytest.mark.parametrize(
    "arguments", [["list"], ["status"], ["status", "experiment=trask2018/table1"], ["report", "--help"]]
)
def test_looking_does_not_load_torch_or_scipy_stats(arguments: list[str]) -> None:
    program = (
        "import sys; from nalu_bench.cli import main\n"
        f"try: main({arguments!r})\nexcept SystemExit: pass\n"
        "assert not {'torch', 'scipy.stats'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_analysis_does_not_load_torch() -> None:
    program = "import sys, nalu_bench.analysis.report as r; from nalu_bench import registry\n"
    program += (
        "[registry.summaries.load(name) for name in registry.summaries.entries]\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
