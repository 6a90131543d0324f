"""An operation on all inputs, and the share of right predictions."""

import numpy as np
import pytest
import torch

from nalu_bench.cli import main
from nalu_bench.models.network import Stack
from nalu_bench.plan import compose
from nalu_bench.tasks.operands import Operands
from nalu_bench.units import Linear

SIGNS = [1, 1, -1, 1, -1, 1, -1, -1]


def task(*overrides: str) -> Operands:
    found = compose.plan_cells(["task=operands", "model=iit_nac", *overrides], multirun=False).cells[0].cell.task
    assert isinstance(found, Operands)
    return found


def targets(chosen: Operands, x: np.ndarray) -> np.ndarray:
    constants = {name: torch.tensor(value) for name, value in chosen.split_parameters("train").items()}
    inputs, t = chosen.sample(torch.from_numpy(x).float().T, {}, constants)
    assert inputs.tolist() == x.tolist()
    return t.numpy()


@pytest.mark.parametrize(
    ("operation", "operands", "expected"),
    [
        ("add", 3, 2 + 8 + 4), ("sub", 3, 2 - 8 - 4), ("neg_sum", 3, -2 - 8 - 4), ("neg_sum", 1, -2),
        ("mul", 3, 2 * 8 * 4), ("div", 3, 2 / 8 / 4), ("square", 1, 4), ("sqrt", 1, 2**0.5), ("div", 1, 2),
    ],
)  # fmt: skip
def test_the_operations(operation: str, operands: int, expected: float) -> None:
    chosen = task(f"task.operation={operation}", f"task.operands={operands}")
    x = np.array([[2.0, 8.0, 4.0], [0.0, 1.0, 2.0]])[:, :operands]
    found = targets(chosen, x)
    assert found.shape == (2, 1)
    assert found[0, 0] == pytest.approx(expected, rel=1e-6)
    assert np.isfinite(found).all()


def test_a_signed_sum_and_its_probes_which_show_the_weights_of_a_linear_unit() -> None:
    chosen = task("task.operation=signed_sum", "task.operands=8", f"task.signs={SIGNS}".replace(" ", ""))
    x = np.arange(16.0).reshape(2, 8)
    assert targets(chosen, x)[:, 0].tolist() == (x @ SIGNS).tolist()
    probes = chosen.probes()
    assert probes is not None
    assert probes.targets[:, 0].tolist() == SIGNS
    assert probes.inputs.tolist() == np.eye(8).tolist()
    assert task("task.operation=add").probes() is None


def test_training_and_test_have_their_ranges() -> None:
    chosen = task("task.extrapolation=[0,60]")
    assert [chosen.intervals(split).tolist() for split in ("train", "validation", "test")] == [
        [[20, 30], [30, 40]], [[20, 30], [30, 40]], [[0, 30], [30, 60]],
    ]  # fmt: skip


def test_a_prediction_is_right_as_numpys_isclose_says() -> None:
    unit = Linear(1, 1)
    with torch.no_grad():
        unit.W.fill_(1)
        unit.b.zero_()
        y = torch.tensor([[1.0], [1.0999], [1.1001], [-1.0], [0.0], [2e-8], [torch.nan], [1.000009]])
        t = torch.tensor([[1.0], [1.0], [1.0], [1.0], [0.0], [0.0], [1.0], [1.0]])
        found = {measure.name: measure(Stack(unit)(y), t) for measure in Operands.measures}
    for tolerance in (0.1, 1e-5):
        expected = np.isclose(y.numpy(), t.numpy(), rtol=tolerance).mean()
        assert float(found[f"accuracy_{tolerance:g}"]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("task.operation=pow", "unknown operation 'pow'"),
        ("task.operands=0", "task.operands must be at least 1, got 0"),
        ("task.operation=sqrt", "sqrt takes one number, got task.operands=2"),
        ("task.signs=[1,1]", "task.signs must list no signs"),
        ("task.operation=signed_sum", "task.signs must list 2 signs, each 1 or -1"),
        ("task.operation=signed_sum task.signs=[1,2]", "task.signs must list 2 signs, each 1 or -1"),
        ("task.operation=sqrt task.operands=1 task.extrapolation=[-1,2]", "sqrt needs inputs of at least 0"),
        ("task.interpolation=[2,1]", "low < high"),
        ("model.layer.options.init=normal", "unknown initialisation 'normal'"),
        ("model.layer.unit=nalo", "unknown unit 'nalo'; did you mean 'nalu'?"),
    ],
)
def test_what_cannot_be_is_refused(override: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "task=operands", "model=iit_nac", "recipe=iit_tables", "budget=smoke", *override.split()]) == 2
    assert words in capsys.readouterr().err
