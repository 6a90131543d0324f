"""The address of a cell: equal values give the same one however they are written, other values another."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import pytest

from nalu_bench import registry
from nalu_bench.errors import UsageError
from nalu_bench.models.layer import Layer
from nalu_bench.models.model import Penalty
from nalu_bench.plan import cell as cell_module
from nalu_bench.plan.cell import Cell, Wanted
from nalu_bench.plan.identity import canonical, plain
from nalu_bench.plan.recipe import Recipe
from nalu_bench.tasks.task import Task

MakeCell = Callable[..., Cell]
MakeTask = Callable[..., Task]


def test_canonical_json_sorts_keys_and_unifies_numbers() -> None:
    assert (
        canonical({"b": [1.0, -2.0, 0.5], "a": {"d": 5e6, "c": None}}) == '{"a":{"c":null,"d":5000000},"b":[1,-2,0.5]}'
    )
    assert canonical({"a": 1, "b": 2}) == canonical({"b": 2.0, "a": 1.0})
    assert canonical([True, "1", 1]) == '[true,"1",1]'


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_json_does_not_have_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical({"a": value})


def test_equal_values_have_one_address_however_they_are_written(make_cell: MakeCell, make_task: MakeTask) -> None:
    digest = make_cell(task=make_task(interpolation=[1, 2], extrapolation=[2, 6])).digest
    assert make_cell(task=make_task(interpolation=[1.0, 2.0], extrapolation=(2, 6.0))).digest == digest
    assert make_cell(steps=20.0, ramp_scale=1, beta1=0.90).digest == digest
    assert len(digest) == 16
    assert set(digest) <= set("0123456789abcdef")


OTHER: dict[str, Any] = {
    "optimizer": "rmsprop", "loss": "smooth_l1", "selection": "last", "name": "other", "kind": "other",
    "reinitialize_counting": "in_total", "schedule": "linear", "clipping": "norm", "streams": "stable_nalu",
    "kernels": "own", "updates": "alternating", "first_loss": "smooth_l1",
    "operation": "add", "interpolation": [1, 3], "extrapolation": [[-6, -2], [2, 6]], "hidden_size": 3,
    "penalties": {"sparsity": Penalty(0.2, 5, 15)}, "layers": [Layer("nau", {}), Layer("nau", {})],
}  # fmt: skip


def changed(config: Any, key: str) -> Any:
    """The config with another value under `key`."""
    value = getattr(config, key)
    return replace(config, **{key: OTHER[key] if key in OTHER else value * 2 + 1})


def test_any_other_value_is_another_address(make_cell: MakeCell, make_task: MakeTask) -> None:
    cell = make_cell(task=make_task(features=8))
    others = [replace(cell, recipe=changed(cell.recipe, e.name)) for e in fields(cell.recipe) if e.name != "restart"]
    others += [replace(cell, task=changed(cell.task, e.name)) for e in fields(cell.task) if e.name != "kind"]
    others += [
        replace(cell, model=changed(cell.model, entry.name))
        for entry in fields(cell.model)
        if entry.name != "kind" and entry.metadata.get("identity", True)
    ]
    others += [
        replace(cell, model=replace(cell.model, penalties={"sparsity": Penalty(*values)}))
        for values in ((0.1, 6, 15), (0.1, 5, 16), (0.1, 5, 15, 1.0))
    ]
    others += [make_cell("nalu nalu"), make_cell("nalu nalu", options={"shared": False})]
    digests = {other.digest for other in others}
    assert cell.digest not in digests
    assert len(digests) == len(others)


def test_any_other_version_is_another_address(make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = {make_cell().digest}
    assert set(make_cell().versions()) == {
        "unit.nau", "unit.nmu", "task.ten_parameter", "model.two_layer", "trainer",
    }  # fmt: skip
    for known, name in (
        (registry.units, "nau"),
        (registry.units, "nmu"),
        (registry.tasks, "ten_parameter"),
        (registry.models, "two_layer"),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(known.entries, name, replace(known.entry(name), version=99))
            digests.add(make_cell().digest)
    with monkeypatch.context() as patch:
        patch.setattr(cell_module, "TRAINER_VERSION", 99)
        digests.add(make_cell().digest)
    with monkeypatch.context() as patch:
        patch.setitem(registry.units.entries, "nac", replace(registry.units.entry("nac"), version=99))
        digests.add(make_cell().digest)  # not of this cell
    assert len(digests) == 6


def test_the_version_of_every_part_of_a_recipe_and_of_a_measure_belongs_to_the_address(
    make_cell: MakeCell, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = make_cell()
    parts = [*cell.recipe.chosen(), *((registry.measures, measure.function) for measure in cell.task.measures)]
    assert {kind.kind for kind, _ in parts} == {
        "optimizer", "loss", "restart rule", "schedule", "clipping", "update rule", "kind of streams",
        "kind of kernels", "measure",
    }  # fmt: skip
    digests = {cell.digest}
    for known, name in parts:
        with monkeypatch.context() as patch:
            patch.setitem(known.entries, name, replace(known.entry(name), version=99))
            digests.add(make_cell().digest)
    assert len(digests) == 1 + len(parts)


@dataclass
class LaterRecipe(Recipe):
    """A recipe with a field that older runs did not have."""

    clip: Any = field(default=None, metadata={"before": None})


def test_a_field_added_later_is_left_out_at_the_value_from_before(make_cell: MakeCell) -> None:
    cell = make_cell()
    values = {entry.name: getattr(cell.recipe, entry.name) for entry in fields(cell.recipe)}
    assert replace(cell, recipe=LaterRecipe(**values)).digest == cell.digest
    assert replace(cell, recipe=LaterRecipe(**values, clip=0.1)).digest != cell.digest
    assert "clip" not in plain(LaterRecipe(**values))
    assert plain(LaterRecipe(**values, clip=0.1))["clip"] == 0.1


def test_the_folder_and_label_of_a_cell_name_its_task_and_model(make_cell: MakeCell) -> None:
    cell = make_cell()
    assert cell.folder.parts == ("ten_parameter", "nau_nmu", cell.digest)
    assert cell.label() == "ten_parameter operation=mul / nau_nmu"
    assert Wanted(cell, (0,), settings={"hidden": 2}).label() == "ten_parameter operation=mul hidden=2 / nau_nmu"


def test_the_values_of_a_cell_have_dotted_keys(make_cell: MakeCell) -> None:
    cell = make_cell()
    assert cell.value("model.hidden_size") == 2
    assert cell.value("model.penalties.sparsity.weight") == 0.1
    assert cell.value("recipe.steps") == 20
    for key, message in (("modle.name", "did you mean 'model'"), ("recipe.steps.more", "unknown part of the key")):
        with pytest.raises(UsageError, match=message):
            cell.value(key)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 12}, r"recipe\.steps must be a multiple of recipe\.log_every \(5\), got 12"),
        ({"steps": -5}, "steps must be at least 0, got -5"),
        ({"optimizer": "adamm"}, "unknown optimizer 'adamm'; did you mean 'adam'"),
        ({"selection": "best"}, "unknown selection 'best'"),
        ({"learning_rate": 0}, "recipe.learning_rate must be above 0 and finite, got 0"),
        ({"beta2": 1.0}, r"recipe.beta2 must lie in \[0, 1\) in single precision, too, got 1.0"),
        ({"layers": "nau"}, "must name 2 units, got 1"),
        ({"layers": "nau nmuu"}, "unknown unit 'nmuu'; did you mean 'nmu'"),
    ],
)
def test_values_that_cannot_go_together_are_refused(make_cell: MakeCell, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_cell(**changes).validate()
    make_cell().validate()
