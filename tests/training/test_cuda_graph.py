"""A step whose kernels are launched at once; a launch is played on the processor, as CI has no GPU."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from nalu_bench.training import cuda_graph
from nalu_bench.training.compilation import Flat
from nalu_bench.training.cuda_graph import Launched


def step(state: Tensor, number: Tensor, constant: Tensor) -> list[Tensor]:
    return [state + number * constant, number.clone()]


def played(function: Flat, inputs: Sequence[Tensor]) -> tuple[Callable[[], None], list[Tensor]]:
    """As a CUDA graph: every launch reads the inputs' memory and writes the outputs'."""
    outputs = [value.clone() for value in function(*inputs)]

    def replay() -> None:
        for output, value in zip(outputs, function(*inputs), strict=True):
            output.copy_(value)

    return replay, outputs


def test_every_launch_reads_its_own_inputs_and_returns_what_later_ones_leave_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cuda_graph, "captured", played)
    launched, constant, state = Launched(step), torch.tensor([2.0]), torch.tensor([0.0])
    states = []
    for number in range(1, 5):
        state, same = launched(state, torch.tensor([number]), constant)
        states.append(state)
        assert int(same) == number
    assert [float(state) for state in states] == [2, 6, 12, 20]
    assert float(launched(torch.tensor([0.0]), torch.tensor([1]), torch.tensor([5.0]))[0]) == 5
    assert [float(state) for state in states] == [2, 6, 12, 20]


def test_a_buffer_that_is_written_anew_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_graph, "captured", played)
    launched, buffer, one = Launched(step), torch.tensor([0]), torch.tensor([1.0])
    found = [float(launched(torch.tensor([0.0]), buffer.fill_(number), one)[0]) for number in range(1, 4)]
    assert found == [1, 2, 3]


def test_a_step_that_cannot_be_one_launch_is_computed_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object) -> None:
        raise RuntimeError("cannot copy between memories\nand so on")

    monkeypatch.setattr(cuda_graph, "captured", refused)
    launched = Launched(step)
    for _ in range(2):
        assert float(launched(torch.tensor([1.0]), torch.tensor([2]), torch.tensor([3.0]))[0]) == 7
    told = capsys.readouterr().err
    assert told.count("one by one") == told.count("cannot copy") == 1
    assert "and so on" not in told


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_launch_on_a_gpu_gives_what_its_kernels_give_one_by_one() -> None:
    launched = Launched(step)
    given = [torch.rand(7, device="cuda") for _ in range(3)]
    for _ in range(3):
        given[1] = torch.rand(7, device="cuda")
        for found, expected in zip(launched(*given), step(*given), strict=True):
            assert torch.equal(found, expected)
