"""What users write: names of their own, keys given once, launchers that are installed."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from forgotten import forget

from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, configuration, described, experiment, looks

MODEL = "defaults: [two_layer_schema, _self_]\nkind: two_layer\nname: {}\nhidden_size: 5\npenalties: {{}}\n"
MODEL += "layers: [{{unit: nac, options: {{}}}}, {{unit: nmu, options: {{}}}}]\n"


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's folder of configurations, with a model `mine`."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mine.yaml").write_text(MODEL.format("mine"))
    monkeypatch.setenv("NALU_BENCH_CONF", str(tmp_path))
    forget()
    yield tmp_path
    forget()


def test_a_users_folder_adds_names(conf: Path) -> None:
    (want,) = compose.plan_cells(["model=mine"], multirun=False).cells
    assert want.cell.model.hidden_size == 5


def test_a_file_whose_defaults_lead_back_to_it_is_refused(conf: Path) -> None:
    (conf / "model" / "mine.yaml").write_text("defaults: [other, _self_]\nname: mine\n")
    (conf / "model" / "other.yaml").write_text("defaults: [mine, _self_]\nname: other\n")
    with pytest.raises(UsageError, match="the `defaults` of a file must not lead back to the file itself"):
        compose.plan_cells(["model=mine"], multirun=False)


@pytest.mark.parametrize(
    "text",
    [
        "defaults: [_self_, nmu]\nname: mine\nhidden_size: 5\n",  # the other file would win
        "defaults: [nmu, _self_]\nhidden_size: 5\n",  # two cells of one name
    ],
)
def test_a_file_that_does_not_bear_its_own_name_is_refused(conf: Path, text: str) -> None:
    (conf / "model" / "mine.yaml").write_text(text)
    with pytest.raises(UsageError, match=r"model/mine.yaml must say name: mine, .* got the name nmu"):
        compose.plan_cells(["model=mine"], multirun=False)


@pytest.mark.parametrize("home", ["x" * 5000, "/dev/null/home", "~nobody-has-this-name/x"])
def test_a_home_that_cannot_be_is_refused(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", home)
    for ask in (paths.runs_dir, paths.results_dir):
        with pytest.raises(
            UsageError,
            match=r"NALU_BENCH_HOME must name a folder, (got .* \((File name too|Not a dir)|and nobody here)",
        ):
            ask()


def test_a_users_file_of_a_shipped_name_is_refused_with_both(conf: Path) -> None:
    (conf / "model" / "nmu.yaml").write_text(MODEL.format("nmu"))
    words = rf"nmu is taken by {paths.conf_dir()}/model/nmu.yaml and {conf}/model/nmu.yaml; rename one"
    with pytest.raises(UsageError, match=words):
        compose.plan_cells(["model=mine"], multirun=False)  # it might be the base of another


def test_a_users_experiment_of_a_shipped_name_is_refused_with_both(conf: Path) -> None:
    mine = conf / "experiments" / "madsen2020" / "table1.yaml"
    mine.parent.mkdir(parents=True)
    shutil.copy(paths.experiments_dir() / "madsen2020" / "table1.yaml", mine)
    with pytest.raises(UsageError, match=rf"madsen2020/table1 is taken by .*/table1.yaml and {mine}; rename one"):
        experiment.load("madsen2020/table1")


def test_a_folder_of_configurations_that_does_not_exist_is_refused(conf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NALU_BENCH_CONF", "one\ntwo" + "o" * 5000)
    with pytest.raises(UsageError, match=r"NALU_BENCH_CONF must name a folder of configurations, got 'one\\ntwooo"):
        experiment.names()
    monkeypatch.setenv("NALU_BENCH_CONF", str(conf / "nope"))
    for ask in (lambda: compose.plan_cells(["model=nmu"], False), experiment.names, lambda: looks.of_model("nmu")):
        with pytest.raises(UsageError, match=r"NALU_BENCH_CONF must name a folder of configurations, got .*nope"):
            ask()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["seeds=3", "seeds=5"], "seeds must be given once, got 'seeds=3' and 'seeds=5'"),
        (["model=nmu", "model=nac"], "model must be given once"),
        (["task.operation=mul", "+task.operation=add"], "task.operation must be given once"),
        (["hydra/launcher=joblib", "hydra/launcher=basic"], "hydra/launcher must be given once"),
    ],
)
def test_a_key_given_twice_is_refused(arguments: list[str], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        compose.plan_cells(arguments, multirun=False)
    assert words in str(caught.value)
    table1 = experiment.load("madsen2020/table1")
    with pytest.raises(UsageError, match="must be given once"):
        compose.plan_experiment(table1, arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["recipe.steps=40", "budget.steps=20"], "recipe.steps takes the place of budget.steps, got both; leave one"),
        (["budget.seeds=5", "seeds=3"], "seeds takes the place of budget.seeds, got both; leave one"),
    ],
)
def test_a_value_and_the_one_of_the_budget_that_it_replaces_are_not_both_given(
    arguments: list[str], words: str
) -> None:
    for ask in (
        lambda: compose.plan_cells(["recipe=madsen2020", *arguments], multirun=False),
        lambda: compose.plan_experiment(experiment.load("madsen2020/table1"), arguments),
        lambda: configuration.resolved(arguments),
    ):
        with pytest.raises(UsageError, match=words):
            ask()


@pytest.mark.parametrize(
    ("text", "read", "quoted"),
    [
        ("[1_1]", "11", '["1_1"]'), ("[y,1.50]", "1.5", '[y,"1.50"]'), ('["a,1_1",1e3]', "1000.0", '["a,1_1","1e3"]'),
        ("[true]", "True", '["true"]'),
    ],
)  # fmt: skip
def test_a_text_that_would_be_read_as_another_one_needs_quotes(text: str, read: str, quoted: str) -> None:
    word = f"task.targets={text}"
    with pytest.raises(UsageError, match=rf"is read as {read}: put it in quotes, as in ") as caught:
        configuration.resolved(["task=table", "task.data=my.csv", word])
    assert f"task.targets={quoted}" in str(caught.value)
    for sound in ("[11]", f"{quoted}", "[1_a]"):
        configuration.resolved(["task=table", "task.data=my.csv", f"task.targets={sound}"])
    assert configuration.resolved(["budget.steps=300_000"])["recipe"]["steps"] == 300_000


def test_a_key_written_twice_in_a_file_is_refused(conf: Path) -> None:
    (conf / "model" / "mine.yaml").write_text(MODEL.format("mine") + "hidden_size: 6\n")
    with pytest.raises(UsageError, match="found duplicate key hidden_size"):
        compose.plan_cells(["model=mine"], multirun=False)
    text = (paths.experiments_dir() / "madsen2020" / "table1.yaml").read_text()
    mine = conf / "experiments" / "mine" / "table1.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text(text + "title: again\n")
    with pytest.raises(UsageError, match="found duplicate key title"):
        experiment.load("mine/table1")
    mine.write_text(text.replace("overrides: [", "overrides: [task.operation=mul, task.operation=add, "))
    with pytest.raises(UsageError, match=r"task.operation must be given once"):
        compose.plan_experiment(experiment.load("mine/table1"), ["budget=smoke"])


@pytest.mark.parametrize("content", [b"", b"- a\n", b"a: [", b"kind: two_layer\nname: mine\n", b"\xff\xfe\x00"])
def test_a_users_broken_file_is_a_plain_error_and_is_listed(content: bytes, conf: Path) -> None:
    (conf / "model" / "mine.yaml").write_bytes(content)
    for ask in (lambda: compose.plan_cells(["model=mine"], multirun=False), lambda: described.shown(["model=mine"])):
        with pytest.raises(UsageError, match=r"must begin with: defaults|must be YAML in UTF-8|cannot compose"):
            ask()
    described.about("model", "mine")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MODEL.format("mine").replace("name: mine\n", ""), "model/mine.yaml must set name."),
        (MODEL.format("mine") + "hiden_size: 3\n", "unknown key of model/mine.yaml 'hiden_size'; did you mean"),
        (
            MODEL.format("mine").partition("layers")[0] + "layers: nau\n",
            "layers must be a list of mappings with the keys",
        ),
    ],
)
def test_a_key_that_a_file_lacks_or_that_is_wrong_is_named_with_the_file(text: str, message: str, conf: Path) -> None:
    (conf / "model" / "mine.yaml").write_text(text)
    with pytest.raises(UsageError, match=re.escape(message)):
        compose.plan_cells(["model=mine"], multirun=False)


def test_a_reference_that_leads_nowhere_is_told_unless_the_command_takes_its_place(conf: Path) -> None:
    (conf / "recipe").mkdir(exist_ok=True)
    shipped = (paths.conf_dir() / "recipe/madsen2020.yaml").read_text(encoding="utf-8")
    mine = re.sub(r"(?m)^name:.*", "name: mine", re.sub(r"(?m)^steps:.*", "steps: ${budget.step}", shipped))
    (conf / "recipe/mine.yaml").write_text(mine)
    words = ["task=ten_parameter", "model=nmu", "recipe=mine", "budget=smoke"]
    with pytest.raises(UsageError, match=r"Interpolation key 'budget\.step' not found"):
        compose.plan_cells(words, multirun=False)
    (want,) = compose.plan_cells([*words, "recipe.steps=40"], multirun=False).cells
    assert want.cell.recipe.steps == 40


def test_a_label_that_yaml_takes_for_no_text_is_refused_with_its_file(conf: Path) -> None:
    for word, value in {"no": "False", "1.50": "1.5"}.items():
        (conf / "model" / f"label_{value[0]}.yaml").write_text(
            f"defaults: [two_layer, _self_]\nname: label_{value[0]}\nof: nau\nlabel: {word}\n"
        )
        with pytest.raises(UsageError, match=f"label_{value[0]}.yaml: label must be a text, got {value}; put it in"):
            compose.plan_cells([f"model=label_{value[0]}", "task=ten_parameter"], multirun=False)


@pytest.mark.parametrize("base", ["/model/singel", "../model/single", "/unit/nac", "/recipe/table", "{single: nac}"])
def test_defaults_of_another_folder_are_refused_with_the_file_and_cost_no_unit_anything(conf: Path, base: str) -> None:
    for name, bases in (("behind", f"single, {base}"), ("before", f"{base}, single")):
        (conf / "model" / f"{name}.yaml").write_text(f"defaults: [{bases}, _self_]\nname: {name}\nof: nau\n")
        with pytest.raises(UsageError, match=f"{name}.yaml: `defaults` must name files of its own folder, got "):
            compose.plan_cells([f"model={name}", "task.operation=add"], multirun=False)
    (want,) = compose.plan_cells(["model=single", "unit=nau", "task.operation=add"], multirun=False).cells
    assert want.cell.model.name == "single_nau"


def test_a_pipe_among_the_files_stops_no_list(conf: Path) -> None:
    os.mkfifo(conf / "model" / "pipe.yaml")
    assert described.about("model", "pipe") == ""
    assert main(["list", "model"]) == 0
    with pytest.raises(UsageError, match=r"pipe\.yaml"):
        compose.plan_cells(["model=pipe", "task.operation=add"], multirun=False)


def test_a_number_of_base_60_is_refused_in_a_file_its_base_and_its_unit_and_is_no_number_in_a_command(
    conf: Path,
) -> None:
    (conf / "unit").mkdir()
    (conf / "unit" / "odd.yaml").write_text("unit: nau\nlook: 1:20\n")
    (conf / "model" / "mine.yaml").write_text(MODEL.format("mine").replace("size: 5", "size: 1:20"))
    (conf / "model" / "next.yaml").write_text("defaults: [mine, _self_]\nname: next\n")
    for word in ("model=mine", "model=next", "unit=odd"):
        with pytest.raises(UsageError, match="YAML takes 1:20 for 80, as of base 60"):
            compose.plan_cells([word], multirun=False)
    with pytest.raises(UsageError, match=r"recipe\.steps must be a whole number, got '1:20'"):
        compose.plan_cells(["recipe.steps=1:20"], multirun=False)


PULL = "unit: nau\npenalties:\n  sparsity: {weight: 0, start: 0, end: 0}\n"


@pytest.fixture
def pull(conf: Path) -> Path:
    """A user's unit with another factor than the NMU has, and models of both."""
    (conf / "unit").mkdir()
    (conf / "unit" / "pull.yaml").write_text(PULL)
    model = "defaults: [two_layer, _self_]\nname: {}\nof: [pull, nmu]\n"
    (conf / "model" / "silent.yaml").write_text(model.format("silent"))
    stated = "penalties:\n  sparsity: {weight: 3, start: 0, end: 0}\n"
    (conf / "model" / "stated.yaml").write_text(model.format("stated") + stated)
    forget()
    return conf


@pytest.mark.parametrize(
    ("words", "weight", "told"),
    [
        (
            ["unit=[nmu,pull]"],
            0,
            "weight: nmu 10, pull 0; .* it is that of pull. .* set model.penalties.sparsity.weight=",
        ),
        (["model=silent"], 10, "weight: pull 0, nmu 10; .* it is that of nmu"),
        (["unit=[nmu,pull]", "model.penalties.sparsity.weight=2"], 2, ""),
        (["unit=[pull,nmu]"], 3, ""),  # the model `stated`
        (["unit=pull"], 0, ""),
        (["unit=[nau,nmu]"], 10, ""),  # the model `nmu`
    ],
)
def test_units_that_state_several_factors_for_one_penalty_are_told(
    pull: Path, words: list[str], weight: float, told: str
) -> None:
    if not told:
        (pull / "model" / "silent.yaml").unlink()
        forget()
    with pytest.warns(UserWarning, match=told) if told else contextlib.nullcontext():
        (want,) = compose.plan_cells(words, multirun=False).cells
    assert want.cell.model.penalties["sparsity"].weight == weight
