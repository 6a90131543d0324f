"""Networks over images: the encoder is the published one, the reference accumulates exactly."""

import re

import pytest
import torch
from torch.nn import functional

from nalu_bench.errors import UsageError
from nalu_bench.models.images import AT_A_TIME, Accumulator, DigitEncoder, ImageRecurrence, NoHead
from nalu_bench.models.network import Recurrence
from nalu_bench.plan import compose
from nalu_bench.units import NAC
from nalu_bench.units.functional import input_penalty
from nalu_bench.units.gru import GRU
from nalu_bench.units.lstm import LSTM

IMAGES = torch.rand(6, 28, 28, generator=torch.Generator().manual_seed(0))


def test_the_encoder_is_that_of_the_pytorch_example() -> None:
    encoder = DigitEncoder(3)
    x = IMAGES.unsqueeze(1)
    for conv in (encoder.conv1, encoder.conv2):
        x = functional.max_pool2d(functional.relu(conv(x)), 2)
    expected = encoder.out(functional.relu(encoder.hidden(x.flatten(1))))
    torch.testing.assert_close(encoder(IMAGES), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("product", [False, True])
def test_the_reference_accumulates_what_the_encoder_says(product: bool) -> None:
    last, every = (Accumulator(2, product, every) for every in (False, True))
    z = torch.randn(4, 5, 2)
    expected = z.prod(1) if product else z.sum(1)
    torch.testing.assert_close(last.over(z)[0], expected)
    torch.testing.assert_close(every.over(z)[0][:, -1], expected)


def test_many_images_are_encoded_in_parts_where_no_gradient_is_needed() -> None:
    network = Accumulator(1, product=False, every=False)
    many = torch.rand(AT_A_TIME + 2, 28, 28)
    with torch.no_grad():
        parts = network.encoded(many)
    torch.testing.assert_close(parts, network.encoded(many).detach(), rtol=1e-5, atol=1e-6)


def test_without_a_head_the_state_is_the_output() -> None:
    network = ImageRecurrence(1, Recurrence(NAC(2, 1), NoHead(1)))
    z = torch.rand(3, 1, 1)
    state = network.recurrence.cell(torch.cat([z[:, 0], torch.zeros(3, 1)], dim=-1))
    torch.testing.assert_close(network.over(z)[0], state)


def test_the_encoder_may_start_at_an_offset_of_its_own() -> None:
    plan = compose.plan_cells(["task=digit_series", "model=image_nac", "model.encoder_offset=2.5"], multirun=False)
    chosen = plan.cells[0].cell
    network = chosen.model.build(chosen.task)
    bias = torch.empty(1)
    network.initialisers()["encoder.out.bias"](bias, torch.Generator().manual_seed(0))
    assert abs(bias.item() - 2.5) < 1 / 500**0.5


def test_a_gru_is_torchs() -> None:
    ours, theirs = GRU(5, 2).double(), torch.nn.GRUCell(3, 2).double()
    with torch.no_grad():
        theirs.weight_ih.copy_(torch.cat([ours.W[:, :3], ours.U]))
        theirs.weight_hh.copy_(torch.cat([ours.W[:, 3:], ours.V]))
        theirs.bias_ih.copy_(torch.cat([ours.b, ours.u]))
        theirs.bias_hh.copy_(torch.cat([torch.zeros(4), ours.v]))
    x, h = torch.rand(4, 3).double(), torch.rand(4, 2).double()
    torch.testing.assert_close(ours(torch.cat([x, h], dim=-1)), theirs(x, h))


def built(*overrides: str) -> ImageRecurrence:
    plan = compose.plan_cells(["task=digit_series", *overrides], multirun=False)
    network = plan.cells[0].cell.model.build(plan.cells[0].cell.task)
    assert isinstance(network, ImageRecurrence)
    return network


def test_the_cell_may_learn_faster_than_its_encoder() -> None:
    rates = built("model=image_nac", "model.cell_rate=10").rates()
    assert rates == {"recurrence.cell.W_hat": 10.0, "recurrence.cell.M_hat": 10.0}
    assert built("model=image_nac").rates() == {}


def test_the_weights_of_a_cell_that_is_the_output_are_followed() -> None:
    network = built("model=image_nau", "task.operation=count")
    cell = network.recurrence.cell
    with torch.no_grad():
        W = torch.arange(200.0).view(10, 20) / 1000
        cell.W.copy_(W)  # type: ignore[operator, union-attr]
    followed = network.followed()
    assert followed["input_weight"].item() == pytest.approx(W[:, :10].diagonal().mean().item())
    assert followed["recurrent_weight"].item() == pytest.approx(W[:, 10:].diagonal().mean().item())
    assert built("model=image_lstm").followed() == {}


def test_the_input_penalty_sees_the_inputs_of_every_step() -> None:
    network = built("model=image_nmu", "model.outputs=every")
    z = torch.rand(4, 3, 1, generator=torch.Generator().manual_seed(1)) + 1
    cell = network.recurrence.cell
    with torch.no_grad():
        cell.W.copy_(torch.tensor([[0.8, 0.6]]))  # type: ignore[operator, union-attr]
        y, penalties = network.over(z)
        states = torch.cat([torch.ones(4, 1, 1), y[:, :-1]], dim=1)
        expected = input_penalty(cell.weights()["W"], torch.cat([z, states], dim=-1), 1.0)
    assert penalties["inputs"].item() == pytest.approx(expected.item(), rel=1e-6)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["model=image_nac", "model.head_offset=45"], "model.head_offset=45.0 needs model.head to be linear, got none"),
        (["model=image_nac", "model.cell_rate=0"], "model.cell_rate must be above 0 and finite, got 0"),
        (["model=image_nac", "model.initial_state=inf"], "model.initial_state must be a number up to 3e38, got inf"),
    ],
)
def test_values_that_cannot_be_are_refused(overrides: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        built(*overrides)


def test_the_input_penalty_needs_a_cell_with_a_neutral_element() -> None:
    network = ImageRecurrence(1, Recurrence(LSTM(3, 2), NoHead(1), input_penalty=True))
    with pytest.raises(UsageError, match="needs a cell with one matrix and a neutral element"):
        network.over(torch.rand(2, 3, 1))
