"""Cells as jobs of a Hydra launcher: serial, joblib, submitit (Slurm), ray."""

import functools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import hydra
from omegaconf import DictConfig

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.plan.compose import VERSION_BASE


def sweep(job: Callable[[int], None], indices: Sequence[int], hydra_overrides: Sequence[str], folder: Path) -> None:
    """Run job(index) for every index through the Hydra launcher that the overrides choose.

    Args:
        job: a picklable function; it must store its own outcome, because nothing is returned.
        indices: one Hydra job each.
        hydra_overrides: such as `hydra/launcher=joblib`.
        folder: for Hydra's own files.
    """
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


def _run_job(job: Callable[[int], None], config: DictConfig) -> None:
    job(int(config.index))
