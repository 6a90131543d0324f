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
from standing_alone import needs_nothing_else

import nalu_bench
from nalu_bench import paths
from nalu_bench.analysis.measure.manifest import PAGE
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.measure.read import MEASURED
from nalu_bench.files import hashes
from nalu_bench.pages.page import page
from nalu_bench.verify.folder import targets

COMMITTED = targets([], paths.CHECKOUT / "results")

PAGES = ["madsen2020/gating", "mistry2022/single_module", "trask2018/figure5"]
"""Experiments whose pages are built, too: networks with curves, a ranking, agents with a film."""

SOME = ["madsen2020/gating", "trask2018/table2"]
"""Experiments of two kinds, with products of arrays that were kept in single precision."""

PROGRAM = f"""
import os, sys
from pathlib import Path
from nalu_bench.cli import main
PAGES = {PAGES}
for name in sys.argv[2:]:
    os.environ["NALU_BENCH_HOME"] = str(Path(sys.argv[1], name))
    if main(["report", name, *([] if name in PAGES else ["--no-page"])]):
        sys.exit(name)
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
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("names", [SOME, pytest.param(sorted({*COMMITTED} - {*SOME}), marks=pytest.mark.thorough)])
def test_every_committed_report_is_made_again_to_the_byte_without_vector_instructions(
    names: list[str], tmp_path: Path
) -> None:
    """Of the measured files alone: nothing else, and no run store, is there. The pages stand alone."""
    committed = {name: COMMITTED[name] for name in names}
    made = {name: tmp_path / name / "results" / name for name in committed}
    for name, folder in committed.items():
        made[name].mkdir(parents=True)
        for file in ("manifest.json", *MEASURED):
            if (folder / file).exists():
                shutil.copy(folder / file, made[name])
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), *committed]
    done = subprocess.run(command, env=os.environ | plain_instructions(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name, folder in committed.items():
        found, there = (
            {file: digest for file, digest in hashes(each).items() if file != PAGE} for each in (made[name], folder)
        )
        assert found == there, name
    for name in {*PAGES} & {*committed}:
        text = (made[name] / PAGE).read_text(encoding="utf-8")
        assert len(text.encode()) < 2_000_000, name
        assert needs_nothing_else(text), name


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", sorted({*COMMITTED} - {*PAGES}))
def test_every_other_page_is_small_and_stands_alone(name: str) -> None:
    text = page(nalu_bench.load(name))
    assert len(text.encode()) < 2_000_000
    assert needs_nothing_else(text)


def test_a_report_computes_in_double_precision() -> None:
    rows = pd.DataFrame({"cell": ["c"], "seed": [0], "status": ["finished"]})
    single = rows.assign(step=1, mse=np.float32(0.1))
    kept = rows.assign(name="W", shape=[[1, 1]], values=[np.ones(1, np.float32)])
    measured = Measured(rows, single, single, kept)
    assert {measured.trained.curves["mse"].dtype, measured.trained.predictions["mse"].dtype} == {np.dtype(float)}
    assert measured.arrays("c", 0)["W"].dtype == float
    assert measured.curves["mse"].dtype == np.float32, "what is written is what was measured"
