"""Gates: which path they chose, beside the printed histogram."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from reported import line_with, lines_of, measured_of, runs_of

from nalu_bench import paths
from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.errors import UsageError
from nalu_bench.papers.madsen2020.gating import BINS, Gating
from nalu_bench.plan import experiment

SOURCES = paths.CHECKOUT.parent / "shared" / "published"
GATING = experiment.load("madsen2020/gating")
MODELS = {
    "Gated NAU/NMU": "nau_gated_nau_nmu", "NALU (separate)": "nac_nalu_separate", "NALU (shared)": "nac_nalu_shared",
}  # fmt: skip
METRICS = {"solved_at_iteration_median": "solved_at_median", "solved_at_iteration_mean": "solved_at_mean"}
CENTRE = re.compile(r"gate bin centre ([\d.]+); solved=(True|False)")


def measured(gates: list[float], operation: str = "mul") -> Measured:
    """Runs with these mean gates, of which the first half is solved."""
    count = len(gates)
    solved = np.arange(count) < count // 2
    runs = runs_of(
        "nac_nalu_shared", count, task="arithmetic", operation=operation, solved=solved,
        solved_at=np.where(solved, 1e6, np.nan), sparsity_error=1e-4, steps=5_000_000, log_every=1000,
    )  # fmt: skip
    weights = pd.DataFrame({
        "cell": runs["cell"], "seed": runs["seed"], "name": "layers.1.g", "kind": "gate",
        "shape": [[1]] * count, "values": [[gate] for gate in gates],
    })  # fmt: skip
    found = measured_of(runs)
    return Measured(found.runs, found.curves, found.predictions, weights, found.manifest)


def test_a_gate_is_right_on_the_side_of_its_operation() -> None:
    gates = [0.0, 0.1, 0.9, 1.0, 1.0, 0.8]
    for operation, share in (("mul", 2 / 6), ("add", 4 / 6)):
        lines = lines_of(Gating(GATING), measured(gates, operation))
        assert line_with(lines, metric="right_gate", model="nac_nalu_shared", operation=operation).ours.value == share
    lines = lines_of(Gating(GATING), measured([1.0] * 50, "add"))
    assert line_with(lines, metric="right_gate", model="nac_nalu_shared", operation="add").ours.value == 1
    claim = line_with(lines, metric="claim_right_gate", model="nac_nalu_shared", operation="add")
    assert (claim.printed_text, claim.ours.value) == ("gating does not converge consistently", 1)


def test_a_gate_that_no_run_has_is_refused() -> None:
    kind = Gating(replace(GATING, report=GATING.report | {"gate": "layers.1.gg"}))
    with pytest.raises(UsageError, match=r"unknown gate in the report of madsen2020/gating 'layers\.1\.gg'; did you"):
        kind.rows(measured([0.5, 0.5]))


def test_the_histogram_counts_every_seed_once() -> None:
    gates = [0.0, 0.02, 0.021, 0.5, 1.0, 1.0]
    figure, drawn = Gating(GATING).figure(measured(gates), [])
    assert drawn["count"].sum() == len(gates)
    assert len(drawn) == 2 * BINS
    assert drawn.loc[drawn["bin"] == BINS - 1, "count"].sum() == 2
    assert drawn.loc[drawn["bin"] == 0, "count"].sum() == 2
    assert len(figure.axes) == 1


def test_printed_numbers_and_histogram_are_those_of_their_transcriptions() -> None:
    if not SOURCES.exists():
        pytest.skip("the sources are not at hand")
    ours = pd.read_csv(GATING.published, dtype=str)
    theirs = pd.read_csv(SOURCES / "madsen_gating.csv", dtype=str)
    keys = [(row.operation, MODELS[row.model], METRICS.get(row.metric, row.metric)) for row in theirs.itertuples()]
    table = ours[~ours["metric"].isin(["right_gate", "claim_right_gate"])]
    found = {(row.operation, row.model, row.metric): row.printed for row in table.itertuples()}
    assert found == dict(zip(keys, theirs["value"], strict=True))
    histogram = pd.read_csv(SOURCES / "madsen_gate_histogram.csv")
    read = histogram["range/split"].str.extract(CENTRE)
    bins = (read[0].astype(float) * (BINS - 1)).round().astype(int)
    copied = pd.read_csv(GATING.folder / "gating.histogram.csv")
    expected = zip(histogram["operation"], histogram["model"].map(MODELS), bins, read[1] == "True", histogram["value"],
                   strict=True)  # fmt: skip
    columns = ["operation", "model", "bin", "solved", "count"]
    assert sorted(copied[columns].itertuples(index=False, name=None)) == sorted(expected)
    for row in ours[ours["metric"] == "right_gate"].itertuples():
        mine = copied[(copied["operation"] == row.operation) & (copied["model"] == row.model)]
        right = mine["bin"] < BINS // 2 if row.operation == "mul" else mine["bin"] > BINS // 2
        assert float(row.printed) == pytest.approx(mine.loc[right, "count"].sum() / 100)
