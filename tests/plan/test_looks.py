"""Labels of models and operations: from their own files and classes, else their names."""

from dataclasses import replace
from pathlib import Path

import pytest

from nalu_bench.analysis.render import style
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose, experiment, looks


def test_a_models_file_says_how_it_is_called_and_drawn() -> None:
    assert looks.of_model("nac_mul") == looks.Look("NAC•", 1)
    assert looks.of_model("nobody") == looks.Look("nobody", sum(b"nobody"))


def test_a_users_model_has_a_label_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "mine.yaml").write_text("label: My unit\nlook: 3\n", encoding="utf-8")
    (tmp_path / "model" / "plain.yaml").write_text("name: plain\n", encoding="utf-8")
    (tmp_path / "model" / "broken.yaml").write_text("a: [", encoding="utf-8")
    monkeypatch.setenv("NALU_BENCH_CONF", str(tmp_path))
    assert looks.of_model("mine") == looks.Look("My unit", 3)
    assert looks.of_model("plain").label == "plain"
    with pytest.raises(UsageError, match=r"broken\.yaml must be YAML"):
        looks.of_model("broken")


@pytest.mark.parametrize(
    ("task", "operation", "label"),
    [
        ("arithmetic", "mul", "a × b"), ("recurrent_arithmetic", "sqrt", "√a"), ("operands", "neg_sum", "0 −"),
        ("arithmetic", "modulo", "modulo"), ("identity", "modulo", "modulo"), ("nothing", "mul", "mul"),
    ],
)  # fmt: skip
def test_an_operation_is_called_as_its_task_says(task: str, operation: str, label: str) -> None:
    assert looks.of_operation(task, operation) == label


def test_a_label_and_a_look_are_no_part_of_the_identity() -> None:
    cell = compose.plan_cells([], multirun=False).cells[0].cell
    other = replace(cell, model=replace(cell.model, label="x", look=2))
    assert cell.model != other.model
    assert cell.digest == other.digest
    assert "label" not in other.identity()["model"]


@pytest.mark.parametrize("word", ["model.label=x", "model.look=2"])
def test_no_command_sets_a_label_or_a_look(word: str) -> None:
    with pytest.raises(UsageError, match="stands in the file"):
        compose.plan_cells([word], multirun=False)


COMPARED = {
    "Schlör et al. 2020": ["schlor_nalu_matrix", "schlor_nalu_vector", "inalu", "inalu_shared"],
    "Heim et al. 2020": ["npu", "real_npu", "naive_npu", "nmu", "nalu", "inalu_npu"],
    "NALM, a sum": ["nac", "nalu", "nau", "inalu_nalm", "g_nalu", "mcfc"],
    "NALM, a product": ["nac_mul", "nalu", "nmu", "npu", "real_npu", "inalu_nalm", "g_nalu", "snmu", "snmu_batch"],
    "NALM, the note on MCFC": ["nmu", "mul_mcfc", "mul_mcfc_inalu", "mul_mcfc_real_npu"],
    "division": [
        "nac_mul", "nalu", "npu", "real_npu", "real_npu_modified", "inalu_nalm", "g_nalu", "nru", "nru_separate_sign",
        "nmru",
    ],
}  # fmt: skip
"""What the papers draw into one figure."""


@pytest.mark.parametrize("source", COMPARED)
def test_units_that_are_compared_differ_in_colour_marker_or_line(source: str) -> None:
    drawn = [style.drawing(f"single-{unit}") for unit in COMPARED[source]]
    both = [(look["color"], look["marker"], str(look["linestyle"])) for look in drawn]
    assert len(set(both)) == len(both)
    assert all(look.number < 14 for look in (looks.of_model(f"single-{unit}") for unit in COMPARED[source]))


@pytest.mark.parametrize(
    "name", [f"trask2018/{one}" for one in ("table2", "table3", "table6", "table8", "figure4", "figure6")]
)
def test_models_that_one_figure_shows_beside_each_other_differ_in_colour_marker_or_line(name: str) -> None:
    groups = [group for group in experiment.load(name).cells if group.role == "cell"]
    models = {model for group in groups for model in group.swept().get("model", ())}
    drawn = [style.drawing(model) for model in models]
    assert len({(look["color"], look["marker"], str(look["linestyle"])) for look in drawn}) == len(models) > 1
