"""Table 2 of Madsen & Johansen 2020 from invented runs: its layout, its recomputed means, and unfinished campaigns."""

import functools
import re
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reported import cells_of, lines_of, lines_with, measured_of, runs_of, verdicts_of

from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.report import Report
from nalu_bench.analysis.reports.success import Success
from nalu_bench.cli import main
from nalu_bench.plan import compose, experiment
from nalu_bench.plan.blocks import blocks
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.result import BlockResult
from nalu_bench.store.writer import write_part

TABLE2 = experiment.load("madsen2020/table2")
STREAMS = "streams=stable_nalu"

ORDER = [
    ("mul", "nac_mul"), ("mul", "nalu"), ("mul", "nmu"),
    ("add", "nac"), ("add", "linear"), ("add", "nalu"), ("add", "nalu", STREAMS), ("add", "nau"),
    ("sub", "nac"), ("sub", "linear"), ("sub", "nalu"), ("sub", "nalu", STREAMS), ("sub", "nau"),
]  # fmt: skip

SOLVED = {
    ("mul", "nac_mul"): (0.31, 2.8e6, 0.25, 1e-3), ("mul", "nalu"): (0.0, 1e6, 0.3, 0.3),
    ("mul", "nmu"): (0.98, 1.43e6, 0.18, 4e-7), ("add", "nac"): (1.0, 2.5e5, 0.4, 0.45),
    ("add", "linear"): (1.0, 6.1e4, 0.25, 0.53), ("add", "nalu"): (0.14, 1.5e6, 0.5, 0.35),
    ("add", "nau"): (1.0, 1.8e4, 0.08, 3e-5), ("sub", "nac"): (1.0, 9e3, 0.2, 0.46),
    ("sub", "linear"): (0.07, 3.3e6, 0.4, 0.43), ("sub", "nalu"): (0.14, 1.9e6, 0.6, 0.43),
    ("sub", "nau"): (1.0, 5e3, 0.1, 0.19),
}  # fmt: skip
"""Share of solved seeds, median and log-spread of the solved step, sparsity error: close to the printed values."""


@functools.cache
def wanted() -> dict[tuple[str, str, str], Wanted]:
    """Operation, model and further words -> cell of the plan."""
    cells = compose.plan_experiment(TABLE2, ["budget=paper"]).cells
    return {(want.setting()["operation"], want.cell.model.name, str(want.words())): want for want in cells}


def invent(root: Path, operation: str, model: str, seeds: Iterable[int], words: str = "") -> Cell:
    """Write finished parts of one cell into the store."""
    cell = wanted()[operation, model, words].cell
    threshold = cell.task.threshold("authors")
    assert threshold is not None
    rate, median, spread, sparsity = SOLVED[operation, model]
    for block in blocks(seeds):
        rng = np.random.default_rng([block.number, *f"{operation}{model}".encode()])
        count = block.width
        at = 1000 * np.ceil(np.minimum(median * np.exp(spread * rng.standard_normal(count)), 5e6) / 1000)
        at = np.where(rng.permutation(count) < round(rate * count), at, np.inf)
        steps = np.union1d(np.array([0, 5_000_000]), at[np.isfinite(at)]).astype(int)
        error = np.where(steps[:, None] >= at, threshold / 2, threshold * 2).astype(np.float32)
        error[-1] *= 0.9  # the selected step has the smallest error
        columns = {f"{split}_{kind}": error for split in cell.task.evaluated for kind in ("mse", "mae")}
        columns["train_loss"] = np.where(steps[:, None] > 0, error, np.float32("nan"))
        columns["sparsity_error"] = np.broadcast_to(sparsity * (0.5 + rng.random(count)), error.shape)
        result = BlockResult(
            block,
            steps,
            columns,
            np.full(count, 5_000_000),
            np.full(count, -1),
            parameters={},
            weights={"W": np.zeros((count, 1, 1))},
            gates={},
            tested={},
            arrays={},
            seconds=60.0,
        )
        made_by = {"device": "cpu", "mode": "eager", "torch": "0", "commit": "none"}
        write_part(root / "runs", cell, result, made_by)
    return cell


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def report(home: Path) -> Callable[[], Path]:
    """Write the report; returns its folder."""

    def write() -> Path:
        assert main(["report", "--no-page", "madsen2020/table2", "budget=paper"]) == 0
        return home / "results" / "madsen2020" / "table2"

    return write


def rows_of(table: pd.DataFrame, operation: str, model: str) -> pd.DataFrame:
    chosen = table[(table["operation"] == operation) & (table["model"] == model)]
    return chosen.fillna({"note": ""}).set_index("metric")


@pytest.mark.slow
def test_a_whole_campaign_has_the_papers_layout_and_verdicts_by_recomputed_means(
    home: Path, report: Callable[[], Path]
) -> None:
    for (operation, model, words), want in wanted().items():
        invent(home, operation, model, want.seeds, words)
    folder = report()
    table = pd.read_csv(folder / "table.csv")
    cells = table[["operation", "model", "setting"]].fillna("").itertuples(index=False, name=None)
    assert [tuple(filter(None, cell)) for cell in dict.fromkeys(cells)] == ORDER
    assert table.groupby(table["setting"].fillna(""))["n_seeds"].unique().to_dict() == {"": [100], STREAMS: [25]}
    assert set(table["steps"]) == {5_000_000}
    nmu = rows_of(table, "mul", "nmu")
    assert nmu.loc["solved_at_mean", "verdict"] == "not comparable"
    assert nmu.loc["solved_at_mean", "printed"] == pytest.approx(1520970.3448828245)
    assert nmu.loc["solved_at_mean_recomputed", "printed"] == pytest.approx(1502244.8979591837)
    assert nmu.loc["solved_at_mean_recomputed", "note"] == "all seeds are compared, not their means (log-rank)"
    assert "of the authors': ours is later in" in nmu.loc["solved_at_mean_recomputed", "reason"]
    assert nmu.loc["sparsity_error_mean_recomputed", "note"] == "all seeds are compared, not their means (Mann-Whitney)"
    nothing = rows_of(table, "mul", "nalu")
    assert set(nothing["verdict"].drop(["success_rate", "share_below_1e-06"])) == {"not comparable"}
    assert nothing.loc["success_rate", "verdict"] == "agrees"
    assert nothing.loc["solved_at_median", "note"] == "no number is printed"
    reason = "two samples need 2 solved seeds each, got 0 and 0"
    assert nothing.loc["sparsity_error_mean_recomputed", "note"] == reason
    for file in ("table.md", "table.tex"):
        text = (folder / file).read_text()
        for line in ("verdict", "ours, plain mean", "theirs, plain mean", "verdict on seeds, not means"):
            assert len(re.findall(rf"[|&] {line} +[|&]", text)) == 13
        places = [text.index(label) for label in ("a × b", "a + b", "a − b")] if file == "table.md" else [0]
        assert places == sorted(places)


def test_a_verdict_on_the_seeds_behind_a_mean_stands_apart_from_the_verdicts_on_printed_numbers() -> None:
    seeds = np.arange(25)
    facts = {"solved": True, "solved_at": 18_000.0 + 1000 * seeds, "sparsity_error": 1e-5 * (1 + seeds)}
    runs = runs_of("nau", 25, operation="add", steps=5_000_000, extrapolation_mse=1e-9, **facts)
    kind = Success(TABLE2)
    (table,) = kind.tables(lines_of(kind, measured_of(runs)))
    rows, at = cells_of(table), list(table.header).index("Solved at step, mean")
    ours = [row[2] for row in rows].index("ours (25 seeds)")
    names, means = zip(*[(row[2], row[at]) for row in rows[ours + 1 : ours + 6]], strict=True)
    assert names == ("printed", "verdict", "ours, plain mean", "theirs, plain mean", "verdict on seeds, not means")
    assert means[1] == "not comparable"
    assert means[4].startswith("differs, later in")


def test_a_median_of_a_few_solved_seeds_is_said_to_have_their_range() -> None:
    few = pd.Series([True] * 4 + [False] * 21)
    facts = {"solved": few, "solved_at": np.where(few, 1.5e6 + 1000 * few.index, np.nan), "sparsity_error": 0.4}
    runs = runs_of("nalu", 25, operation="add", steps=5_000_000, extrapolation_mse=1e-9, **facts)
    kind, found = Success(TABLE2), measured_of(runs)
    lines = lines_of(kind, found)
    (median,) = lines_with(lines, model="nalu", operation="add", setting="", metric="solved_at_median")
    assert median.verdict == "inconclusive"
    assert "limits of the median: the range of 4 solved seeds, which holds it with 88 % confidence" in median.notes
    assert (
        "over fewer than 6 seeds those of medians are the seeds' range"
        in Report(kind, found, lines, [], [], Footnotes.of([])).verdicts()
    )


def test_the_figure_has_a_panel_an_operation_and_apart_symbols_for_equal_rates() -> None:
    facts = {"solved": [True, True, True, False], "solved_at": [8e3, 9e3, 1e6, np.nan], "sparsity_error": 0.4}
    found = measured_of(runs_of("nac", 4, operation="sub", steps=5_000_000, extrapolation_mse=1e-9, **facts))
    kind = Success(TABLE2)
    figure, drawn = kind.figure(found, lines_of(kind, found))
    assert [axis.get_title() for axis in figure.axes] == ["a × b", "a + b", "a − b"]
    figure.draw_without_rendering()
    for axis in figure.axes:
        hollow = [line for line in axis.lines if line.get_fillstyle() == "none"]
        spots = [tuple(line.get_transform().transform(line.get_xydata())[0].round()) for line in hollow]
        assert len(set(spots)) == len(spots) == (3 if axis is figure.axes[0] else 4)
    ours = drawn[drawn["series"] == "ours"].set_index("step")["share"]
    assert ours.loc[[7_000, 8_000, 9_000, 5_000_000]].tolist() == [0, 0.25, 0.5, 0.75]
    assert len(ours) < 1100
    assert len(drawn[drawn["series"] == "printed"]) == 2 * 11


def test_a_report_of_some_cells_says_what_there_is_and_what_not(home: Path, report: Callable[[], Path]) -> None:
    invent(home, "mul", "nmu", range(25))
    invent(home, "add", "nau", range(50))
    folder = report()
    table = pd.read_csv(folder / "table.csv", dtype={"n_seeds": int})
    assert len(table) == 6 * 13 + 2  # a share below a limit is not printed, so that it has a row with runs only
    assert set(rows_of(table, "mul", "nmu")["n_seeds"]) == {25}
    assert rows_of(table, "mul", "nmu")["note"].str.contains("25 of 100 seeds").all()
    assert rows_of(table, "add", "nau")["note"].str.contains("50 of 100 seeds").all()
    assert rows_of(table, "mul", "nmu").loc["success_rate", "verdict"] != "not comparable"
    missing = rows_of(table, "sub", "linear")
    assert set(missing["n_seeds"]) == set(missing["steps"]) == {0}
    assert missing["ours"].isna().all()
    assert set(missing["verdict"]) == {"not comparable"}
    assert set(missing["note"]) == {"no runs of ours"}
    text = (folder / "table.md").read_text()
    assert "Runs: 75 finished (asked for: 1,150)." in text
    assert text.count("ours (no seeds yet)") == 11
    assert re.search(r"^\| a × b +\| NAC• +\| ours \(no seeds yet\)", text, re.MULTILINE)
    assert "* †n: n of 100 seeds.\n" in text
    assert re.search(r"^\| +\| NMU .*\n(?:\|.*\n)\| +\| +\| verdict +\| \w+ †25 ", text, re.MULTILINE)
    assert re.search(r"^\* success_rate, .*: not comparable, no runs of ours\.$", text, re.MULTILINE)


def test_results_grow_in_pieces(home: Path, report: Callable[[], Path]) -> None:
    invent(home, "mul", "nmu", range(25))
    report()
    invent(home, "mul", "nmu", range(25, 50))
    invent(home, "sub", "nac", range(25))
    runs = pd.read_csv(report() / "runs.csv")
    assert runs.groupby("model")["seed"].count().to_dict() == {"nac": 25, "nmu": 50}


def test_the_report_is_made_again_to_the_byte_without_the_store(home: Path, report: Callable[[], Path]) -> None:
    invent(home, "mul", "nmu", range(25))
    folder = report()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (home / "runs").rename(home / "elsewhere")
    assert {path.name: path.read_bytes() for path in report().iterdir()} == before


def test_steps_beside_those_of_the_paper_are_compared_with_nothing() -> None:
    seeds = np.arange(25)
    facts = {"solved": True, "solved_at": 18_000.0 + 1000 * seeds, "sparsity_error": 1e-5 * (1 + seeds)}
    runs = runs_of("nau", 25, operation="add", steps=50_000, extrapolation_mse=1e-9, **facts)
    lines = lines_with(lines_of(Success(TABLE2), measured_of(runs)), model="nau", operation="add", setting="")
    judged = {metric: verdict for metric, verdict in verdicts_of(lines).items() if verdict}
    assert set(judged.values()) == {"not comparable"}
    (mean,) = lines_with(lines, metric="solved_at_mean_recomputed")
    assert mean.notes == ("trained for 50,000 steps, printed for 5,000,000",)
    assert mean.ours.value == pytest.approx(30_000)
