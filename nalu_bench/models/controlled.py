"""A NALU whose weights and gates an LSTM produces anew at every step."""

import torch
from torch import Tensor

from nalu_bench.models.executor import State, StepByStep
from nalu_bench.units import functional
from nalu_bench.units.dense import Dense
from nalu_bench.units.functional import EPSILON
from nalu_bench.units.lstm import LSTM


class Controlled(StepByStep):
    """n_t = NALU_t([v_t, n_{t-1}]), with Ŵ_t, M̂_t and G_t that are functions of the LSTM's output h_t.

        h_t, c_t = LSTM(u_t, h_{t-1}, c_{t-1}),   [Ŵ_t, M̂_t, G_t] = A h_t + b
        W = tanh(Ŵ) ⊙ σ(M̂),  g = σ(G z),  n = g ⊙ W z + (1 - g) ⊙ exp(W log(|z| + ε)),  z = [v_t, n_{t-1}]

    v_t is the integer at step t (0 at an operator), u_t what is read without v_t, or with it. n_0 = 0, and the
    prediction is the first entry of n_T (the first O).

    Source: Trask et al. 2018, section 4.4: Ŵ, M̂ and G of the NALU are functions of the output of an LSTM at each step.
    Deviations: none known. That the NALU is fed its own output, its size, and what the LSTM reads are not stated.

    Every example has weights of its own, so that the products are sums of elementwise ones.

    Shape: (B, T, I) -> (B, O).

    Args:
        inputs: I, with the number first.
        outputs: O, at most `numbers`.
        numbers: entries of n.
        hidden: units of the LSTM.
        sees_integers: whether u_t has v_t.
    """

    def __init__(self, inputs: int, outputs: int, numbers: int, hidden: int, sees_integers: bool) -> None:
        super().__init__()
        self.outputs = outputs
        self.numbers = numbers
        self.hidden = hidden
        self.first = 0 if sees_integers else 1
        self.controller = LSTM(inputs - self.first + 2 * hidden, 2 * hidden)
        self.producer = Dense(hidden, 3 * numbers * (1 + numbers))

    def start(self, x: Tensor) -> State:
        examples = x.shape[-1]
        return x.new_zeros(2 * self.hidden, examples), x.new_zeros(self.numbers, examples)

    def step(self, x: Tensor, state: State) -> State:
        before, n = state
        after = self.controller.columns(torch.cat([x[self.first :], before]))
        made = self.producer.columns(after[: self.hidden])
        W_hat, M_hat, G = made.view(3, self.numbers, 1 + self.numbers, x.shape[-1]).unbind(0)
        return after, produced_nalu(W_hat, M_hat, G, torch.cat([x[:1], n]))

    def answer(self, state: State) -> Tensor:
        return state[1][: self.outputs]


def produced_nalu(W_hat: Tensor, M_hat: Tensor, G: Tensor, z: Tensor) -> Tensor:
    """The NALU with weights (O, I, B) of each example's own, on inputs z (I, B): (O, B). See `units.NALU`."""
    W = functional.nac_weight(W_hat, M_hat)
    added = (W * z).sum(-2)
    multiplied = (W * (z.abs() + EPSILON).log()).sum(-2).exp()
    g = torch.sigmoid((G * z).sum(-2))
    return g * added + (1 - g) * multiplied
