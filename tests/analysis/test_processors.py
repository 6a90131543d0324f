"""A report is the same on any processor: it is made again here as if the processor had no vector instructions."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from nalu_bench import paths
from nalu_bench.analysis.measure.manifest import PAGE
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.files import hashes
from nalu_bench.verify.folder import targets

COMMITTED = targets([], paths.CHECKOUT / "results")

PROGRAM = """
import sys
from nalu_bench.cli import main
sys.exit(any([main(["report", "--no-page", name]) for name in sys.argv[1:]]))
"""


def plain_instructions() -> dict[str, str]:
    """The switches by which torch, NumPy, OpenBLAS and MKL use the instructions that every processor has."""
    config: Any = np.show_config(mode="dicts")
    found = config["SIMD Extensions"].get("found", [])
    return {
        "ATEN_CPU_CAPABILITY": "default", "NPY_DISABLE_CPU_FEATURES": " ".join(found),
        "OPENBLAS_CORETYPE": "Prescott", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "MKL_CBWR": "COMPATIBLE",
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_committed_report_has_the_same_bytes_without_vector_instructions(tmp_path: Path) -> None:
    for name, folder in COMMITTED.items():
        shutil.copytree(folder, tmp_path / "results" / name, ignore=shutil.ignore_patterns(PAGE))
    environment = os.environ | plain_instructions() | {"NALU_BENCH_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM, *COMMITTED], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name, folder in COMMITTED.items():
        there = {file: digest for file, digest in hashes(folder).items() if file != PAGE}
        assert hashes(tmp_path / "results" / name) == there, name


def test_a_report_computes_in_double_precision() -> None:
    rows = pd.DataFrame({"cell": ["c"], "seed": [0], "status": ["finished"]})
    single = rows.assign(step=1, mse=np.float32(0.1))
    kept = rows.assign(name="W", shape=[[1, 1]], values=[np.ones(1, np.float32)])
    measured = Measured(rows, single, single, kept)
    assert {measured.trained.curves["mse"].dtype, measured.trained.predictions["mse"].dtype} == {np.dtype(float)}
    assert measured.arrays("c", 0)["W"].dtype == float
    assert measured.curves["mse"].dtype == np.float32, "what is written is what was measured"
