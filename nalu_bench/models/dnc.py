"""A differentiable neural computer: an LSTM with a memory that it addresses by content, by use and by order."""

import torch
from torch import Tensor
from torch.nn import functional

from nalu_bench.models.executor import State, StepByStep
from nalu_bench.units.dense import Dense
from nalu_bench.units.lstm import LSTM

SMALL = 1e-6
"""Added to the product of lengths in a cosine."""


class Computer(StepByStep):
    """An LSTM that at every step writes one word to a memory and reads R words from it.

    Its equations stand with the functions below. The LSTM reads the step and the words that were read before it; a
    linear layer of its output gives the keys, strengths and gates (the interface), and another of its output and the
    words that are read now gives the prediction, at the last step alone.

    Source: Graves et al. 2016, Hybrid computing using a neural network with dynamic external memory, Nature 538,
    471-476, Methods, https://doi.org/10.1038/nature20101. Deviations: one layer of LSTM; `SMALL` in the cosine.

    State: h and c of the LSTM (2 H), the words read (R W), memory (N, W), usage (N), precedence (N), links (N, N),
    read weights (R, N), write weights (N), all 0 at first, with the examples last.

    Shape: (B, T, I) -> (B, O).

    Args:
        inputs, outputs: I and O. hidden: H, units of the LSTM. reads: R, number of read heads.
        slots: N, places of the memory. word: W, numbers at each.
    """

    def __init__(self, inputs: int, outputs: int, hidden: int, slots: int, word: int, reads: int) -> None:
        super().__init__()
        self.hidden, self.slots, self.word, self.reads = hidden, slots, word, reads
        self.controller = LSTM(inputs + reads * word + 2 * hidden, 2 * hidden)
        self.interface = Dense(hidden, sum(self._sizes()))
        self.head = Dense(hidden + reads * word, outputs)

    def _sizes(self) -> list[int]:
        """Of the interface: read keys and strengths, write key and strength, erase, write, free gates, allocation gate,
        write gate, read modes.
        """
        R, W = self.reads, self.word
        return [R * W, R, W, 1, W, W, R, 1, 1, 3 * R]

    def start(self, x: Tensor) -> State:
        R, W, N, examples = self.reads, self.word, self.slots, x.shape[-1]
        shapes = [(2 * self.hidden,), (R * W,), (N, W), (N,), (N,), (N, N), (R, N), (N,)]
        return tuple(x.new_zeros(*shape, examples) for shape in shapes)

    def step(self, x: Tensor, state: State) -> State:
        before, words, memory, usage, precedence, links, reading, writing = state
        R, W, B = self.reads, self.word, x.shape[-1]
        after = self.controller.columns(torch.cat([x, words, before]))
        parts = torch.split(self.interface.columns(after[: self.hidden]), self._sizes())
        keys, strengths, key, strength, erase, write, free, allocate, open_, modes = parts
        usage = used(usage, writing, reading, torch.sigmoid(free))
        found = similar(memory, key.view(1, W, B), oneplus(strength))[0]
        chosen = torch.sigmoid(allocate) * allocation(usage) + (1 - torch.sigmoid(allocate)) * found
        writing = torch.sigmoid(open_) * chosen
        memory = memory * (1 - writing.unsqueeze(1) * torch.sigmoid(erase)) + writing.unsqueeze(1) * write
        links = linked(links, writing, precedence)
        precedence = (1 - writing.sum(0)) * precedence + writing
        content = similar(memory, keys.view(R, W, B), oneplus(strengths))
        reading = directed(links, reading, content, modes.view(R, 3, B).softmax(1))
        words = (reading.unsqueeze(2) * memory).sum(1).reshape(R * W, B)
        return after, words, memory, usage, precedence, links, reading, writing

    def answer(self, state: State) -> Tensor:
        return self.head.columns(torch.cat([state[0][: self.hidden], state[1]]))


def oneplus(x: Tensor) -> Tensor:
    """1 + log(1 + e^x)."""
    return 1 + functional.softplus(x)


def similar(memory: Tensor, keys: Tensor, strengths: Tensor) -> Tensor:
    """C(M, k, β)_i = softmax_i(β cos(M_i, k)): memory (N, W, B), keys (R, W, B), strengths (R, B) -> (R, N, B)."""
    keys, places = keys.unsqueeze(1), memory.unsqueeze(0)
    lengths = (keys.square().sum(2) * places.square().sum(2) + SMALL**2).sqrt()
    cosine = (keys * places).sum(2) / (lengths + SMALL)
    return (strengths.unsqueeze(1) * cosine).softmax(1)


def used(usage: Tensor, writing: Tensor, reading: Tensor, free: Tensor) -> Tensor:
    """u_t = (u + w - u ⊙ w) ⊙ Π_r (1 - f_r w_r): usage and writing (N, B), reading (R, N, B), free gates (R, B)."""
    kept = 1 - free.unsqueeze(1) * reading
    found = usage + writing - usage * writing
    for one in kept.unbind(0):
        found = found * one
    return found


def allocation(usage: Tensor) -> Tensor:
    """a_i = (1 - u_i) Π_{j used less than i} u_j, of two equal ones the first counts as used less: (N, B) -> (N, B).

    The same as the product over the sorted free list of the source, without a sort.
    """
    less = usage.unsqueeze(1) > usage.unsqueeze(0)  # (i, j, B): j is used less than i
    places = torch.arange(len(usage), device=usage.device)
    earlier = (places.unsqueeze(1) > places).unsqueeze(-1)
    before = less | ((usage.unsqueeze(1) == usage.unsqueeze(0)) & earlier)
    found = 1 - usage
    for place, one in enumerate(usage.unbind(0)):
        found = found * torch.where(before[:, place], one, 1.0)
    return found


def linked(links: Tensor, writing: Tensor, precedence: Tensor) -> Tensor:
    """L_ij = (1 - w_i - w_j) L_ij + w_i p_j, L_ii = 0: links (N, N, B), writing and precedence (N, B)."""
    one, other = writing.unsqueeze(1), writing.unsqueeze(0)
    found = (1 - one - other) * links + one * precedence.unsqueeze(0)
    apart = 1 - torch.eye(len(writing), dtype=links.dtype, device=links.device)
    return found * apart.unsqueeze(-1)


def directed(links: Tensor, reading: Tensor, content: Tensor, modes: Tensor) -> Tensor:
    """w_r = π_1 Lᵀ w_r + π_2 c_r + π_3 L w_r: reading, content (R, N, B), modes π (R, 3, B)."""
    forward = (links.unsqueeze(0) * reading.unsqueeze(1)).sum(2)
    backward = (links.unsqueeze(0) * reading.unsqueeze(2)).sum(1)
    return modes[:, :1] * backward + modes[:, 1:2] * content + modes[:, 2:] * forward
