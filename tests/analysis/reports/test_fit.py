"""A report that does not fit its cells is refused before anything is trained."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nalu_bench import registry
from nalu_bench.analysis.printed.published import COLUMNS
from nalu_bench.analysis.reports.kind import Kind
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.plan.experiment import Experiment

BUDGETS = {"smoke": {"seeds": 2, "steps": 20, "log_every": 10, "ramp_scale": 1.0}}
SWEEP = {"kind": "series_success", "criterion": "reference", "against": "length", "axis": "Length"}
SERIES = {"kind": "series_errors", "holds": 2, "fails": 10, "claims": {}}
CLAIMS = {"failing": 0.01, "usual": 0.5, "rising": 10, "consistent": 0.95, "correlated": 0.5, "control": "linear",
          "linear": "prelu", "sharp": ["tanh"]}  # fmt: skip
IDENTITY = {"kind": "identity", "ranges": {"inside": [-5, 5], "outside": [-20, 20]}, "claims": CLAIMS}


def kind_of(report: dict[str, Any], folder: Path) -> Kind:
    kind: Kind = registry.reports.load(report["kind"])(Experiment("mine/it", folder, "", "", BUDGETS, [], report))
    return kind


@pytest.mark.parametrize(
    ("report", "words", "message"),
    [
        ({"kind": "success", "criterion": "task", "layout": {"modell": []}}, [], "unknown word of layout .* 'modell'"),
        ({"kind": "success", "criterion": "task", "step_axis": "cubic"}, [], "unknown step_axis .* 'cubic'"),
        ({"kind": "success", "criterion": "task", "below": {"test_mse": 1}}, [], "unknown column .* 'test_mse'"),
        ({"kind": "leaderboard"}, ["task=identity", "model=mlp"], "of kind leaderboard needs tasks with a threshold"),
        ({"kind": "leaderboard"}, ["task=arithmetic,ten_parameter", "model=nau"],
         "a leaderboard must be on one task, .* mine/it is on arithmetic and ten_parameter; give each task"),
        ({"kind": "accuracies", "examples": 10, "tables": []}, [], "unknown column .* 'test_accuracy_0.1'"),
        ({"kind": "relative_errors", "chosen": {}}, ["task=operands"], "unknown column .* 'extrapolation_mse'"),
        (SWEEP, [], "needs a task that tests series of several lengths"),
        (SERIES, [], "needs a task that tests series of several lengths"),
        (IDENTITY, [], "needs a task with probes, as identity"),
    ],
)  # fmt: skip
def test_a_kind_or_a_setting_that_does_not_fit_is_told_before_training(
    report: dict[str, Any], words: list[str], message: str, tmp_path: Path
) -> None:
    cells = compose.plan_cells([*(words or ["task=ten_parameter"]), "budget=smoke"], multirun=True).cells
    with pytest.raises(UsageError, match=message):
        kind_of(report, tmp_path).check(cells)


SPLITS = [
    ({"kind": "success", "criterion": "task"}, ["task=ten_parameter"], "extrapolation, validation"),
    ({"kind": "leaderboard"}, ["task=subsections"], "extrapolation, validation"),
    (IDENTITY, ["task=identity"], "extrapolation, inside, outside, validation"),
]


@pytest.mark.parametrize(("report", "words", "known"), SPLITS)
def test_a_printed_split_that_no_cell_has_is_refused_with_those_there_are(
    report: dict[str, Any], words: list[str], known: str, tmp_path: Path
) -> None:
    cells = compose.plan_cells([*words, "budget=smoke"], multirun=False).cells
    task, model, metric = cells[0].cell.task.name, cells[0].cell.model.name, "success_rate"
    metric = "claim_fail" if report is IDENTITY else metric
    row = f"{task},,,tset,{model},{metric},,,,,,a paper"
    (tmp_path / "it.published.csv").write_text(f"{','.join(COLUMNS)}\n{row}\n")
    with pytest.raises(UsageError, match=rf"unknown split in it.published.csv, row 2 'tset'.* Known: {known}\."):
        kind_of(report, tmp_path).check_printed(cells)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("hiden=4", r"unknown word of the setting in it.published.csv, row 2 'hiden'; did you mean 'hidden'\?"),
        ("hidden=5", r"unknown hidden in it.published.csv, row 2 '5'\. Known: 2, 4"),
        ("hidden", r"a setting must be written as hidden=4;length=10, each word once, got 'hidden'"),
        ("hidden=2;hidden=4", r"each word once, got 'hidden=2;hidden=4'"),
    ],
)
def test_a_printed_setting_that_no_cell_has_is_refused(setting: str, message: str, tmp_path: Path) -> None:
    words = ["task=ten_parameter", "budget=smoke", "model.hidden_size=2,4"]
    cells = [replace(want, settings={"hidden": want.cell.value("model.hidden_size")})
             for want in compose.plan_cells(words, multirun=True).cells]  # fmt: skip
    row = f"ten_parameter,{setting},mul,extrapolation,nmu,success_rate,0.5,,,,,a paper"
    (tmp_path / "it.published.csv").write_text(f"{','.join(COLUMNS)}\n{row}\n")
    with pytest.raises(UsageError, match=message):
        kind_of({"kind": "success", "criterion": "task"}, tmp_path).check_printed(cells)


CLAIMED = [
    ({"of": {"modle": "nmu"}}, r"unknown word of the claim it of mine/it 'modle'; did you mean 'model'\?"),
    ({"of": {"model": "nmuu"}}, r"unknown model of the claim it of mine/it 'nmuu'; did you mean 'nmu'"),
    ({"of": {"model": "nmu"}, "each": "hiden"}, r"unknown word of the claim it of mine/it 'hiden'; did you mean"),
    ({"of": {"hidden": "2"}, "than": {"hidden": "5"}}, r"unknown hidden of the claim it of mine/it '5'\. Known: 2, 4"),
]


@pytest.mark.parametrize(("claim", "message"), CLAIMED)
def test_a_claim_on_what_no_cell_is_is_refused(claim: dict[str, Any], message: str, tmp_path: Path) -> None:
    words = ["task=ten_parameter", "budget=smoke", "model.hidden_size=2,4"]
    cells = [replace(want, settings={"hidden": want.cell.value("model.hidden_size")})
             for want in compose.plan_cells(words, multirun=True).cells]  # fmt: skip
    report = {"kind": "success", "criterion": "task", "claims": {"it": {"at_least": 0.5, **claim}}}
    with pytest.raises(UsageError, match=message):
        kind_of(report, tmp_path).check_printed(cells)


def test_a_printed_bound_is_refused_where_a_number_is_compared(tmp_path: Path) -> None:
    row = "ten_parameter,,mul,extrapolation,nmu,success_rate,>0.5,,,,,a paper"
    (tmp_path / "it.published.csv").write_text(f"{','.join(COLUMNS)}\n{row}\n")
    cells = compose.plan_cells(["task=ten_parameter", "budget=smoke"], multirun=False).cells
    with pytest.raises(UsageError, match=r"it.published.csv, row 2: printed must be a number .*, got >0.5"):
        kind_of({"kind": "success", "criterion": "task"}, tmp_path).check_printed(cells)
