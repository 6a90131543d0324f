"""Names are found in source text, wherever the decorator stands, and a name that is taken twice is refused."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nalu_bench import registry
from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.errors import UsageError
from nalu_bench.registry import Registry


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder `things` of a package of our own, in which a registry looks."""
    monkeypatch.setattr(registry, "__file__", str(tmp_path / "registry.py"))
    (tmp_path / "things" / "deeper").mkdir(parents=True)
    return tmp_path / "things"


def things() -> Registry:
    return Registry("thing", "nalu_bench.things")


def test_classes_and_functions_are_found_also_one_folder_deeper(folder: Path) -> None:
    (folder / "one.py").write_text('@register("first", version=2)\nclass First: ...\n')
    (folder / "deeper" / "two.py").write_text('@registry.register(name="second", version=3)\ndef second(): ...\n')
    assert {name: (entry.place, entry.version) for name, entry in things().entries.items()} == {
        "first": ("nalu_bench.things.one:First", 2),
        "second": ("nalu_bench.things.deeper.two:second", 3),
    }


@pytest.mark.parametrize(
    "decorator",
    [
        "register",
        "register()",
        'register("a")',
        "register(NAME, version=1)",
        'register("a", version=new())',
        'register("a", version="1.0")',
        'register("a", version=0)',
        'register("a", version=True)',
        'register("a", version=10000000000)',
    ],
)
def test_a_decorator_that_cannot_be_read_is_refused_with_its_place(folder: Path, decorator: str) -> None:
    (folder / "one.py").write_text(f"@{decorator}\nclass First: ...\n")
    with pytest.raises(UsageError, match=r"nalu_bench.things.one:First must be registered by @register"):
        _ = things().entries


def test_two_of_one_name_are_refused_with_both_places(folder: Path) -> None:
    for name in ("one", "two"):
        (folder / f"{name}.py").write_text('@register("same", version=1)\nclass First: ...\n')
    (folder / "three.py").write_text('@register("other", version=1)\nclass Other: ...\n')
    found = things()
    assert found.version("other") == 1
    with pytest.raises(UsageError, match=r"same is taken by nalu_bench\.things\.one:First and \S+two:First"):
        found.version("same")


def test_a_module_that_changes_the_folder_or_the_standard_files_when_it_is_imported_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rude_module.py").write_text(
        "import os, sys\nos.chdir('/')\nsys.stdout = sys.stderr = None\n"
        "def first(): ...\nfirst.registered_name, first.version = 'first', 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = sys.stdout, sys.stderr
    found = registry.Entry("thing", "first", "rude_module", "first", version=None, facts=None).load()
    assert found.__module__ == "rude_module"
    assert (Path.cwd(), sys.stdout, sys.stderr) == (tmp_path, *before)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bytes], None]:
    """(package, its file of entry points) -> the package is installed, without any module."""

    def make(package: str, points: bytes) -> None:
        metadata = tmp_path / f"{package}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_bytes(points)
        monkeypatch.syspath_prepend(tmp_path)

    return make


@pytest.mark.parametrize(
    "points",
    [b"[nalu_bench.units]\nno equals sign\n", b"[nalu_bench.units]\n\xff = a:B\n", b"[nalu_bench.units]\n= a = b:\n"],
)
def test_a_damaged_file_of_entry_points_costs_only_its_own_names(
    points: bytes, install: Callable[[str, bytes], None]
) -> None:
    install("damaged", points)
    install("sound", b"[nalu_bench.units]\nsound = sound:Sound\n")
    found = Registry("unit", registry.units.package)
    assert found.entry("sound").place == "sound:Sound"
    assert found.version("nau") >= 1
    with pytest.raises(UsageError, match="unknown unit 'mine'") as caught:
        found.entry("mine")
    if b"= a" not in points:
        assert "The entry points of the package damaged cannot be read: " in str(caught.value)


def test_metadata_that_cannot_be_read_costs_only_the_packages_own_names(
    install: Callable[[str, bytes], None], tmp_path: Path
) -> None:
    install("damaged", b"[nalu_bench.units]\nmine = mine:Mine\n")
    (tmp_path / "damaged-1.0.dist-info/METADATA").write_bytes(b"Name: damaged\nVersion: 1.0\nAuthor: Andr\xe9\n")
    found = Registry("unit", registry.units.package)
    assert found.version("nau") >= 1
    with pytest.raises(UsageError, match=f"The entry points of a package in {tmp_path}.* cannot be read: Unicode"):
        found.entry("mine")


@pytest.mark.parametrize("value", ["", "mine", "mine:", "mine Mine", "no such module!", ":Mine"])
def test_a_malformed_entry_point_is_refused_when_it_is_chosen(
    value: str, install: Callable[[str, bytes], None]
) -> None:
    install("malformed", f"[nalu_bench.units]\nmine = {value}\n".encode())
    found = Registry("unit", registry.units.package)
    assert found.version("nau") >= 1
    with pytest.raises(UsageError, match=r"the unit mine (must have an entry point module:Class|cannot be loaded)"):
        found.load("mine")


@pytest.mark.parametrize(
    "kind", [registry.units, registry.models, registry.tasks, registry.losses, registry.measures, registry.reports]
)
def test_everything_shipped_loads_under_its_name_and_version(kind: Registry) -> None:
    shipped = {name: entry for name, entry in kind.entries.items() if entry.version is not None}
    assert shipped
    for name, entry in shipped.items():
        found = entry.load()
        assert (found.registered_name, found.version) == (name, entry.version)


def test_kinds_of_report_are_those_of_the_core_of_papers_and_of_others_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs.py").write_text(
        "from nalu_bench.analysis.reports.kind import Kind\nfrom nalu_bench.registry import register\n"
        '@register("theirs", version=4)\nclass Theirs(Kind): ...\n'
    )
    metadata = tmp_path / "theirs-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{registry.reports.package}]\ntheirs = theirs:Theirs\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = Registry("kind of report", *registry.reports.packages)
    places = {name: found.entry(name).module.rpartition(".")[0] for name in ("success", "timing", "theirs")}
    assert places == {"success": "nalu_bench.analysis.reports", "timing": "nalu_bench.papers.trask2018", "theirs": ""}
    assert found.load("theirs").version == found.version("theirs") == 4
    assert issubclass(found.load("timing"), Kind)


def test_registration_leaves_the_methods_of_a_class_alone() -> None:
    for entry in registry.reports.entries.values():
        assert entry.version is None or callable(entry.load().facts), (
            "those of installed packages are not ours to judge"
        )
