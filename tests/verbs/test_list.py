"""`nalu-bench list` is a page: families of names are folded, a user's own names are not."""

from pathlib import Path

import pytest

from nalu_bench.cli import main
from nalu_bench.plan import experiment, folders
from nalu_bench.verbs.families import folded
from nalu_bench.verbs.names import LINES, WIDTH, page

UNIT = "# A unit of mine. The rest is not told.\nunit: nau\n"


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a user's own configurations."""
    monkeypatch.setenv("NALU_BENCH_CONF", str(tmp_path))
    (tmp_path / "unit").mkdir()
    return tmp_path


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["list", *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_the_page_of_all_kinds_has_60_lines_of_100_columns_and_says_how_to_see_all(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = listed(capsys)
    assert len(lines) <= LINES == 60
    assert max(map(len, lines)) <= WIDTH == 100
    assert lines[-1].endswith("nalu-bench list KIND, such as nalu-bench list model")


def test_every_name_stands_on_the_page_or_belongs_to_a_family_on_it(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {word.strip(",:") for line in listed(capsys) for word in line.split()}
    for name in [*folders.files("model"), *experiment.names()]:
        first = name.split("/")[0] + "/" if "/" in name else name.split("_")[0] + "_"
        assert {name, f"{first}*"} & shown, name


def test_a_family_has_its_count_an_example_and_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    (line,) = (line for line in listed(capsys) if line.startswith("  hidden_*"))
    count = sum(name.startswith("hidden_") for name in folders.files("model"))
    assert line.split(maxsplit=1)[1].startswith(f"{count}, such as hidden_crelu: One hidden layer of 2 without biases")


def test_a_kind_alone_shows_every_name(capsys: pytest.CaptureFixture[str]) -> None:
    shown = {line.split()[0] for line in listed(capsys, "model") if line.startswith("  ") and line[2] != " "}
    assert shown == set(folders.files("model"))


def test_a_users_own_name_is_shown_even_where_it_begins_as_a_family(
    conf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("my_unit", "nac_of_mine"):
        (conf / f"unit/{name}.yaml").write_text(UNIT)
    lines = listed(capsys)
    assert "  my_unit                    A unit of mine." in lines
    assert "  nac_of_mine                A unit of mine." in lines
    assert len(lines) <= LINES


def test_many_own_names_are_all_shown_on_the_page(conf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = [f"mine_{number}" for number in range(40)]
    for name in own:
        (conf / f"unit/{name}.yaml").write_text(UNIT)
    lines = listed(capsys)
    assert len(lines) <= LINES
    assert set(own) <= {word.strip(",") for line in lines for word in line.split()}


def test_damaged_results_cost_no_other_experiment_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    (tmp_path / "results/madsen2020/table1").mkdir(parents=True)
    (tmp_path / "results/madsen2020/table1/manifest.json").write_text("{")
    assert main(["list", "experiment"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "madsen2020/table1 is damaged" in told
    assert "no results yet" in told


def test_a_family_of_fewer_is_shown_by_its_names() -> None:
    alone, families = folded(["nac", "nac_mul", "rnn_nac", "rnn_relu", "rnn_tanh"], 3)
    assert alone == ["nac", "nac_mul"]
    assert [(family.pattern, family.members) for family in families] == [("rnn_*", ["rnn_nac", "rnn_relu", "rnn_tanh"])]


def test_of_the_tables_of_a_paper_the_paper_is_the_family() -> None:
    alone, (family,) = folded([f"some_paper/table_{number}" for number in range(3)], 3)
    assert not alone
    assert family.pattern == "some_paper/*"


def test_a_page_that_would_be_too_long_has_fewer_families() -> None:
    models = {"model": dict.fromkeys(folders.files("model"), True)}
    whole = page(models)
    assert len(page(models, len(whole))) == len(whole)
    shorter = page(models, len(whole) - 1)
    assert len(shorter) < len(whole)
    assert 0 < sum(", such as " in line for line in shorter) < sum(", such as " in line for line in whole)


def test_a_kind_without_names_is_shown() -> None:
    assert page({"logger": {}})[0] == "logger:"
