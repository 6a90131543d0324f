"""The best linear predictor and the best NAC: against algebra, against least squares on examples, against training."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nalu_bench.analysis.protocols import closed_form
from nalu_bench.analysis.protocols.closed_form import Setting, errors, finite
from nalu_bench.cli import main
from nalu_bench.errors import UsageError
from nalu_bench.plan import compose
from nalu_bench.store.reader import Store
from nalu_bench.training.data import tensors

UNIT = (0.0, 1.0)


@pytest.fixture(autouse=True)
def _many_examples(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """So many that chance does not blur what is tested."""
    monkeypatch.setattr(closed_form, "SAMPLES", 50_000)
    closed_form._sums.cache_clear()
    closed_form._rest.cache_clear()
    yield
    closed_form._sums.cache_clear()
    closed_form._rest.cache_clear()


def setting(operation: str, terms: tuple[int, int] = (3, 4), **values: Any) -> Setting:
    return Setting(**{"operation": operation, "law": "uniform", "interpolation": UNIT, "extrapolation": (0.0, 2.0),
                      "grown": "all", "terms": terms} | values)  # fmt: skip


def test_a_product_of_independent_sums_leaves_the_product_of_their_deviations() -> None:
    found = errors(setting("mul", (5, 7)), [10])[0]
    assert found["linear", "validation"][1] == pytest.approx(5 / 12 * 7 / 12, rel=0.05)


def test_a_square_leaves_what_its_third_and_fourth_moments_say() -> None:
    n = 20
    found = errors(setting("square", (n, 1)), [2])[0]
    variance, fourth = n / 12, 3 * (n / 12) ** 2 - n / 120
    assert found["linear", "validation"][1] == pytest.approx(fourth - variance**2, rel=0.05)


def test_sums_and_differences_leave_nothing() -> None:
    for operation in ("add", "sub"):
        found = errors(setting(operation), [2])[0]
        assert (
            max(found[name, split][0] for name in ("linear", "nac_2") for split in ("validation", "extrapolation"))
            < 1e-9
        )


def test_a_nac_has_no_more_than_its_hidden_units_allow() -> None:
    sizes = [1, 2, 5, 100]
    found = errors(setting("square", (20, 1)), sizes)[0]
    left = [found[f"nac_{size}", "validation"][1] for size in sizes]
    assert left == sorted(left, reverse=True)
    assert left[0] > 1.1 * left[1]
    assert left[-1] == pytest.approx(found["linear_no_bias", "validation"][1])


@pytest.mark.parametrize(("law", "limits"), [("uniform", (1.0, 2.0)), ("whole", (1.0, 10.0)), ("normal", (2.0, 1.0))])
@pytest.mark.parametrize("shared", [0, 2])
def test_it_is_least_squares_over_all_inputs(law: str, limits: tuple[float, float], shared: int) -> None:
    words = [f"task.law={law}", f"task.interpolation={list(limits)}", "task.extrapolation=[1,3]", "task.terms=[3,4]",
             f"task.shared={shared}", "task.features=20"]  # fmt: skip
    task = compose.plan_cells(["task=arithmetic_terms", *words], multirun=False).cells[0].cell.task
    seed = tensors(task.seed_parameters(np.random.default_rng(0)))
    numbers = torch.rand(20, 100_000, generator=torch.Generator().manual_seed(0))
    x, t = (one.double().numpy() for one in task.sample(numbers, seed, tensors(task.split_parameters("train"))))
    columns = np.hstack([np.ones((len(x), 1)), x])
    left = np.square(columns @ np.linalg.lstsq(columns, t, rcond=None)[0] - t).mean()
    chosen = setting("mul", law=law, interpolation=limits, shared=shared, features=20)
    assert errors(chosen, [2])[0]["linear", "validation"][1] == pytest.approx(left, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("operation", ["mul", "square"])
def test_training_ends_there(operation: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NALU_BENCH_HOME", str(tmp_path))
    words = ["task=arithmetic_terms", f"task.operation={operation}", "task.terms=[8,3]", "task.extrapolation=[0,2]",
             "recipe=trask2018", "recipe.learning_rate=0.003", "seeds=3", "budget=short", "budget.steps=8000",
             "model=linear,linear_no_bias,nac"]  # fmt: skip
    assert main(["run", "-m", *words]) == 0
    expected = errors(setting(operation, (8, 3)), [2])[0]
    for want in compose.plan_cells(words, multirun=True).cells:
        runs = Store(tmp_path / "runs").runs(want.cell)
        for split in ("validation", "extrapolation"):
            trained = math.sqrt(runs[f"{split}_mse"].median())
            limits = {name: math.sqrt(expected[name, split][1]) for name in ("linear", "linear_no_bias", "nac_2")}
            if want.cell.model.name == "linear":  # its bias takes longer: a hundred inputs can stand for one
                assert 0.95 * limits["linear"] < trained < limits["linear_no_bias"], split
            else:
                name = {"nac": "nac_2"}.get(want.cell.model.name, want.cell.model.name)
                assert trained == pytest.approx(limits[name], rel=0.1), (name, split)


@pytest.mark.parametrize(
    ("values", "power", "exists"),
    [
        ({"operation": "mul", "law": "normal"}, 2, True),
        ({"operation": "div", "law": "normal"}, 1, False),
        ({"operation": "div", "terms": (1, 1)}, 1, False),
        ({"operation": "div", "terms": (1, 2)}, 1, True),
        ({"operation": "div", "terms": (1, 2)}, 2, False),
        ({"operation": "div", "terms": (1, 3)}, 2, True),
        ({"operation": "div", "terms": (1, 1), "interpolation": (1.0, 2.0), "extrapolation": (2.0, 6.0)}, 2, True),
        ({"operation": "div", "law": "whole"}, 1, False),
        ({"operation": "sqrt", "law": "normal"}, 1, False),
        ({"operation": "sqrt"}, 2, True),
    ],
)
def test_moments_that_do_not_exist_are_marked(values: dict[str, Any], power: int, exists: bool) -> None:
    assert finite(setting(**values), power) is exists


def test_what_cannot_be_computed_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown operation 'power'"):
        errors(setting("power"), [2])
    with pytest.raises(UsageError, match="at most 50"):
        errors(setting("mul", (60, 3)), [2])
