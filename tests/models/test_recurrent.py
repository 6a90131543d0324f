"""Recurrent models: their states, their initial state and their outputs."""

import pytest
import torch
from torch import Generator

from nalu_bench.cli import main
from nalu_bench.models.network import Reader, Recurrence
from nalu_bench.plan import compose
from nalu_bench.plan.cell import Cell
from nalu_bench.units import NAC, NALU, Linear
from nalu_bench.units.embedding import Embedding
from nalu_bench.units.lstm import LSTM


def cell(*overrides: str) -> Cell:
    return compose.plan_cells(["task=recurrent_arithmetic", *overrides], multirun=False).cells[0].cell


def test_the_number_of_states_is_the_cells_own_and_stays_in_the_identity(capsys: pytest.CaptureFixture[str]) -> None:
    assert cell("model=lstm").identity()["model"]["states"] == 2
    assert cell("model=rnn_nac").identity()["model"]["states"] == 1
    assert main(["run", "task=recurrent_arithmetic", "model=lstm", "model.states=1"]) == 2
    assert "unknown key 'model.states'" in capsys.readouterr().err


def drawn(network: Recurrence) -> Recurrence:
    for unit in (network.cell, network.head):
        unit.reset_parameters(Generator().manual_seed(0))
    return network.double()


def test_the_initial_state_may_be_one() -> None:
    network = drawn(Recurrence(NAC(3, 2), Linear(2, 1), initial=1.0))
    x = torch.rand(5, 1, 1, dtype=torch.float64)
    state = torch.cat([x[:, 0], torch.ones(5, 2)], dim=-1)
    torch.testing.assert_close(network(x), network.head(network.cell(state)))
    assert cell("model=rnn_nac").digest != cell("model=rnn_nac", "model.initial_state=1").digest


@pytest.mark.parametrize("unit", [NAC(5, 2), LSTM(7, 4)])
def test_a_head_that_reads_every_state_ends_with_what_one_reads_that_sees_the_last(unit: NAC | LSTM) -> None:
    last, every = (drawn(Recurrence(unit, Linear(2, 1), every=every)) for every in (False, True))
    x = torch.rand(6, 4, 3, dtype=torch.float64)
    assert every(x).shape == (6, 4, 1)
    for length in range(1, 5):
        torch.testing.assert_close(every(x)[:, length - 1], last(x[:, :length]))


def test_unknown_outputs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "task=recurrent_arithmetic", "model=lstm", "model.outputs=all"]) == 2
    assert "unknown outputs of a recurrent model 'all'" in capsys.readouterr().err


def test_a_head_may_read_the_sum_of_all_states() -> None:
    summed = drawn(Recurrence(NAC(5, 3), NAC(3, 2), summed=True)).float()
    states = Recurrence(summed.cell, Sum(3, 3), every=True)  # type: ignore[arg-type]
    x = torch.rand(4, 6, 2)
    torch.testing.assert_close(summed(x), summed.head(states(x).sum(-2)))


def test_the_gates_of_a_head_are_of_what_it_reads() -> None:
    summed = drawn(Recurrence(NALU(5, 3), NALU(3, 2), summed=True)).float()
    states = Recurrence(summed.cell, Sum(3, 3), every=True)  # type: ignore[arg-type]
    x = torch.rand(4, 6, 2)
    torch.testing.assert_close(summed.gates(x)["head.g"], summed.head.gates(states(x).sum(-2))["g"])


@pytest.mark.parametrize(("device", "gradients", "steps"), [("meta", False, 3), ("meta", True, 20), ("cpu", False, 20)])
def test_where_memory_is_measured_without_gradients_three_steps_stand_for_all(
    device: str, gradients: bool, steps: int
) -> None:
    with torch.device(device):
        network, taken = Recurrence(LSTM(7, 4), Linear(2, 1), every=True), []
        network.cell.register_forward_hook(lambda *_: taken.append(1))
        with torch.set_grad_enabled(gradients):
            assert network(torch.empty(6, 20, 3)).shape == (6, 20, 1)
    assert len(taken) == steps


class Sum(Linear):
    """Returns its inputs."""

    def columns(self, x: torch.Tensor) -> torch.Tensor:
        return x


@pytest.mark.parametrize(("first", "size", "part"), [(0, 2, slice(0, 2)), (2, 2, slice(2, 4)), (0, 4, slice(0, 4))])
def test_a_head_reads_h_or_the_memory_or_both(first: int, size: int, part: slice) -> None:
    network = drawn(Recurrence(LSTM(7, 4), Linear(size, 1), first=first))
    x = torch.rand(6, 1, 3, dtype=torch.float64)
    state = network.cell(torch.cat([x[:, 0], torch.zeros(6, 4)], dim=-1))
    torch.testing.assert_close(network(x), network.head(state[:, part]))


def test_what_is_read_is_checked_and_goes_unsaid_in_the_identity(capsys: pytest.CaptureFixture[str]) -> None:
    assert "reads" not in cell("model=lstm").identity()["model"]
    assert cell("model=lstm", "model.reads=c").digest != cell("model=lstm").digest
    assert main(["run", "task=recurrent_arithmetic", "model=lstm", "model.reads=memory"]) == 2
    assert "'memory'. Known: both, c, h." in capsys.readouterr().err
    assert main(["run", "task=recurrent_arithmetic", "model=rnn_nac", "model.reads=c"]) == 2
    assert "model.reads must be h with a cell without memory (nac), got c" in capsys.readouterr().err


def test_what_stands_after_a_text_is_not_summed() -> None:
    reader = drawn(Reader(Embedding(5, 4), NAC(12, 8), NAC(8, 1), summed=True)).float()
    text, longer = torch.tensor([[3, 1]]), torch.tensor([[3, 1, -1, -1]])
    torch.testing.assert_close(reader(text), reader(longer))
    assert not torch.allclose(reader(text), reader(text[:, :1]))
