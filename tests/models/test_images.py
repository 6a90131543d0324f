"""Networks over images: the encoder is the published one, the reference accumulates exactly."""

import pytest
import torch
from torch.nn import functional

from nalu_bench.models.images import AT_A_TIME, Accumulator, DigitEncoder, ImageRecurrence, NoHead
from nalu_bench.models.network import Recurrence
from nalu_bench.plan import compose
from nalu_bench.units import NAC
from nalu_bench.units.gru import GRU

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
