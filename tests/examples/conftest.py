"""Examples as a user has them: the package installed, and a home of its own."""

import contextlib
import copy
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from forgotten import forget
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins

from nalu_bench import paths

collect_ignore = ["faulty"]
"""A package with every fault, also one that ends whoever imports it; `test_faulty.py` installs it."""

Example = Callable[[str, Path], AbstractContextManager[Path]]


@pytest.fixture(scope="session")
def example() -> Example:
    """(name, folder) -> a context in which the example is installed below the folder, in `site`, beside `home`.

    A folder `conf` beside the package is copied, too, and NALU_BENCH_CONF names it.
    """
    return _example


@contextlib.contextmanager
def _example(name: str, folder: Path) -> Iterator[Path]:
    source, site = paths.CHECKOUT / "examples" / name, folder / "site"
    Plugins.instance()  # stores Hydra's own schemas, once in a process
    before, schemas = set(sys.modules), copy.deepcopy(ConfigStore.instance().repo)
    with pytest.MonkeyPatch.context() as patch:
        _install(source, site)
        patch.syspath_prepend(site)
        if (source / "conf").is_dir():
            shutil.copytree(source / "conf", folder / "conf")
            patch.setenv("NALU_BENCH_CONF", str(folder / "conf"))
        patch.setenv("NALU_BENCH_HOME", str(folder / "home"))
        forget()
        yield folder
    for module in set(sys.modules) - before:
        if Path(getattr(sys.modules[module], "__file__", None) or "/").is_relative_to(site):
            del sys.modules[module]
    ConfigStore.instance().repo = schemas  # launchers send the store to other processes, with all its classes
    forget()


def _install(source: Path, site: Path) -> None:
    """Build the wheel and unpack it, as pip does."""
    wheels = site.parent / "wheels"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    with zipfile.ZipFile(next(wheels.glob("*.whl"))) as archive:
        archive.extractall(site)
