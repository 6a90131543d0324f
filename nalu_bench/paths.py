"""The project's folders. Shipped files lie beside the package in a checkout, and inside it in an installation."""

import os
from pathlib import Path

from nalu_bench.errors import UsageError

PACKAGE = Path(__file__).resolve().parent
CHECKOUT = PACKAGE.parent


def gone() -> str:
    """That the current folder was removed, in which libraries find nothing; empty if it is there."""
    try:
        os.getcwd()
    except OSError:
        return "the current folder has been removed; change to another one"
    return ""


def in_checkout() -> bool:
    """Whether the package runs from a checkout of the repository (an editable installation included)."""
    return (CHECKOUT / "conf").is_dir() and (CHECKOUT / "pyproject.toml").is_file()


def conf_dir() -> Path:
    """The folder of the shipped YAML files."""
    return _shipped("conf")


def experiments_dir() -> Path:
    """The folder of the shipped experiments."""
    return _shipped("experiments")


def shipped_results_dir() -> Path:
    """The folder of the results that travel with an installation: their tables, runs and pictures, without curves."""
    return _shipped("results")


def notebooks_dir() -> Path:
    """The folder of the shipped notebooks."""
    return _shipped("notebooks")


def examples_dir() -> Path:
    """The folder of the example packages."""
    return _shipped("examples")


def citation() -> Path:
    """The file that tells who made this, and how to cite it."""
    return _shipped("CITATION.cff")


def _shipped(name: str) -> Path:
    return CHECKOUT / name if in_checkout() else PACKAGE / "shipped" / name


def work_dir() -> Path:
    """The folder of `runs/` and `results/`: NALU_BENCH_HOME if set, else the checkout, else the current folder.

    It is absolute, because a plan is carried out by other processes, too, which may be in other folders.

    Raises:
        UsageError for a name that no folder can have.
    """
    home = os.environ.get("NALU_BENCH_HOME")
    if not home:
        return _utf8(CHECKOUT if in_checkout() else Path.cwd())
    home = os.path.expanduser(home)  # a shell leaves ~ alone between quotes, and a file of variables always
    if home.startswith("~"):
        raise UsageError(f"NALU_BENCH_HOME must name a folder, and nobody here is the user of {home!r:.200}.")
    try:
        os.stat(home)
    except FileNotFoundError:  # it is made once something is written
        if os.path.islink(home):
            raise UsageError(f"NALU_BENCH_HOME must name a folder, and {home!r:.200} is a link to nothing.") from None
    except OSError as error:
        raise UsageError(
            f"NALU_BENCH_HOME must name a folder, got {home!r:.200} ({error.strerror}); set another one, or unset it."
        ) from None
    return _utf8(Path(home).absolute())


def _utf8(folder: Path) -> Path:
    """The folder; raises UsageError if the library that writes tables cannot encode its name."""
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"the folder of runs and results must have a name in UTF-8, got {os.fsencode(folder)!r:.200}; set "
            "NALU_BENCH_HOME to another one, or leave out PYTHONUTF8=0."
        ) from None
    return folder


def runs_dir() -> Path:
    """The folder of the run store."""
    return work_dir() / "runs"


def results_dir() -> Path:
    """The folder of results; those in its subfolder `local/` are not committed."""
    return work_dir() / "results"


def user_conf_dir() -> Path | None:
    """The user's own folder of YAML files (NALU_BENCH_CONF), searched after the shipped one."""
    folder = os.path.expanduser(os.environ.get("NALU_BENCH_CONF", ""))
    if folder and not os.path.isdir(folder):  # Path.is_dir raises for a name that is too long
        raise UsageError(
            f"NALU_BENCH_CONF must name a folder of configurations, got {folder!r:.200}; make it, or unset it."
        )
    return Path(folder).resolve() if folder else None


def short(path: Path) -> str:
    """The path from the current folder if it lies there, else the whole path."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, OSError):  # OSError: the current folder has been removed
        return str(path)
