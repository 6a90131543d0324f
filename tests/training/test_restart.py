"""Seeds that are stuck start anew."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from nalu_bench.errors import UsageError
from nalu_bench.models.model import Penalty
from nalu_bench.models.network import Network
from nalu_bench.plan.blocks import WIDTH, Block
from nalu_bench.plan.cell import Cell
from nalu_bench.plan.result import BlockResult
from nalu_bench.training import loop
from nalu_bench.training.compilation import Mode
from nalu_bench.training.loop import train_block
from nalu_bench.training.program import program_of
from nalu_bench.training.restart import Halves, HalvesOfValidation, Stale
from nalu_bench.units.unit import Initialiser, zeros

MakeCell = Callable[..., Cell]

ALL = Block(0)
STUCK = {"optimizer": "rmsprop", "learning_rate": 1e-30, "steps": 40, "log_every": 5, "reinitialize_after": 3}
"""Training that changes nothing, so that every evaluation after the first is no better."""

RULE = {
    "reinitialize_after": 2, "reinitialize_counting": "in_a_row", "reinitialize_above": 0.0, "reinitialize_times": 9,
}  # fmt: skip


def train(cell: Cell, path: Path, block: Block = ALL, report: Callable[[int, int], None] | None = None) -> BlockResult:
    return train_block(cell, block, Mode("cpu", compiled=False), path / "block.pt", report or (lambda *_: None))


def counts(result: BlockResult) -> list[list[float]]:
    """The distinct counts of the seeds at every evaluation."""
    return [sorted(set(row.tolist())) for row in result.columns["reinitialized"]]


def test_a_seed_is_given_up_after_so_many_evaluations_in_a_row_without_improvement() -> None:
    def judge(*errors: float, **values: Any) -> list[bool]:
        found, rule = [], Stale()
        memory = rule.first(1, torch.device("cpu"))
        for error in errors:
            figures = torch.tensor([error]).double(), torch.tensor([True])
            memory, due = rule.judged(memory, {}, *figures, recipe(**values))
            found.append(bool(due))
        return found

    def recipe(**values: Any) -> Any:
        return SimpleNamespace(**RULE | values)

    assert judge(5, 6, 7) == [False, False, True]
    assert judge(5, 6, 4, 6, 3) == [False] * 5
    assert judge(5, 6, float("nan"), 99, 99, 99) == [False, False, True, False, False, True], "anew from any"
    assert judge(5, 6, 7, 8, 8, 8, reinitialize_times=1) == [False, False, True, False, False, False]
    assert judge(5, 6, 4, 6, 3, reinitialize_counting="in_total") == [False, False, False, True, False]
    assert judge(5, 6, 7, reinitialize_above=5.1) == [False] * 3
    assert judge(5, 6, 7, reinitialize_above=5.0) == [False, False, True]


def test_a_seed_that_diverged_stays_as_it_is() -> None:
    recipe: Any = SimpleNamespace(**RULE | {"reinitialize_after": 1})
    rule = Stale()
    memory = rule.first(2, torch.device("cpu"))
    _, due = rule.judged(memory, {}, torch.full((2,), torch.nan), torch.tensor([True, False]), recipe)
    assert due.tolist() == [True, False]


def test_a_rule_may_have_a_distribution_of_its_own(
    make_cell: MakeCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class ToZero(Stale):
        def initialisers(self, network: Network) -> dict[str, Initialiser]:
            return dict.fromkeys(network.initialisers(), zeros)

    cell = make_cell("linear linear", **STUCK, epsilon=1e-7)  # a program of its own
    monkeypatch.setattr(program_of(cell, Mode("cpu", compiled=False)), "rule", ToZero())
    result = train(cell, tmp_path)
    assert counts(result)[5:] == [[1]] * 4
    assert len(set(result.columns["validation_mse"][5])) == 1
    assert len(set(result.columns["validation_mse"][1])) == WIDTH


def test_stuck_seeds_get_other_weights_and_the_best_of_all_draws_is_selected(
    make_cell: MakeCell, tmp_path: Path
) -> None:
    result = train(make_cell("linear linear", **STUCK), tmp_path)
    assert counts(result) == [[0], [0], [0], [0], [0], [1], [1], [1], [1]]
    error = result.columns["validation_mse"]
    assert (error[1:5] == error[1]).all()
    assert (error[5:] == error[5]).all()
    assert (error[1] != error[5]).all()
    assert 0 < (error[5] < error[1]).sum() < WIDTH
    assert result.selected_step.tolist() == np.where(error[5] < error[1], 25, 5).tolist()


def test_the_optimiser_starts_afresh(make_cell: MakeCell, tmp_path: Path) -> None:
    block = loop._Loop(
        loop.Request(make_cell(), ALL, tmp_path / "block.pt", lambda *_: None), Mode("cpu", compiled=False)
    )
    worn = {name: torch.ones_like(value) for name, value in block.state.means.items()}
    state = replace(block.state, means=worn, squares=worn)
    due, count = torch.arange(WIDTH) == 3, torch.ones(WIDTH, dtype=torch.int64)
    new = block.program.restarted(state, due, count, ALL.seeds)
    for name, value in new.parameters.items():
        changed = (value != state.parameters[name]).flatten(1).any(1)
        assert changed.tolist() == due.tolist()
        assert new.means[name][3].abs().sum() == new.squares[name][3].abs().sum() == 0
        assert (new.means[name][~due] == 1).all()
    again = block.program.restarted(new, due, count + 1, ALL.seeds)
    assert all((again.parameters[name][3] != new.parameters[name][3]).any() for name in new.parameters)


def test_without_it_nothing_changes_and_nothing_is_logged(make_cell: MakeCell, tmp_path: Path) -> None:
    plain = train(make_cell(optimizer="rmsprop"), tmp_path / "plain")
    never = train(make_cell(optimizer="rmsprop", reinitialize_after=99), tmp_path / "never")
    assert "reinitialized" not in plain.columns
    assert not never.columns.pop("reinitialized").any()
    for name, column in plain.columns.items():
        assert column.tobytes() == never.columns[name].tobytes()


@pytest.mark.parametrize("stop", [15, 30])
def test_a_seed_starts_anew_once_whenever_interrupted(
    make_cell: MakeCell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    cell = make_cell("linear linear", **STUCK)
    expected = train(cell, tmp_path / "all")
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)

    def report(step: int, solved: int) -> None:
        if step == stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(cell, tmp_path, report=report)
    resumed = train(cell, tmp_path)
    for name, column in expected.columns.items():
        assert column.tobytes() == resumed.columns[name].tobytes()


@pytest.mark.parametrize("key", ["reinitialize_after", "reinitialize_above", "reinitialize_times"])
def test_values_below_zero_are_refused(make_cell: MakeCell, key: str) -> None:
    with pytest.raises(UsageError, match=f"recipe.{key} must be at least 0"):
        make_cell(**{key: -1}).recipe.validate()


def test_what_cannot_be_is_refused(make_cell: MakeCell) -> None:
    with pytest.raises(UsageError, match=r"must be 0 with recipe\.optimizer=adam and recipe\.restart=stale"):
        make_cell(reinitialize_after=1).recipe.validate()
    with pytest.raises(UsageError, match="unknown reinitialize_counting 'total'"):
        make_cell(reinitialize_counting="total").recipe.validate()


BETWEEN = 6
"""Steps between two evaluations."""


def halves(losses: np.ndarray, **values: Any) -> list[list[bool]]:
    """Which seeds start anew at every evaluation; `losses` (evaluations · BETWEEN, seeds) are those of all steps."""
    recipe: Any = SimpleNamespace(
        **{"reinitialize_after": 4, "reinitialize_above": 1.0, "reinitialize_times": 9} | values
    )
    rule, found, seeds = Halves(), [], losses.shape[1]
    memory = rule.first(seeds, torch.device("cpu"))
    for rows in losses.reshape(-1, BETWEEN, seeds):
        figures = {"losses": torch.tensor(rows.T, dtype=torch.float32)}
        memory, due = rule.judged(memory, figures, torch.zeros(seeds), torch.ones(seeds) > 0, recipe)
        found.append(due.tolist())
    return found


def test_the_rule_of_halves_is_that_of_numpys_means_and_deviations_over_all_batches() -> None:
    losses = 3 * np.random.default_rng(0).random((40 * BETWEEN, 8)) ** np.linspace(0.5, 3, 8)
    found = halves(losses, reinitialize_times=99)
    drawn = np.zeros(8, int)
    for number in range(1, 41):
        for seed in range(8):
            own = losses[BETWEEN * drawn[seed] : BETWEEN * number, seed].astype(np.float32).astype(float)
            first, second = own[: len(own) // 2], own[len(own) // 2 :]
            due = number % 4 == 0 and len(own) >= 4 * BETWEEN
            due = due and bool(first.mean() <= second.mean() + second.std() and second.mean() > 1)
            assert found[number - 1][seed] == due
            if due:
                drawn[seed] = number
    assert 0 < sum(map(sum, found)) < 8 * 10


def test_a_loss_that_falls_or_is_small_starts_nothing_anew() -> None:
    falling, small, flat, unstable = [9.0, 8, 3, 2], [0.5] * 4, [5.0] * 4, [5.0, 5, 9, 1]
    rows = np.repeat(np.array([falling, small, flat, unstable]).T, BETWEEN, axis=0)
    assert halves(rows)[-1] == [False, False, True, True]
    assert halves(rows, reinitialize_above=0.4)[-1] == [False, True, True, True]
    assert halves(rows, reinitialize_times=0)[-1] == [False] * 4
    assert not any(map(any, halves(rows)[:-1]))


def test_the_rule_of_halves_draws_every_parameter_within_2_and_survives_a_checkpoint(
    make_cell: MakeCell, killed_and_resumed: Callable[..., tuple[BlockResult, BlockResult]]
) -> None:
    chosen = {"restart": "halves", "reinitialize_after": 2, "reinitialize_above": 0.0, "reinitialize_times": 2}
    cell = make_cell("inalu inalu", penalty=Penalty(0.05, 0, 0, below=1.0), **STUCK | chosen)
    whole, resumed = killed_and_resumed(cell, ALL, 27)
    for name, column in whole.columns.items():
        np.testing.assert_array_equal(column, resumed.columns[name], err_msg=name)
    assert whole.columns["reinitialized"].max() > 0
    once = whole.columns["reinitialized"][-1] > 0
    drawn = np.concatenate([value[once].ravel() for value in whole.parameters.values()])
    assert 1.7 < np.abs(drawn).max() <= 2, "beyond what the unit starts with"


def test_a_rule_that_keeps_the_optimiser_goes_with_adam_and_leaves_its_moments(make_cell: MakeCell) -> None:
    chosen = {"restart": "halves_validation", "reinitialize_after": 1, "reinitialize_above": 0.0}
    cell = make_cell("inalu inalu", **chosen)
    cell.recipe.validate()
    program = program_of(cell, Mode("cpu", compiled=False))
    seeds = list(range(WIDTH))
    state = program.initial_state(seeds, torch.device("cpu"))
    moved = replace(state, means={name: torch.ones_like(value) for name, value in state.means.items()})
    due = torch.arange(WIDTH) == 3
    after = program.restarted(moved, due, torch.ones(WIDTH, dtype=torch.int64), seeds)
    for name, value in after.parameters.items():
        changed = (value != state.parameters[name]).flatten(1).any(1)
        assert torch.equal(changed, due)
        assert torch.equal(after.means[name], torch.ones_like(value))


def test_the_rule_on_validation_errors_asks_at_every_evaluation() -> None:
    recipe: Any = SimpleNamespace(reinitialize_after=3, reinitialize_above=1.0, reinitialize_times=9)
    rule, memory, found = HalvesOfValidation(), HalvesOfValidation().first(2, torch.device("cpu")), []
    for number in range(1, 9):
        error = torch.tensor([5.0, 10.0 / number])
        memory, due = rule.judged(memory, {}, error, torch.ones(2) > 0, recipe)
        found.append(due.tolist())
    assert [row[0] for row in found] == [False, False, True, False, False, True, False, False]
    assert not any(row[1] for row in found), "its error falls"
