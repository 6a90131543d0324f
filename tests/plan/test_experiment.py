"""Files of experiments: an error names the file, and a budget may have any name."""

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from nalu_bench.analysis import results
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, configuration, experiment
from nalu_bench.plan.experiment import CellGroup

WHOLE = """title: Mine
source: nowhere
budgets: {smoke: {seeds: 2, steps: 20, log_every: 10, ramp_scale: 1}}
cells: [{overrides: [task=ten_parameter], grid: {model: [nmu, nac]}}]
report: {kind: success, criterion: task}
"""
REST = "log_every: 10, ramp_scale: 1"
TINY = f"{{tiny: {{seeds: 1, steps: 20, {REST}}}, big: {{seeds: 2, steps: 40, {REST}}}}}"

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write the experiment mine/table with some lines changed, by key (None removes one); returns its path."""
    folder = tmp_path / "experiments" / "mine"
    folder.mkdir(parents=True)
    monkeypatch.setenv("NALU_BENCH_CONF", str(tmp_path))
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path / "home"))

    def change(**lines: str | None) -> Path:
        kept = [line for line in WHOLE.splitlines() if line.partition(":")[0] not in lines]
        changed = [f"{key}: {text}" for key, text in lines.items() if text is not None]
        (folder / "table.yaml").write_text("\n".join([*kept, *changed]) + "\n")
        return folder / "table.yaml"

    return change


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ({"budgets": None}, "must set budgets"),
        ({"budgets": "{}"}, "must set at least one budget"),
        ({"budgets": "{paper: 5}"}, "budgets must be a mapping of names to {seeds, steps, log_every, ramp_scale, ov"),
        ({"budgets": "{smoke: {seeds: 2}}"}, "must set budgets.smoke.log_every, budgets.smoke.ramp_scale, budgets"),
        ({"budgets": "{smoke: {step: 20}}"}, "unknown key of budgets in experiments/mine/table.yaml 'step'; did you"),
        ({"budgets": "{smoke: {seeds: x, steps: 1, log_every: 1, ramp_scale: 1}}"}, "Value 'x' of type 'str'"),
        ({"cells": "5"}, "cells must be a list of {overrides"),
        ({"cells": "{a: 1}"}, "cells must be a list of {overrides"),
        ({"cells": "[task=arithmetic]"}, "str is not a subclass of CellGroup"),
        ({"cells": "[{overrides: [], grid: [nmu]}]"}, "grid a mapping of lists"),
        ({"cells": "[{overrides: [], grid: {model: nmu}}]"}, "Value 'nmu' (str) is incompatible"),
        ({"cells": "[{grid: {}}]"}, "must set cells[0].overrides"),
        ({"cells": "[{overides: []}]"}, "'overides'; did you mean 'overrides'?"),
        ({"cells": "[{overrides: [], share: 0}]"}, "share of a cell group must be a number above 0, got 0.0"),
        (
            {"cells": "[{overrides: [], grid: {model: []}}]"},
            "grid of a cell group must list values for model, got none",
        ),
        (
            {"cells": "[{overrides: [], grid: &a {model: *a}}]"},
            "must hold values that end, and an alias (*name) stands inside of what it names",
        ),
        ({"cells": "[{overrides: [], cases: []}]"}, "cases of a cell group must hold a list of overrides, got none"),
        ({"plain": "{claim_x: {asks: 'A?', says: B.}}"}, "plain.claim_x.found"),
        ({"plain": "{claim_x: {asks: 'A?', says: B., found: 'It is {0}.'}}"}, "must hold one of {number}, {percent}"),
        ({"plain": "{claim_x: {asks: 'A?', says: B., found: '{number} of {number}'}}"}, "once, got"),
        ({"cells": "["}, "cannot read experiments/mine/table.yaml, which must be YAML"),
        ({"report": "5"}, "report must be a mapping with a kind"),
        ({"report": "{criterion: task}"}, "report must be a mapping with a kind"),
        ({"report": "{kind: [success]}"}, "report must be a mapping with a kind"),
        ({"settings": "[hidden]"}, "settings must be a mapping of words to dotted keys of a cell"),
        ({"settings": "{hidden: [1]}"}, "settings must name a dotted key of a cell for hidden, got [1]"),
        ({"titel": "Mine"}, "unknown key of experiments/mine/table.yaml 'titel'; did you mean 'title'?"),
        ({"title": "[1]"}, "title must be a text"),
        ({"title": "2026"}, "title must be a text, got 2026"),
        ({"source": "yes"}, "source must be a text, got True"),
        ({"title": "!!set {a, b}"}, "values must be texts, numbers, truth values, null, lists and mappings, got !!set"),
        ({"source": "!!timestamp 2026-11-26"}, "lists and mappings, got !!timestamp; leave the tag out"),
        ({"budgets": f"{{smoke: {{seeds: 1:20, steps: 20, {REST}}}}}"}, "YAML takes 1:20 for 80, as of base 60; write"),
        ({"cells": "[{overrides: [], grid: {seeds: [-1:30.5]}}]"}, "YAML takes -1:30.5 for -90.5, as of base 60"),
        ({"budgets": f"{{smoke: {{seeds: 010, steps: 20, {REST}}}}}"}, "YAML takes 010 for 8, as of base 8; write"),
        ({"remarks": "5"}, "remarks must be a list of texts"),
        ({"title": '""'}, "title and source must have 1 to 300 letters"),
        ({"source": "x" * 301}, "title and source must have 1 to 300 letters"),
        ({"settings": "{model: model.hidden_size}"}, "settings must have words of their own, and model is a column"),
    ],
)
def test_a_broken_experiment_says_which_file_and_what_must_hold(
    lines: dict[str, str | None], words: str, write: Write
) -> None:
    write(**lines)
    with pytest.raises(UsageError) as caught:
        experiment.load("mine/table")
    assert "experiments/mine/table.yaml" in str(caught.value)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "must set title, source, budgets, cells, report"),
        (b"- a\n- b\n", "must set title"),
        (b"5\n", "cannot read experiments/mine/table.yaml"),
        (b"title: \xff\xfe\n", "which must be YAML in UTF-8"),
        (bytes(range(256)), "which must be YAML in UTF-8"),
    ],
)
def test_a_file_that_is_no_mapping_in_utf_8_is_a_plain_error(content: bytes, words: str, write: Write) -> None:
    write().write_bytes(content)
    with pytest.raises(UsageError, match=r"experiments/mine/table\.yaml") as caught:
        experiment.load("mine/table")
    assert words in str(caught.value)


def test_a_date_is_a_text_and_so_is_what_stands_in_quotes(write: Write) -> None:
    write(title="2026-11-26", source="'1:20'")
    assert experiment.load("mine/table").heading == experiment.about("mine/table") == "2026-11-26 (1:20)"


def test_a_title_cannot_command_the_terminal_of_a_listing(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(title=r'"\e[2J"')
    assert main(["list", "experiment"]) == 0
    assert r"\x1b[2J (nowhere)" in capsys.readouterr().out


@pytest.mark.parametrize("other", ["trask2018/tabel6", "mine/table"])
def test_an_excerpt_is_of_other_experiments_that_exist(other: str, write: Write) -> None:
    with write().open("a", encoding="utf-8") as stream:
        stream.write(f"\nexcerpt: [{other}]\n")
    with pytest.raises(UsageError, match=rf"unknown experiment of excerpt in experiments/mine/table\.yaml '{other}'"):
        experiment.load("mine/table")


@pytest.mark.parametrize("share", ["x", "null", "0", "-1", ".nan", "true"])
def test_a_share_that_is_none_is_refused(share: str) -> None:
    with pytest.raises(UsageError, match="share of a cell group must be a number above 0"):
        experiment.CellGroup([], share=yaml.safe_load(share))


@pytest.mark.parametrize(
    ("report", "words"),
    [
        ("{kind: succes, criterion: task}", "did you mean 'success'"),
        ("{kind: success}", "the report of mine/table must set criterion"),
        ("{kind: success, criterion: author}", "unknown criterion 'author'"),
        ("{kind: success, criterion: task, layuot: {}}", "did you mean 'layout'"),
        ("{kind: success, criterion: task, layout: 5}", "the report of mine/table: layout"),
        (
            "{kind: success, criterion: task, layout: {model: [nmuu]}}",
            "unknown model of layout in the report of mine/t",
        ),
        ("{kind: success, criterion: task, not_comparable: {rate: x}}", "unknown metric of not_comparable in the rep"),
        ("{kind: sweep, criterion: task, axis: Size}", "must set against"),
        ("{kind: best_of, count: 1, over: {}, splits: [train]}", "the report of mine/table: splits"),
    ],
)
def test_a_report_that_cannot_be_made_is_refused_before_training(
    report: str, words: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    home = write(report=report).parents[2] / "home"
    for verb in ("run", "status"):
        assert main([verb, "experiment=mine/table", "budget=smoke"]) == 2
        error = capsys.readouterr().err
        assert words in error
        assert "Traceback" not in error
        assert not home.exists()


def test_a_budget_has_any_name_and_no_printed_numbers_mean_no_verdicts(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    home = write(budgets=TINY, remarks="[these numbers are mine]").parents[2] / "home"
    assert main(["run", "experiment=mine/table"]) == 2
    assert "mine/table has no budget short: choose budget= one of big, tiny." in capsys.readouterr().err
    assert main(["run", "experiment=mine/table", "budget=tiny", "compile=false", "device.workers=1"]) == 0
    assert main(["report", "--no-page", "mine/table", "budget=tiny"]) == 0
    text = (home / "results" / "mine" / "table" / "table.md").read_text(encoding="utf-8")
    assert "Budget tiny: 1 seeds, 20 steps" in text
    assert "Verdicts: none." in text
    assert "\n\n* these numbers are mine.\n" in text
    assert main(["report", "--no-page", "mine/table"]) == 0, "the committed budget needs not be named again"


def test_the_published_protocol_is_the_budget_paper_or_the_largest(write: Write) -> None:
    write(budgets=TINY)
    assert experiment.load("mine/table").printed_steps == 40
    assert experiment.load("madsen2020/table1").printed_steps == 200_000


def test_an_unknown_budget_lists_those_there_are(write: Write) -> None:
    write(budgets=TINY)
    with pytest.raises(UsageError, match=r"unknown budget of mine/table 'tyni'; did you mean 'tiny'\?"):
        compose.plan_experiment(experiment.load("mine/table"), ["budget=tyni"])


def test_values_that_go_together_are_cases() -> None:
    group = CellGroup(
        ["task=arithmetic"], {"model": ["nmu", "nac"]}, [["task.features=4"], ["task.features=8", "seeds=3"]]
    )
    assert list(group.expand({})) == [
        ["task=arithmetic", "task.features=4", "model=nmu"],
        ["task=arithmetic", "task.features=4", "model=nac"],
        ["task=arithmetic", "task.features=8", "seeds=3", "model=nmu"],
        ["task=arithmetic", "task.features=8", "seeds=3", "model=nac"],
    ]
    assert len(list(group.expand({"model": ["nac"]}))) == 2
    assert list(CellGroup(["task=arithmetic"]).expand({})) == [["task=arithmetic"]]


def test_an_experiment_has_no_more_cells_than_a_sweep(write: Write) -> None:
    many = list(range(1, 200))
    write(cells=f"[{{overrides: [task=ten_parameter], grid: {{recipe.batch_size: {many}, recipe.steps: {many}}}}}]")
    with pytest.raises(UsageError, match="at most 10,000 cells, and the grids of mine/table give more"):
        compose.plan_experiment(experiment.load("mine/table"), ["budget=smoke"])


def test_aliases_that_stand_for_billions_of_values_are_refused_at_once(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    letters = "abcdefghij"
    more = [f"{last}: &{last} [{', '.join([f'*{first}'] * 9)}]" for first, last in itertools.pairwise(letters)]
    path = write()
    path.write_text("\n".join(["a: &a [x, x]", *more, "title: *j"]) + "\n")
    with pytest.raises(UsageError, match="must hold at most 1,000,000 keys and values"):
        experiment.load("mine/table")
    assert main(["list", "experiment"]) == 0
    assert "cannot be read, see nalu-bench status" in capsys.readouterr().out


@pytest.mark.parametrize("levels", ["[" * 40_000, "- " * 40_000])
def test_a_file_of_too_many_levels_is_refused_and_stops_no_list(
    levels: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    """libyaml would end the program."""
    write().write_text(f"title:\n  {levels}")
    with pytest.raises(UsageError, match="it must have at most 1,000 levels"):
        experiment.load("mine/table")
    assert main(["list", "experiment"]) == 0
    assert "cannot be read, see nalu-bench status" in capsys.readouterr().out


def test_brackets_that_are_nested_too_deeply_in_a_command_are_refused() -> None:
    with pytest.raises(UsageError, match="brackets must not be nested so deeply"):
        configuration.resolved(["task=ten_parameter", f"model.layers={'[' * 1000}{']' * 1000}"])


def test_a_setting_of_another_type_is_told_what_it_must_be(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    for settings, must in (
        ("layout: [a, b]", "layout must be a mapping of names to lists of texts, got ['a', 'b']"),
        ("below: x", "below must be a mapping of names to numbers, got 'x'"),
    ):
        write(report=f"{{kind: success, criterion: task, {settings}}}")
        assert main(["run", "mine/table", "budget=smoke"]) == 2
        assert must in capsys.readouterr().err


def test_plain_words_are_those_of_a_claim_that_is_printed(write: Write) -> None:
    write(plain="{claim_x: {asks: 'A?', says: B., found: 'It is {number}.'}}")
    assert main(["status", "mine/table", "budget=smoke"]) == 2
    plan = compose.plan_experiment(experiment.load("mine/table"), ["budget=smoke"])
    with pytest.raises(UsageError, match="unknown claim in plain of mine/table 'claim_x'"):
        results.check(plan, plan.cells)
