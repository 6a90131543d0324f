"""A table of one's own: its rows, splits and scales, its identity, and what cannot be used."""

import hashlib
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from nalu_bench import paths
from nalu_bench.cli import main
from nalu_bench.datasets import csv_table
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, config_groups, folders
from nalu_bench.plan.cell import Cell
from nalu_bench.store.reader import Store
from nalu_bench.tasks import table
from nalu_bench.training import data, rebuild
from nalu_bench.training.compilation import Mode
from nalu_bench.training.program import program_of

TINY = ["compile=false", "device.workers=1", "budget.steps=4", "budget.log_every=2", "recipe=table", "seeds=2"]
SPLITS = ("train", "validation", "test", "extrapolation")
ROWS = 100


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder holds my.csv, with y = 10 a b + 3 and z = a - b for a = 1, 2, ..., 100."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": np.arange(1, ROWS + 1), "b": rng.integers(1, 9, ROWS)})
    table["y"], table["z"] = 10 * table["a"] * table["b"] + 3, table["a"] - table["b"]
    table.sample(frac=1, random_state=0).to_csv(tmp_path / "my.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path / "home"))
    return tmp_path


def words(*changes: str) -> list[str]:
    """A command's arguments with these changes."""
    given = {text.partition("=")[0] for text in changes}
    common = ["task=table", "task.data=my.csv", "task.targets=[y]", "task.ignore=[z]", "model=nau", *TINY]
    return [*(text for text in common if text.partition("=")[0] not in given), *changes]


def cell(*changes: str) -> Cell:
    return compose.plan_cells(words(*changes), multirun=False).cells[0].cell


def read(*names: str) -> pd.DataFrame:
    return csv_table.numbers("my.csv", names, csv_table.checksum("my.csv"))


def parts(*changes: str) -> dict[str, Any]:
    """Split -> its arrays x and t."""
    task = cell(*changes).task
    return {split: task.split_parameters(split) for split in SPLITS}


@pytest.mark.slow
@pytest.mark.thorough
def test_every_model_of_vectors_trains_on_it() -> None:
    shapes = config_groups.shapes()
    named = [name for name in folders.files("model") if name not in shapes]
    models = [name for name in named if cell(f"model={name}").skip() is None]
    assert {"mlp", "linear", "relu6", "nac", "nac_mul", "nalu", "gated_nau_nmu", "nau", "nmu", "iit_nac"} <= set(models)
    assert main(["run", "-m", *words(f"model={','.join(models)}", "budget.steps=1", "budget.log_every=1")]) == 0
    assert {path.name for path in (paths.runs_dir() / "table").iterdir()} == set(models)


def test_rows_beyond_a_quantile_of_a_column_are_outside_and_shares_of_the_others_are_held_out() -> None:
    found = parts()
    assert {split: len(part["x"]) for split, part in found.items()} == {
        "train": 48, "validation": 16, "test": 16, "extrapolation": 20,
    }  # fmt: skip
    assert sorted(found["extrapolation"]["x"][:, 0]) == list(range(81, 101))
    together = np.concatenate([np.hstack([part["x"], part["t"]]) for part in found.values()])
    table = pd.read_csv("my.csv")[["a", "b", "y"]].to_numpy(np.float32)
    assert sorted(map(tuple, together)) == sorted(map(tuple, table))


@pytest.mark.parametrize(
    ("limits", "inside"),
    [
        ("[null,30]", range(1, 31)),
        ("[30,null]", range(30, 101)),
        ("[20.5,70]", range(21, 71)),
        ("[10%,90%]", range(11, 91)),
        ("[50%,95]", range(51, 96)),
    ],
)
def test_the_training_range_has_numbers_quantiles_or_no_limit(limits: str, inside: range) -> None:
    found = parts(f"task.train_range={limits}")
    held = np.concatenate([found[split]["x"][:, 0] for split in SPLITS[:3]])
    assert sorted(held) == list(inside)
    assert len(found["extrapolation"]["x"]) == ROWS - len(inside)


def test_any_column_can_split_and_the_draw_has_a_seed_of_its_own() -> None:
    by_target = parts("task.split_column=y")
    assert by_target["extrapolation"]["t"].min() > max(by_target[split]["t"].max() for split in SPLITS[:3])
    assert sorted(parts("task.split_column=z", "task.train_range=[null,0]")["extrapolation"]["x"][:, 0])[0] > 1
    one, other = parts()["test"]["x"], parts("task.split_seed=1")["test"]["x"]
    assert len(one) == len(other)
    assert not np.array_equal(one, other)


def test_features_are_all_columns_but_targets_and_ignored_ones_or_those_that_are_named() -> None:
    assert cell("task.ignore=[]").task.input_size == 3
    assert cell("task.ignore=[a,z]").task.input_size == 1
    with pytest.raises(UsageError, match=r"task.ignore must name no column of task.features, got a in both"):
        cell("task.features=[a,b]", "task.ignore=[a]")
    named = cell("task.features=[z,a]", "task.ignore=[]")
    assert named.task.split_parameters("test")["x"].shape == (16, 2)
    assert named.digest != cell("task.features=[a,z]", "task.ignore=[]").digest


@pytest.mark.parametrize("scale", ["max_abs", "standard"])
def test_scales_are_fitted_on_the_training_rows_alone(scale: str) -> None:
    raw, scaled = parts(), parts(f"task.scale={scale}")
    for key in ("x", "t"):
        rows = raw["train"][key].astype(float)
        shift, factor = (rows.mean(0), rows.std(0)) if scale == "standard" else (0, rows.max(0))
        for split in SPLITS:
            np.testing.assert_allclose(scaled[split][key], (raw[split][key] - shift) / factor, rtol=1e-5, atol=1e-6)
    assert scaled["extrapolation"]["x"][:, 0].min() > 1


@pytest.mark.parametrize("scale", ["none", "max_abs", "standard"])
def test_errors_are_in_the_units_of_the_table_and_the_store_rebuilds_their_networks(scale: str) -> None:
    changes = ["model=mlp", "task.targets=[y,z]", "task.ignore=[]", f"task.scale={scale}"]
    assert main(["run", *words(*changes)]) == 0
    trained, raw, store = cell(*changes), parts("task.targets=[y,z]", "task.ignore=[]"), Store(paths.runs_dir())
    shift, factor = trained.task._scale(["y", "z"], scale)  # type: ignore[attr-defined]
    deviations = raw["train"]["t"].astype(float).std(0)
    for row in store.runs(trained).to_dict("records"):
        network = rebuild.network(trained, store.parameters(trained, row["seed"]))
        for split in SPLITS[1:]:
            x = data.tensors(trained.task.split_parameters(split))["x"]
            with torch.no_grad():
                y = network(x).double().numpy() * factor + shift
            errors = y - raw[split]["t"]
            expected = {
                "mse": (errors**2).mean(), "mae": np.abs(errors).mean(), "mae_y": np.abs(errors[:, 0]).mean(),
                "mae_z": np.abs(errors[:, 1]).mean(), "nmse": ((errors / deviations) ** 2).mean(),
            }  # fmt: skip
            assert {name: row[f"{split}_{name}"] for name in expected} == pytest.approx(expected, rel=1e-4)
        assert row["selected_step"] in (2, 4)
    assert trained.task.judges == "extrapolation_nmse"
    assert "test_nmse" not in store.curves(trained), "the test split is measured once, on the selected network"


def test_a_single_target_has_no_error_of_its_own_beside_that_of_all() -> None:
    assert main(["run", *words()]) == 0
    assert not [name for name in Store(paths.runs_dir()).runs(cell()) if name.endswith("_mae_y")]


def test_a_target_that_is_called_as_a_measure_makes_no_split(capsys: pytest.CaptureFixture[str]) -> None:
    pd.read_csv("my.csv").rename(columns={"z": "nmse"}).to_csv("my.csv", index=False)
    assert main(["run", *words("model=mlp", "task.targets=[y,nmse]", "task.ignore=[]")]) == 0
    told = capsys.readouterr().out
    assert "nmse" in told
    assert "_mae" not in told


def test_an_epoch_shows_every_row_once_and_keeps_its_last_smaller_batch() -> None:
    draw = data.training_numbers(cell(), [0, 1], Mode("cpu", compiled=False))
    batches = [draw(step) for step in (1, 2)]
    assert [batch.shape[-1] for batch in batches] == [32, 16]
    assert (torch.cat(batches, dim=-1)[:, 0].sort(dim=-1).values == torch.arange(48)).all()


def test_the_identity_is_that_of_the_content_and_never_of_the_path(folder: Path) -> None:
    here, content = cell(), hashlib.sha256(Path("my.csv").read_bytes()).hexdigest()
    assert here.identity()["data"] == {"table": content}
    assert {"data", "sha256"}.isdisjoint(here.identity()["task"])
    (folder / "other").mkdir()
    shutil.copy("my.csv", folder / "other" / "renamed.csv")
    there = cell(f"task.data={folder}/other/renamed.csv")
    stated = cell("task.data=nowhere.csv", f"task.sha256={content}")
    assert here.digest == there.digest == stated.digest
    with Path("my.csv").open("a") as stream:
        stream.write("101,1,1013,100\n")
    assert len(cell().task.split_parameters("extrapolation")["x"]) == 20
    eager = Mode("cpu", compiled=False)
    assert cell().digest != here.digest
    assert program_of(cell(), eager) is not program_of(there, eager)


def test_status_needs_no_file_where_its_checksum_is_stated(capsys: pytest.CaptureFixture[str]) -> None:
    content = hashlib.sha256(Path("my.csv").read_bytes()).hexdigest()
    asked = words(f"task.sha256={content}")
    assert main(["run", *asked]) == 0
    Path("my.csv").unlink()
    capsys.readouterr()
    assert main(["status", *asked]) == 0
    assert "2/2 runs" in capsys.readouterr().out
    assert main(["run", *words(f"task.sha256={content}", "seeds=26")]) == 2
    assert "my.csv must be a file that can be read (No such file or directory" in capsys.readouterr().err


def test_the_number_of_rows_is_in_the_manifest() -> None:
    assert main(["run", *words()]) == 0
    (manifest,) = Store(paths.runs_dir()).manifests(cell())
    assert "48 train, 16 validation, 16 test, 20 extrapolation" in str(manifest)


GOOD = "a,b,y,z\n1,1,1,1\n2,1,2,1\n3,2,6,1\n4,1,4,1\n9,1,9,1\n"


@pytest.mark.parametrize(
    "content", [GOOD, "\ufeff" + GOOD, GOOD.replace("\n", "\r\n"), GOOD.replace(",", " , "), "\n\n" + GOOD]
)
def test_a_table_smaller_than_a_batch_is_one_batch_and_spaces_and_line_ends_do_not_matter(content: str) -> None:
    Path("my.csv").write_bytes(content.encode())
    assert main(["run", *words()]) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "my.csv must be a file that can be read (No such file ... seen from ... set task.data to its path"),
        ("", "my.csv must hold a line with the names of its columns, then rows of numbers"),
        ("a,b,y,z\n", "my.csv must hold a line with the names of its columns, then rows of numbers"),
        (b"a,b,y,z\n\xff,1,1,1\n", "my.csv must be CSV, a text in UTF-8: ... decode ... save it as such"),
        (
            GOOD + "1,2,3,4,5\n",
            "every line of my.csv must have as many cells as its first ... Expected 4 fields in line 7",
        ),
        ("a,b\n1,1,1\n", "every line of my.csv must have as many cells as its first ... Expected 2 fields in line 2"),
        (
            "a;b;y;z\n1,5;1;1;1\n",
            "commas must separate the cells of my.csv, and its first line has ';' in their place; save it",
        ),
        ("a\tb\n1,5\t1\n", "commas must separate the cells of my.csv, and its first line has '\\t' in their place"),
        (
            "a,b,y,z\n" + "".join(f"{1.7e9 + 60 * row:.0f},1,{row},1\n" for row in range(40)),
            "a of my.csv has 40 different values in its rows 1 to 40, and 19 ... or choose task.scale=standard",
        ),
        ("a,b,y,z\n" + "".join(f"{row},{row}e-50,{row},1\n" for row in range(40)), "b of my.csv has 40 different"),
        (
            "a,b,y,z\n" + "".join(f"9007199254740993.{row},1,{row},1\n" for row in range(10, 50)),
            "a of my.csv has numbers that double precision does not keep apart (16 digits, from 2e-308 on)",
        ),
        (
            "a,b,y,z\n" + "".join(f"{row},{row}e-400,{row},1\n" for row in range(40)),
            "b of my.csv has numbers that double precision does not keep apart (16 digits, from 2e-308 on)",
        ),
        (
            "a,b,y,z\n"
            + "".join(f"9007199254740993.{row},1,{row},1\n" for row in range(10, 50))
            + f"1e-{10**20},1,50,1\n",
            "a of my.csv has numbers that double precision does not keep apart (16 digits, from 2e-308 on)",
        ),
        (GOOD + '3,"1"5,3,1\n', "a cell of my.csv that begins with a quote must end with one: ',' expected after"),
        (GOOD + '3,"15,3,1\n', "a cell of my.csv that begins with a quote must end with one: unexpected end of data"),
        ("a\tb\n1\t1\n", "commas must separate the cells of my.csv, and its first line has '\\t' in their place"),
        ("a;b;y;z\n1;1;1;1\n", "commas must separate the cells of my.csv, and its first line has ';' in their place"),
        (
            "TOKEN=secret\n1\n",
            "my.csv must have at least two columns, a target and an input, with commas between; got one",
        ),
        ("a,b,z\n1,1,1\n", "unknown column of my.csv 'y'. Known: a, b, z"),
        ("a,b,yy,z\n1,1,1,1\n", "unknown column of my.csv 'y'; did you mean 'yy'"),
        ("a,b,y,z,b\n1,1,1,1,1\n", "every column of my.csv must have a name of its own, and several are called b"),
        (",a,b,y,z\n0,1,1,1,1\n", "must name every column, and number 1 of 5 has no name; ... index=False"),
        (GOOD + "three,1,3,1\n", "must be a number up to 3e38: a has 1 of 6 that are not (row 6 holds 'three')"),
        (GOOD + "3,,3,1\n,,4,1\n", "a has 1 of 7 that are not (row 7 is empty); b has 2 of 7 that are not (row 6 is"),
        (GOOD + "3,1\n", "y has 1 of 6 that are not (row 6 is empty)"),
        (GOOD + "3,inf,3,1\n", "b has 1 of 6 that are not (row 6 holds 'inf')"),
        (GOOD + "3,1e39,3,1\n", "b has 1 of 6 that are not (row 6 holds '1e39')"),
        (GOOD + "3,nan,3,1\n", "b has 1 of 6 that are not (row 6 holds 'nan')"),
        (GOOD.replace(",1\n", ",True\n").replace(",1,", ",2,"), None),
        ("a,b,y,z\n1,True,2,1\n2,False,3,1\n", "b has 2 of 2 that are not (row 1 holds 'True')"),
        ("a,b,y,z\n1,1,1,1\n", "got 0 train, 1 validation, 0 test, 0 extrapolation: 1 of 1 rows have a in"),
        ("a,b,y,z\n2,1,1,1\n2,1,2,1\n2,1,3,1\n", "1 train, 1 validation, 1 test, 0 extrapolation: 3 of 3 rows have a"),
        (GOOD.replace("3,2,6", "3,2,1").replace("2,1,2", "2,1,1").replace("4,1,4", "4,1,1"), "y of my.csv must have"),
        (GOOD.replace("3,2,6", "3,2,6e20"), "y of my.csv must vary by 1.2e-19 or more and have values up to 1e+15"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_plain_words_before_training(
    content: str | bytes | None, message: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("my.csv").unlink()
    if content is not None:
        Path("my.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["run", *words()]) == (2 if message else 0)
    error = " ".join(capsys.readouterr().err.split())
    assert "Traceback" not in error
    assert all(part in error for part in (message or "").split(" ... ")), error


def test_a_file_that_would_fill_the_memory_is_refused_unread(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(csv_table, "LARGEST", 100)
    Path("my.csv").write_text("a,b,y,z\n" + "1,1,1,1\n" * 100)
    assert main(["run", *words()]) == 2
    assert "my.csv must have at most 1e-07 GB, got 0.0 GB; train on a part of its rows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("task.targets=[]", "task.targets must name at least one column of the table, and none twice, got []"),
        ("task.targets=y", "task.targets must be a list, got 'y': write 'task.targets=[y]'"),
        (
            "task.train_range=80%",
            "task.train_range must be a list, got '80%': write one as in 'task.train_range=[null,80%]'",
        ),
        ("task.targets=[y,y]", "and none twice, got ['y', 'y']"),
        ("task.features=[]", "task.features must name at least one column"),
        ("task.features=[a,y]", "no target must be an input, got task.targets=['y'] and ['a', 'y']"),
        ("task.features=[a,c]", "unknown column of my.csv 'c'. Known: a, b, y, z"),
        ("task.ignore=[y]", "task.ignore must name no target, got y in it"),
        ("task.ignore=[q]", "unknown column of my.csv 'q'"),
        ("task.ignore=[a,b,z]", "my.csv must have a column beside task.targets and task.ignore, and has none"),
        ("task.split_column=time", "unknown column of my.csv 'time'"),
        ("task.train_range=[5]", "task.train_range must be [low, high], each a number, a quantile such as 80%"),
        ("task.train_range=[0,much]", "or null for no limit, got [0, 'much']"),
        ("task.train_range=[0,120%]", "task.train_range must be [low, high]"),
        ("task.train_range=[null,null]", "100 of 100 rows have a in the training range, -inf to inf"),
        ("task.train_range=[9,5]", "task.train_range must have low <= high, got [9, 5]: 9 and 5"),
        ("task.validation_share=0", "must be above 0 and leave rows for training, got 0.0 and 0.2"),
        ("task.test_share=0.9", "must be above 0 and leave rows for training, got 0.2 and 0.9"),
        ("task.split_seed=-1", "task.split_seed must be at least 0, got -1"),
        ("task.scale=standart", "unknown task.scale 'standart'; did you mean 'standard'"),
        (f"task.sha256='{'0' * 64}'", f"my.csv must have the SHA-256 that task.sha256 states, {'0' * 64}, and has"),
        ("task.sha256=abc", "task.sha256 must be 64 digits of base 16, as of sha256sum, got 'abc'"),
    ],
)
def test_a_users_mistake_is_told_in_plain_words(change: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *words(change)]) == 2
    assert message in capsys.readouterr().err


def test_values_that_single_precision_merges_are_found_in_every_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(table, "CHECKED", 50)
    rows = [f"{row if row < 60 else 1.7e9 + row:.0f},1,{row},1\n" for row in range(100)]
    Path("my.csv").write_text("a,b,y,z\n" + "".join(rows))
    assert main(["run", *words()]) == 2
    assert "a of my.csv has 50 different values in its rows 51 to 100, and " in capsys.readouterr().err


def test_values_that_scaling_merges_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{row},{-999 if row == 3 else row * 1e-24!r},{row},1\n" for row in range(100)]
    Path("my.csv").write_text("a,b,y,z\n" + "".join(rows))
    assert main(["run", *words("task.scale=standard")]) == 2
    assert "b of my.csv has 100 different values in its rows 1 to 100, and 2 in" in capsys.readouterr().err


@pytest.mark.parametrize("scale", ["max_abs", "standard"])
def test_numbers_that_are_infinite_once_scaled_are_refused(scale: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{row},{(1 + row % 7) * (1e-30 if row < 80 else 1e30)!r},{row},{row}\n" for row in range(100)]
    Path("my.csv").write_text("a,b,y,z\n" + "".join(rows))
    chosen = ["task.split_column=z", "task.train_range=[0,79]", f"task.scale={scale}"]
    assert main(["run", *words(*chosen)]) == 2
    assert f"with task.scale={scale}, and errors of more than 1e+15 may have no mean square" in capsys.readouterr().err


def test_decimal_numbers_of_many_digits_are_read_as_long_as_they_stay_apart() -> None:
    rows = "".join(f"0.12345678901{row}0000000,{row}\n" for row in range(10, 50))
    Path("my.csv").write_text(f"a,y\n{rows}{rows}")
    assert len(read("a")) == 80


def test_quotes_around_whole_cells_are_read_with_blanks_around_them() -> None:
    Path("my.csv").write_text('a, "b" ,"c, ""d"""\r\n"1", "2" ,"3"\r\n4,5,6 \r\n')
    assert read("a", "b", 'c, "d"').to_numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    Path("my.csv").write_text(f'a,note\n1,"{"long " * 100_000}"\n2,""\n')
    assert read("a")["a"].tolist() == [1, 2]


def test_a_table_that_changes_after_the_plan_is_not_trained_on(capsys: pytest.CaptureFixture[str]) -> None:
    planned = pickle.loads(pickle.dumps(cell()))  # as another process gets it
    table = pd.read_csv("my.csv")
    table.assign(y=1000 * table["y"]).to_csv("my.csv", index=False)
    with pytest.raises(UsageError, match=r"my\.csv must stay as it is while it is trained on, and was changed since"):
        planned.task.split_parameters("train")
    assert cell().digest != planned.digest
    table.to_csv("my.csv", index=False)
    assert planned.task.rows("train").count == len(planned.task.split_parameters("train")["x"])


def test_names_that_are_numbers_are_no_row_wherever_they_stand() -> None:
    rows = "".join(f"{row},{2 * row},1\n" for row in range(40))
    for blank in ("", "\n", "\r\n\r\n"):
        Path("my.csv").write_text(f"{blank}0,1,2\n{rows}")
        assert read("0", "1").to_numpy().tolist() == [[row, 2 * row] for row in range(40)]


def test_an_offset_of_the_target_takes_no_digit_from_its_error() -> None:
    table = pd.read_csv("my.csv")
    found = []
    for offset in (0.0, 1e9):
        table.assign(y=table["y"] + offset).to_csv("my.csv", index=False)
        assert main(["run", *words("task.scale=standard")]) == 0
        found.append(Store(paths.runs_dir()).runs(cell("task.scale=standard"))["test_mae"].tolist())
    assert found[0] == pytest.approx(found[1], rel=1e-4)


def test_a_constant_feature_is_an_input_like_any_other_unless_it_is_scaled(capsys: pytest.CaptureFixture[str]) -> None:
    table = pd.read_csv("my.csv").assign(one=1)
    table.to_csv("my.csv", index=False)
    assert main(["run", *words()]) == 0
    assert main(["run", *words("task.scale=standard")]) == 2
    said = capsys.readouterr().err
    assert "one of my.csv must have more than one value in the training rows, and it is 1 in all 48" in said
    assert "leave it out, or choose other rows (task.train_range)" in said


def test_what_has_no_default_must_be_set() -> None:
    with pytest.raises(UsageError, match=r"task.data, task.targets must be set, without a default: add task.data=..."):
        compose.plan_cells(["task=table"], multirun=False)


@pytest.mark.parametrize("scale", ["none", "max_abs", "standard"])
@pytest.mark.parametrize("unit", [1e-50, 1e-30])
def test_a_target_whose_errors_have_no_squares_is_refused_under_every_scale(
    scale: str, unit: float, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.read_csv("my.csv")
    table.assign(y=unit * table["y"]).to_csv("my.csv", index=False)
    assert main(["run", *words(f"task.scale={scale}")]) == 2
    assert "its errors are squared in single precision" in capsys.readouterr().err


@pytest.mark.parametrize("device", [True, False])
def test_a_pipe_or_a_device_is_no_table(device: bool, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    if device:
        path.symlink_to("/dev/zero")
    else:
        os.mkfifo(path)
    with pytest.raises(UsageError, match="must be a file, and is a pipe or a device"):
        csv_table.checksum(str(path))
