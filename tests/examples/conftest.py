"""Examples as a user has them: the package installed, NALU_BENCH_CONF set, and a home of its own."""

import contextlib
import copy
import functools
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hydra.core.config_store import ConfigStore

from nalu_bench import paths, registry
from nalu_bench.plan import compose
from nalu_bench.registry import Registry

Example = Callable[[str, Path], AbstractContextManager[Path]]


@pytest.fixture(scope="session")
def example() -> Example:
    """(name, folder) -> a context in which the example is installed below the folder, in `conf`, `home` and `site`."""
    return _example


@contextlib.contextmanager
def _example(name: str, folder: Path) -> Iterator[Path]:
    source, site = paths.CHECKOUT / "examples" / name, folder / "site"
    before, schemas = set(sys.modules), copy.deepcopy(ConfigStore.instance().repo)
    with pytest.MonkeyPatch.context() as patch:
        _install(source, site)
        patch.syspath_prepend(site)
        shutil.copytree(source / "conf", folder / "conf")
        patch.setenv("NALU_BENCH_CONF", str(folder / "conf"))
        patch.setenv("NALU_BENCH_HOME", str(folder / "home"))
        _forget_names()
        yield folder
    for module in set(sys.modules) - before:
        if Path(getattr(sys.modules[module], "__file__", None) or "/").is_relative_to(site):
            del sys.modules[module]
    ConfigStore.instance().repo = schemas  # launchers send the store to other processes, with all its classes
    _forget_names()


def _install(source: Path, site: Path) -> None:
    """Copy the modules and write the entry points of `pyproject.toml` beside them, as pip does."""
    project = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))
    site.mkdir(parents=True)
    for module in project["tool"]["hatch"]["build"]["targets"]["wheel"]["include"]:
        shutil.copy(source / module, site)
    about, lines = project["project"], []
    for group, points in about["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {place}" for name, place in points.items())]
    installed = site / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    installed.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
    (installed / "METADATA").write_text(metadata, encoding="utf-8")
    (installed / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _forget_names() -> None:
    """Empty the caches of names and schemas, which are kept for the life of a process."""
    kept = [name for name, value in vars(Registry).items() if isinstance(value, functools.cached_property)]
    for kind in vars(registry).values():
        if isinstance(kind, Registry):
            for name in kept:
                vars(kind).pop(name, None)
    compose._composed.cache_clear()
    compose._register_schemas.cache_clear()
