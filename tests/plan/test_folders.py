"""Configurations inside installed packages: found by their entry point, without an import."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from forgotten import forget

from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, experiment, folders, looks

MODEL = """defaults: [two_layer_schema, _self_]
kind: two_layer
name: {0}
label: Mine
hidden_size: 5
penalties: {{}}
layers: [{{unit: nac, options: {{}}}}, {{unit: nac_mul, options: {{}}}}]
"""
RAISES = "raise RuntimeError('imported')\n"

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """(package, value of its entry point, {file: text}) -> its folder, in a `site` of its own."""

    def make(package: str, value: str, files: dict[str, str], site: str = "site") -> Path:
        place = tmp_path / site
        for name, text in {f"{package}/__init__.py": RAISES, **{f"{package}/{k}": v for k, v in files.items()}}.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text)
        about = place / f"{package}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(f"[nalu_bench.conf]\n{package} = {value}\n")
        monkeypatch.syspath_prepend(place)
        forget()
        return place / package

    forget()
    yield make
    forget()


def planned(name: str) -> int:
    return int(compose.plan_cells([f"model={name}"], multirun=False).cells[0].cell.model.hidden_size)


def test_a_package_adds_names_and_is_not_imported_for_it(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("mine_a", "mine_a.conf", {"conf/model/mine.yaml": MODEL.format("mine")})
    assert planned("mine") == 5
    assert looks.of_model("mine").label == "Mine"
    assert main(["list", "model"]) == 0
    assert "\n  mine\n" in capsys.readouterr().out
    assert "mine_a" not in sys.modules


def test_several_packages_and_the_users_folder_build_on_each_other(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = tmp_path / "user"
    (user / "model").mkdir(parents=True)
    (user / "model/of_user.yaml").write_text("defaults: [of_b, _self_]\nname: of_user\nhidden_size: 7\n")
    monkeypatch.setenv("NALU_BENCH_CONF", str(user))
    install("mine_a", "mine_a.deep.conf", {"deep/conf/model/of_a.yaml": MODEL.format("of_a")})
    install("mine_b", "mine_b", {"model/of_b.yaml": "defaults: [of_a, _self_]\nname: of_b\nhidden_size: 6\n"})
    assert [planned(name) for name in ("of_a", "of_b", "of_user")] == [5, 6, 7]


def test_a_package_without_init_has_configurations_too(install: Install) -> None:
    (install("mine_a", "mine_a.conf", {"conf/model/mine.yaml": MODEL.format("mine")}) / "__init__.py").unlink()
    assert planned("mine") == 5


def test_a_package_brings_experiments(install: Install) -> None:
    text = (paths.experiments_dir() / "madsen2020/table1.yaml").read_text()
    folder = install("mine_a", "mine_a.conf", {"conf/experiments/mine/table1.yaml": text})
    assert "mine/table1" in experiment.names()
    assert experiment.load("mine/table1").folder == folder / "conf/experiments/mine"


def test_a_folder_may_have_any_name(install: Install) -> None:
    install("mine_a", "mine_a.conf", {"conf/model/a.yaml": MODEL.format("a")}, "it's, [a] $site {1}=2")
    install("mine_b", "mine_b.conf", {"conf/model/b.yaml": MODEL.format("b")})
    assert planned("a") == planned("b") == 5


def test_the_users_folder_may_be_that_of_a_package(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = install("mine_a", "mine_a.conf", {"conf/model/mine.yaml": MODEL.format("mine")})
    monkeypatch.setenv("NALU_BENCH_CONF", str(folder / "conf"))
    assert planned("mine") == 5
    assert "mine" in folders.files("model")


def test_a_name_that_is_taken_twice_is_refused_with_both_files(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = install("mine_a", "mine_a.conf", {"conf/model/mine.yaml": MODEL.format("mine")}) / "conf/model/mine.yaml"
    with monkeypatch.context() as patch:
        user = tmp_path / "user/model/mine.yaml"
        user.parent.mkdir(parents=True)
        user.write_text(MODEL.format("mine"))
        patch.setenv("NALU_BENCH_CONF", str(tmp_path / "user"))
        with pytest.raises(UsageError, match=f"every model .* mine is taken by {first} and {user}; rename one"):
            folders.files("task")
    second = install("mine_b", "mine_b", {"model/mine.yaml": MODEL.format("mine")}) / "model/mine.yaml"
    with pytest.raises(UsageError, match=f"every model .* mine is taken by {first} and {second}; rename one"):
        planned("nmu")
    second.rename(second.with_name("nmu.yaml"))
    forget()
    shipped = paths.conf_dir() / "model/nmu.yaml"
    with pytest.raises(UsageError, match=f"nmu is taken by {shipped} and {second.with_name('nmu.yaml')}; rename one"):
        planned("mine")


def test_an_experiment_of_two_packages_is_refused_with_both_files(install: Install) -> None:
    text = (paths.experiments_dir() / "madsen2020/table1.yaml").read_text()
    name = "conf/experiments/mine/table1.yaml"
    first, second = (install(package, f"{package}.conf", {name: text}) / name for package in ("mine_a", "mine_b"))
    with pytest.raises(UsageError, match=f"mine/table1 is taken by {first} and {second}; rename one"):
        experiment.load("madsen2020/table1")
    assert planned("nmu") == 2


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_package.conf", "there is no package no_such_package"),
        ("mine_a.missing", r"there is no YAML file in .*/site/mine_a/missing"),
        ("mine_a:conf", "there is no package mine_a:conf"),
        ("this.conf", "there is no package this"),
        (".conf", "ValueError: .*"),
    ],
)
def test_a_package_without_its_folder_costs_only_its_own_names(
    value: str, why: str, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("mine_a", value, {"conf/model/mine.yaml": MODEL.format("mine")})
    install("mine_b", "mine_b.conf", {"conf/model/other.yaml": MODEL.format("other")})
    words = (
        f"the package mine_a cannot be found: .*must name a folder inside a package.*got {value}: {why}; mend mine_a"
    )
    assert planned("other") == 5
    assert main(["list"]) == 0
    told = capsys.readouterr()
    assert "\n  other\n" in told.out
    assert told.err.startswith("warning: The configurations of the package mine_a")
    with pytest.raises(UsageError, match=f"unknown model 'mine'.* {words}"):
        planned("mine")
    with pytest.raises(UsageError, match=f"unknown experiment 'mine/table1'.* {words}"):
        experiment.load("mine/table1")
