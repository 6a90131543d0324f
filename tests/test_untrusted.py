"""Files from elsewhere are data: none runs code, and no name in them leaves its folder."""

import ast
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from forgotten import forget

import nalu_bench
from nalu_bench import files, paths
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.files import require_file
from nalu_bench.plan import compose, experiment, looks
from nalu_bench.plan.cell import Cell
from nalu_bench.store import schema

SMOKE = ["task=ten_parameter", "model=nmu", "budget=smoke", "compile=false", "device.workers=1"]
TRACE = "executed"

MODEL = """defaults: [two_layer_schema, _self_]
kind: two_layer
name: mine
hidden_size: 2
penalties: {}
layers: [{unit: nac, options: {}}, {unit: nac, options: {}}]
"""
EXPERIMENT = """title: Mine
source: nowhere
budgets: {smoke: {seeds: 2, steps: 20, log_every: 10, ramp_scale: 1}}
cells: [{overrides: [task=ten_parameter], grid: {model: [nmu]}}]
report: {kind: success, criterion: task}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home with a user's folder `conf`; nothing may leave a trace in it or write beside it."""
    home = tmp_path / "home"
    for folder in ("conf/model", "conf/experiments/mine", "conf/hydra/launcher"):
        (home / folder).mkdir(parents=True)
    monkeypatch.setenv("NALU_BENCH_HOME", str(home))
    monkeypatch.setenv("NALU_BENCH_CONF", str(home / "conf"))
    monkeypatch.chdir(home)
    forget()
    yield home
    forget()
    assert not (home / TRACE).exists()
    assert list(tmp_path.iterdir()) == [home]


class Executed:
    """An object whose pickle makes a file."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (TRACE,)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The error of a command that must be refused."""
    assert main(list(arguments)) == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return error


def test_a_pickle_in_a_checkpoint_is_not_executed(home: Path) -> None:
    (want,) = compose.plan_cells(SMOKE, multirun=False).cells
    path = schema.checkpoint_path(paths.runs_dir() / want.cell.folder, "0-24")
    path.parent.mkdir(parents=True)
    torch.save({"identity": Executed(), "step": 10}, path)
    with pytest.warns(UserWarning, match="cannot be read"):
        assert main(["run", *SMOKE]) == 0


def test_a_pickle_in_a_stored_array_is_not_executed(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *SMOKE]) == 0
    (part,) = home.glob("runs/*/*/*/parts/*")
    evil = np.array([Executed(), Executed()], dtype=object)
    np.savez(part / schema.PARAMETERS, evil=evil, allow_pickle=True)
    manifest = json.loads((part / schema.MANIFEST).read_text())
    del manifest["files"]
    (part / schema.MANIFEST).write_text(json.dumps(manifest))
    assert main(["verify", "--store"]) == 1
    assert "parameters.npz cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.mkdir [executed]", "!!python/name:os.mkdir ''"])
def test_a_tag_in_a_users_yaml_is_not_executed(home: Path, tag: str, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "conf/model/mine.yaml").write_text(MODEL + f"label: {tag}\n")
    refused(capsys, "run", "task=ten_parameter", "model=mine", "budget=smoke")
    with pytest.raises(Exception, match=r"values must be texts, numbers, .* got !!python/"):
        looks.of_model("mine")
    (home / "conf/experiments/mine/table.yaml").write_text(EXPERIMENT + f"settings: {tag}\n")
    refused(capsys, "run", "experiment=mine/table", "budget=smoke")


TARGET = "{_target_: os.mkdir, _args_: [executed]}"


@pytest.mark.parametrize(
    "text",
    [
        MODEL.replace("options: {}", f"options: {TARGET}"),
        MODEL.replace("penalties: {}", f"penalties: {{sparsity: {TARGET}}}"),
        MODEL + "_target_: os.mkdir\n_args_: [executed]\n",
        "# @package _global_\n" + MODEL + f"hydra: {{launcher: {TARGET}}}\n",
    ],
)
def test_a_target_in_a_users_model_is_not_called(home: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "conf/model/mine.yaml").write_text(text)
    refused(capsys, "run", "task=ten_parameter", "model=mine", "budget=smoke", "compile=false")


@pytest.mark.parametrize(
    "text",
    [
        EXPERIMENT.replace("criterion: task", "_target_: os.mkdir, _args_: [executed]"),
        EXPERIMENT.replace("[task=ten_parameter]", "[task=ten_parameter, +_target_=os.mkdir]"),
        EXPERIMENT.replace("[task=ten_parameter]", "[task=ten_parameter, hydra.launcher._target_=os.mkdir]"),
        EXPERIMENT.replace("ramp_scale: 1", "ramp_scale: 1, overrides: [hydra/launcher=evil]"),
        EXPERIMENT + "_target_: os.mkdir\n",
    ],
)
def test_a_target_in_a_users_experiment_is_not_called(
    home: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "conf/experiments/mine/table.yaml").write_text(text)
    refused(capsys, "run", "experiment=mine/table", "budget=smoke")


def test_a_launcher_in_a_users_folder_is_not_called(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "conf/hydra/launcher/evil.yaml").write_text("_target_: os.mkdir\n_args_: [executed]\n")
    assert "unknown hydra/launcher 'evil'" in refused(capsys, "run", *SMOKE, "hydra/launcher=evil")


@pytest.mark.parametrize("name", ["../../evil", "..", "a/b", "/tmp/evil", ".hidden"])
def test_a_name_in_a_users_file_cannot_leave_its_folder(
    home: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "conf/model/mine.yaml").write_text(MODEL.replace("name: mine", f"name: {name}"))
    assert "model/mine.yaml must say name: mine" in refused(
        capsys, "run", "task=ten_parameter", "model=mine", "budget=smoke"
    )


@pytest.mark.parametrize("name", ["../../evil", "..", "madsen2020/../../../evil", "local/../../evil"])
def test_an_experiments_name_cannot_leave_its_folder(home: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "unknown experiment" in refused(capsys, "run", f"experiment={name}")
    assert "unknown experiment" in refused(capsys, "report", name)


def test_paths_inside_a_stores_files_lead_nowhere(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *SMOKE]) == 0
    (part,) = home.glob("runs/*/*/*/parts/*")
    manifest = json.loads((part / schema.MANIFEST).read_text())
    outside = {"files": manifest["files"] | {"../../../../../../etc/passwd": "0"}}
    (part / schema.MANIFEST).write_text(json.dumps(manifest | outside))
    assert main(["verify", "--store"]) == 1
    assert "../../../../../../etc/passwd is missing" in capsys.readouterr().err
    (part / schema.MANIFEST).write_text(json.dumps(manifest | {"seeds": "../../0-1"}))
    assert main(["verify", "--store"]) == 1
    assert "its manifest.json says ../../0-1" in capsys.readouterr().err
    shutil.copytree(part, part.with_name("0-1+.."))
    assert main(["verify", "--store"]) == 1
    assert "its name must be a list of seeds" in capsys.readouterr().err


def test_a_configuration_in_a_store_cannot_name_another_place(
    home: Path, make_cell: Callable[..., Cell], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", *SMOKE]) == 0
    (cell,) = home.glob("runs/*/*/*/cell.json")
    identity = json.loads(cell.read_text())
    for group, key, value in (("task", "name", "../../evil"), ("model", "kind", "os:mkdir"), ("task", "kind", "os")):
        cell.write_text(json.dumps(identity | {group: identity[group] | {key: value}}))
        assert main(["verify", "--store"]) == 1
        assert "its configuration belongs to" in capsys.readouterr().err
        assert main(["verify", "--store", "--rerun", "1"]) == 1


def calls(tree: ast.AST) -> Iterator[tuple[str, dict[str, str]]]:
    """(dotted name, keywords as text) of every call."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), {str(one.arg): ast.unparse(one.value) for one in node.keywords}


def test_nothing_in_the_package_can_unpickle_or_instantiate() -> None:
    forbidden = re.compile(
        r"(pickle|marshal|shelve|dill|joblib)\.|(^|\.)(read_pickle|instantiate|unsafe_load|full_load|get_class)$"
        r"|^(eval|exec)$|yaml\.load"
    )
    loaders = {"torch.load": ("weights_only", "True"), "np.load": ("allow_pickle", "False")}
    found = []
    for path in Path(nalu_bench.__file__).parent.rglob("*.py"):
        for name, keywords in calls(ast.parse(path.read_text(encoding="utf-8"))):
            key, value = loaders.get(name, ("", ""))
            assert not forbidden.search(name), f"{path} calls {name}"
            assert not key or keywords.get(key) == value, f"{path} calls {name} without {key}={value}"
            found += [name] if key else []
    assert set(found) == set(loaders)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (EXPERIMENT.replace("Mine", "'${oc.env:HOME}'"), "must hold its values themselves"),
        (
            EXPERIMENT.replace("[task=ten_parameter]", "['task=ten_parameter', 'recipe.loss=${oc.env:HOME}']"),
            "refers to",
        ),
        (EXPERIMENT.replace("Mine", '"\\e[31mred"'), "must hold texts of one line that can be printed"),
        (EXPERIMENT.replace("Mine", "'=HYPERLINK(1)'"), "must hold texts that a spreadsheet takes for no formula"),
        (EXPERIMENT.replace("Mine", "'-1+cmd'"), "must hold texts that a spreadsheet takes for no formula"),
        (EXPERIMENT.replace("[task=ten_parameter]", "[task=ten_parameter, budget=paper]"), "cannot choose its budget"),
        (EXPERIMENT + "settings: {'$(ls)': model.hidden_size}\n", "a name must begin with a letter"),
    ],
)
def test_texts_of_an_experiment_are_what_they_say(
    home: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "conf/experiments/mine/table.yaml").write_text(text)
    assert message in refused(capsys, "report", "mine/table", "budget=smoke")


@pytest.mark.parametrize("text", ["${oc.env:HOME}", "${now:%Y}", "${python_version:}", "${hydra:job.num}"])
def test_a_model_and_a_command_cannot_ask_for_what_is_not_theirs(
    home: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "conf/model/mine.yaml").write_text(MODEL + f"label: '{text}'\n")
    for words in (["model=mine"], ["model=nau", f"recipe.loss={text}"]):
        told = refused(capsys, "run", "task=ten_parameter", *words, "budget=smoke")
        assert f"a configuration must hold its values itself, and one asks for '{text}'" in told


@pytest.mark.parametrize(
    "key", ["experiments: ['{}']\nbudget: smoke", "experiments: [madsen2020/table1]\nbudget: '{}'"]
)
def test_a_campaign_cannot_read_the_environment(
    home: Path, key: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOKEN", "a-secret")
    (home / "mine.yaml").write_text("stages: [1]\n" + key.format("${oc.env:TOKEN}"))
    told = refused(capsys, "campaign", str(home / "mine.yaml"), "--status")
    assert "mine.yaml must hold its values themselves" in told
    assert "a-secret" not in told


@pytest.mark.parametrize(
    "where",
    [
        "overrides: [{}]\nexperiments: [madsen2020/table1]",
        "experiments: [{{experiment: madsen2020/table1, overrides: [{}]}}]",
    ],
)
def test_a_campaign_cannot_choose_what_a_launcher_does(
    home: Path, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    word = "\"hydra.launcher.setup=['touch x']\""
    (home / "mine.yaml").write_text("budget: smoke\nstages: [1]\n" + where.format(word))
    assert "takes no launcher, got 'hydra.launcher.setup=" in refused(capsys, "campaign", str(home / "mine.yaml"))


def test_a_link_to_anothers_file_among_configurations_is_not_shown(
    home: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path_factory.mktemp("private") / "netrc"
    secret.write_text("machine example.com password a-secret")
    (home / "conf/experiments/mine/other.yaml").symlink_to(secret)
    (home / "conf/experiments/mine/table.yaml").write_text(EXPERIMENT)
    (home / "conf/experiments/mine/table.published.csv").symlink_to(secret)
    (home / "conf/model/mine.yaml").symlink_to(secret)
    for words in (["run", "mine/other"], ["report", "mine/table"], ["run", "task=ten_parameter", "model=mine"]):
        told = refused(capsys, *words, "budget=smoke")
        assert "is a link to another folder" in told
        assert "a-secret" not in told


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="the system shows no process as files")
def test_a_table_that_is_no_file_of_its_own_is_not_shown(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOKEN", "a-secret")
    (home / "copied.csv").write_text("TOKEN=a-secret\0HOME=/home/me,y\n1,2\n")
    for data in ("/proc/self/environ", home / "copied.csv"):
        (home / "conf/task").mkdir(exist_ok=True)
        (home / "conf/task/mine.yaml").write_text(
            f"defaults: [table, _self_]\nname: mine\ndata: {data}\ntargets: [y]\n"
        )
        told = refused(capsys, "run", "task=mine", "model=linear", "recipe=table", "budget=smoke")
        assert "a-secret" not in told
        assert "the names of its columns" in told or "number 1 of 2 has others" in told


def test_a_file_that_gives_its_keys_to_others_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "conf/model/mine.yaml").write_text("# @package _global_\n" + MODEL)
    told = refused(capsys, "run", "task=ten_parameter", "model=mine", "budget=smoke")
    assert "mine.yaml must have the keys of its folder, and `# @package` gives it others" in told


@pytest.mark.parametrize("text", ["unit: relu\nlabel: x\noptions: {bias: '${oc.env:HOME}'}", "unit: ${oc.env:HOME}"])
def test_a_unit_cannot_read_the_environment(home: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "conf/unit").mkdir(exist_ok=True)
    (home / "conf/unit/mine.yaml").write_text(text)
    assert main(["run", "-m", "task=ten_parameter", "model=single", "unit=nau,mine", "budget=smoke"]) == 2
    assert "unit/mine.yaml must hold its values themselves" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["$(ls)", "a b", "x;y", "<b>", "a$b", "-m"])
def test_a_name_of_an_experiment_that_commands_would_obey_is_refused(
    home: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / f"conf/experiments/mine/{name}.yaml").write_text(EXPERIMENT)
    assert main(["list"]) == 0
    assert "a name must begin with a letter" in refused(capsys, "report", f"mine/{name}", "budget=smoke")


@pytest.mark.parametrize("name", [".", "a,b", "a b"])
def test_a_name_that_no_command_can_say_is_neither_listed_nor_recommended(
    home: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / f"conf/experiments/mine/{name}.yaml").write_text(EXPERIMENT)
    assert f"mine/{name}" not in experiment.names()
    assert f"mine/{name}'" not in refused(capsys, "report", "mine/x", "budget=smoke")


def test_a_column_of_a_table_ends_no_comment(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "--><script>alert(1)</script><!--"
    monkeypatch.chdir(home)
    rows = [f"{x},{x % 7},{x * (x % 7)}" for x in range(1, 201)]
    (home / "mine.csv").write_text("\n".join([f"a,b,{name}", *rows]))
    words = ["task=table", "task.data=mine.csv", f"task.targets=['{name}']", "model=nmu", "recipe=table", "name=mine"]
    assert main(["run", "-m", *words, "budget=smoke", "recipe.steps=2", "recipe.log_every=2", "compile=false"]) == 0
    text = (home / "results/local/sweeps/mine/table.md").read_text()
    assert "made by: nalu-bench" in text
    assert "<script" not in re.sub("<!--.*?-->", "", text, flags=re.DOTALL)


@pytest.mark.pictures
def test_a_label_is_drawn_and_printed_as_it_is_written(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "conf/model/mine.yaml").write_text(MODEL + "label: '$_$|<b>\\input{x}'\n")
    assert main(["run", "-m", "task=ten_parameter", "model=mine", "budget=smoke", "name=mine", "compile=false"]) == 0
    (folder,) = home.glob("results/local/sweeps/mine")
    assert r"$_$\|&lt;b>" in (folder / "table.md").read_text()
    assert r"\$\_\$" in (folder / "table.tex").read_text()
    assert r"\input" not in (folder / "table.tex").read_text()
    assert (folder / "figure.png").exists()
    (home / "conf/model/mine.yaml").write_text(MODEL + 'label: "\\e[31m"\n')
    forget()
    assert "must be one line that can be printed" in refused(capsys, "report", "--last")
    words = ["run", "task=ten_parameter", "model=mine", "budget=smoke", "seeds=30"]
    assert "must be one line that can be printed" in refused(capsys, *words)  # and trains nothing


def test_a_link_in_a_shared_store_is_never_followed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    precious = home / "precious"
    precious.write_text("data")
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: "guessed")
    (home / "runs").mkdir()
    files.temporary(home / "runs/probe").symlink_to(precious)
    assert main(["run", *SMOKE]) == 2
    assert precious.read_text() == "data"


def test_a_page_that_is_a_link_reads_no_file_of_another_folder(home: Path) -> None:
    secret = home / "secret.md"
    secret.write_text("secret")
    beside = home / "conf/experiments/mine/table.md"
    beside.symlink_to(secret)
    with pytest.raises(UsageError, match="must be a file of its own, and is a link to another folder"):
        require_file(beside)
