"""Cells as jobs of a Hydra launcher: serial, joblib, submitit (Slurm), ray."""

import functools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from omegaconf import DictConfig

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.plan.compose import VERSION_BASE

EXTRAS = {"joblib": "joblib", "submitit_local": "slurm", "submitit_slurm": "slurm"}
"""Launcher -> the extra of this package that installs it."""


def sweep(job: Callable[[int], None], indices: Sequence[int], hydra_overrides: Sequence[str], folder: Path) -> None:
    """Run job(index) for every index through the Hydra launcher that the overrides choose.

    Args:
        job: a picklable function; it must store its own outcome, because nothing is returned.
        indices: one Hydra job each.
        hydra_overrides: such as `hydra/launcher=joblib`.
        folder: for Hydra's own files.

    Raises:
        UsageError for a launcher that is not installed, and for overrides that Hydra refuses.
    """
    _check_installed(hydra_overrides)
    application = hydra.main(version_base=VERSION_BASE, config_path=str(paths.conf_dir() / "launch"), config_name="job")
    sys.argv = [
        "nalu-bench", "--multirun", f"index={','.join(map(str, indices))}", f"hydra.sweep.dir={folder}",
        *hydra_overrides,
    ]  # fmt: skip
    try:
        application(functools.partial(_run_job, job))()
    except SystemExit as end:  # Hydra prints the mistake in its overrides and exits
        if end.code:
            raise UsageError(f"Hydra cannot launch the cells with {' '.join(hydra_overrides)}, see above.") from None


def _check_installed(hydra_overrides: Sequence[str]) -> None:
    """Name the extra to install if the chosen launcher is one of `EXTRAS` and is missing."""
    Plugins.instance()  # finds the installed launchers and stores their configurations
    installed = ConfigStore.instance().list("hydra/launcher")
    for override in hydra_overrides:
        key, _, name = override.partition("=")
        if key == "hydra/launcher" and name in EXTRAS and f"{name}.yaml" not in installed:
            raise UsageError(
                f"{override} needs the extra [{EXTRAS[name]}], which is not installed: "
                f"pip install 'nalu_bench[{EXTRAS[name]}]'"
            )


def _run_job(job: Callable[[int], None], config: DictConfig) -> None:
    job(int(config.index))
