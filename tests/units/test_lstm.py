"""The LSTM equals torch's."""

import pytest
import torch
from torch import Generator, nn

from nalu_bench.models.network import Reader, Recurrence
from nalu_bench.units import Linear, Unit
from nalu_bench.units.affine import ReLU
from nalu_bench.units.embedding import Embedding
from nalu_bench.units.lstm import LSTM

FEATURES, HIDDEN, LENGTH = 3, 4, 7


def sequences() -> torch.Tensor:
    return torch.randn(5, LENGTH, FEATURES, dtype=torch.float64, generator=Generator().manual_seed(0))


@torch.no_grad()
def test_an_lstm_over_a_sequence_is_torchs() -> None:
    cell = LSTM(FEATURES + 2 * HIDDEN, 2 * HIDDEN).double()
    head = Linear(HIDDEN, 2).double()
    theirs = nn.LSTM(FEATURES, HIDDEN, batch_first=True).double()
    theirs.weight_ih_l0.copy_(cell.W[:, :FEATURES])
    theirs.weight_hh_l0.copy_(cell.W[:, FEATURES:])
    theirs.bias_ih_l0.copy_(cell.b)
    theirs.bias_hh_l0.zero_()
    _, (last, _) = theirs(sequences())
    torch.testing.assert_close(Recurrence(cell, head)(sequences()), head(last[0]), rtol=1e-12, atol=1e-14)


@torch.no_grad()
def test_a_recurrence_of_a_relu_layer_is_torchs_rnn() -> None:
    cell = ReLU(FEATURES + HIDDEN, HIDDEN).double()
    head = Linear(HIDDEN, 2).double()
    theirs = nn.RNN(FEATURES, HIDDEN, nonlinearity="relu", batch_first=True).double()
    theirs.weight_ih_l0.copy_(cell.W[:, :FEATURES])
    theirs.weight_hh_l0.copy_(cell.W[:, FEATURES:])
    theirs.bias_ih_l0.copy_(cell.b)
    theirs.bias_hh_l0.zero_()
    _, last = theirs(sequences())
    torch.testing.assert_close(Recurrence(cell, head)(sequences()), head(last[0]), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("size_in", "size_out"), [(11, 7), (8, 8)])
def test_sizes_without_a_state_are_refused(size_in: int, size_out: int) -> None:
    with pytest.raises(ValueError, match="out_features must be even and below in_features, got"):
        LSTM(size_in, size_out)


@torch.no_grad()
@pytest.mark.parametrize("cell", [LSTM(FEATURES + 2 * HIDDEN, 2 * HIDDEN), ReLU(FEATURES + HIDDEN, HIDDEN)])
def test_a_cell_that_reads_its_inputs_beforehand_comes_to_the_same_state(cell: Unit) -> None:
    cell.double()
    x = sequences()[0].T
    state = torch.randn(cell.out_features, LENGTH, dtype=torch.float64, generator=Generator().manual_seed(1))
    expected = cell(torch.cat([x, state]).T).T
    torch.testing.assert_close(cell.advance(cell.read(x), state), expected, rtol=1e-12, atol=1e-14)
    tokens = torch.tensor([[0, 2, -1], [1, 1, 1]])
    embedding, head = Embedding(4, FEATURES).double(), Linear(HIDDEN, 1).double()
    texts = [embedding.E.T[row[row >= 0]].unsqueeze(0) for row in tokens]
    plain = torch.cat([Recurrence(cell, head)(text) for text in texts])
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        torch.testing.assert_close(Reader(embedding, cell, head)(tokens), plain, rtol=1e-12, atol=1e-14)
    finally:
        torch.set_default_dtype(before)
