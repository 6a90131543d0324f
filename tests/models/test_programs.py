"""Networks that evaluate programs, against plain loops over single examples."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from resumed import check_resumed
from torch import Generator, Tensor
from torch.func import functional_call, stack_module_state, vmap

from nalu_bench.cli import main
from nalu_bench.models import dnc
from nalu_bench.models.controlled import Controlled, produced_nalu
from nalu_bench.models.dnc import Computer
from nalu_bench.models.executor import Executor
from nalu_bench.models.network import Network, Recurrence
from nalu_bench.plan import compose
from nalu_bench.plan.blocks import Block
from nalu_bench.plan.cell import Cell
from nalu_bench.tasks.program_templates import grouped
from nalu_bench.units import NALU, Linear
from nalu_bench.units.lstm import LSTM
from nalu_bench.units.ugrnn import UGRNN

INPUTS, EXAMPLES = 4, 5
MODELS = ("program_lstm", "program_ugrnn", "program_nalu", "program_nalu_integers", "program_dnc")


def programs(length: int = 6, shortest: int = 6) -> Tensor:
    """Random programs (B, T, I) of at least `shortest` steps, in float64."""
    generator = Generator().manual_seed(0)
    kinds = torch.randint(INPUTS - 1, (EXAMPLES, length), generator=generator)
    x = torch.zeros(EXAMPLES, length, INPUTS, dtype=torch.float64)
    x[..., 1:] = torch.nn.functional.one_hot(kinds, INPUTS - 1)
    x[..., 0] = torch.randint(1, 100, (EXAMPLES, length), generator=generator) * (kinds == 0)
    for row, program in enumerate(x):
        program[shortest + row % (length - shortest + 1) :] = 0
    return x


def networks() -> dict[str, Callable[[], Network]]:
    return {
        "cell": lambda: Executor(LSTM(INPUTS + 6, 6), Linear(3, 1)),
        "ugrnn": lambda: Executor(UGRNN(INPUTS + 3, 3), Linear(3, 1)),
        "operators": lambda: Controlled(INPUTS, 1, 2, 3, sees_integers=False),
        "integers": lambda: Controlled(INPUTS, 1, 2, 3, sees_integers=True),
        "dnc": lambda: Computer(INPUTS, 1, 3, slots=4, word=2, reads=2),
    }


@torch.no_grad()
@pytest.mark.parametrize("name", networks())
def test_a_state_stays_where_a_program_has_ended(name: str) -> None:
    network, x = networks()[name]().double(), programs(9, 4)
    for y, program in zip(network(x), x, strict=True):
        ended = int((program[:, 1:].sum(-1) > 0).sum())
        torch.testing.assert_close(y, network(program[None, :ended])[0], rtol=1e-12, atol=1e-12)


@torch.no_grad()
@pytest.mark.parametrize("name", networks())
def test_stacked_networks_compute_as_each_alone(name: str) -> None:
    found, x = [networks()[name]().double() for _ in range(3)], programs()
    stacked = vmap(lambda parameters: functional_call(found[0], parameters, (x,)))(stack_module_state(list(found))[0])
    for lane, network in enumerate(found):
        torch.testing.assert_close(stacked[lane], network(x), rtol=1e-12, atol=1e-12)


@torch.no_grad()
def test_an_executor_of_whole_programs_is_a_recurrence() -> None:
    cell, head = LSTM(INPUTS + 6, 6).double(), Linear(3, 1).double()
    torch.testing.assert_close(Executor(cell, head)(programs()), Recurrence(cell, head)(programs()))


def test_no_gates_are_kept_of_a_step_that_a_program_does_not_have() -> None:
    assert Executor(NALU(INPUTS + 6, 6), NALU(6, 1)).gates(programs(shortest=2)) == {}


@torch.no_grad()
@pytest.mark.parametrize("sees_integers", [False, True])
def test_a_controlled_nalu_is_a_loop_over_nalus_with_the_weights_that_the_lstm_gives(sees_integers: bool) -> None:
    network = Controlled(INPUTS, 1, 2, 3, sees_integers).double()
    for y, program in zip(network(programs()), programs(), strict=True):
        state, n = torch.zeros(6, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
        for step in program:
            state = network.controller(torch.cat([step if sees_integers else step[1:], state]))
            made = network.producer(state[:3]).view(3, 2, 3)
            unit = NALU(3, 2).double()
            unit.load_state_dict(dict(zip(("W_hat", "M_hat", "G"), made, strict=True)))
            n = unit(torch.cat([step[:1], n]))
        torch.testing.assert_close(y, n[:1], rtol=1e-12, atol=1e-12)


def test_the_gradients_of_a_nalu_with_produced_weights_are_those_of_differences() -> None:
    generator = Generator().manual_seed(0)
    weights = [torch.randn(2, 3, 4, dtype=torch.float64, generator=generator, requires_grad=True) for _ in range(3)]
    z = torch.rand(3, 4, dtype=torch.float64, generator=generator, requires_grad=True)
    assert torch.autograd.gradcheck(produced_nalu, (*weights, z))


def test_a_network_learns_through_its_controller() -> None:
    network, x = Controlled(INPUTS, 1, 2, 3, sees_integers=False).double(), programs()
    parameters = dict(network.named_parameters())
    assert torch.autograd.gradcheck(
        lambda *values: functional_call(network, dict(zip(parameters, values, strict=True)), (x[:2, :3],)),
        tuple(parameters.values()), eps=1e-7, atol=1e-4,
    )  # fmt: skip


@torch.no_grad()
def test_weights_do_not_depend_on_integers_that_the_lstm_does_not_see() -> None:
    x = programs()
    other = torch.cat([2 * x[..., :1], x[..., 1:]], dim=-1)
    for sees_integers in (False, True):
        network = Controlled(INPUTS, 1, 2, 3, sees_integers).double()
        states = []
        for given in (x, other):
            state = network.start(given[:, 0].T)
            for step in given.unbind(1):
                state = network.step(step.T, state)
            states.append(state[0])
        assert torch.equal(*states) is not sees_integers


def cell(model: str, *overrides: str) -> Cell:
    words = [
        "task=programs", f"model={model}", "recipe=trask2018_programs", "recipe.batch_size=4", "model.width=2",
        "recipe.evaluation_size=8", "budget=smoke", "budget.steps=6", "budget.log_every=3", *overrides,
    ]  # fmt: skip
    return compose.plan_cells(words, multirun=False).cells[0].cell


READ, P, Q, R, S = range(5)
"""What a NALU of four numbers p, q, r and s reads: an integer, and these."""

OPEN, SHUT = 1000.0, -1000.0
"""Entries of G that make an output the sum, or the product, where their input is above 0."""


def signs(tokens: list[str]) -> list[float]:
    """Those of the integers of a sum."""
    return [-1.0 if before == "-" else 1.0 for before, now in pairwise(["", *tokens]) if now == "n"]


def by_hand(read: list[str]) -> tuple[Tensor, Tensor]:
    """W and G (4, 5) of a NALU that evaluates programs; they depend on the operators alone that have been read.

    Before `if`, p, q and r are the integers. Before `else`, r is right - left - 1/2, and s is 1. At `else` r and s
    become 1 and 0, or 0 and 1. These multiply the integers before `if`, and those after `else`. The end adds all up.
    """
    W, G, now = torch.eye(5, dtype=torch.float64), torch.zeros(5, 5, dtype=torch.float64), read[-1]
    here = signs(read[max((read.index(word) for word in ("if", "<", "else") if word in read), default=0) :])
    if "else" not in read:
        G[R, S] = OPEN
        W[S], G[S, [READ, S]] = 0, SHUT  # a product of nothing
        if now == "n" and "if" not in read:
            W[len(here)], W[len(here), READ] = 0, 1
        elif now == "n":
            W[R, READ], W[R, R] = here[-1], float(len(here) > 1)
            if "<" in read and len(here) == 1:
                W[R, [R, S]] = torch.tensor([-1, -0.5], dtype=torch.float64)
    elif now == "else":
        W[[R, S]], G[R, R], G[S, R] = 0, SHUT, OPEN  # 1 - g
    elif now == "n" and len(here) == 1:
        G[P:S, [R, S]] = SHUT
        W[P, R] = W[Q, R] = 1
        W[R, [READ, R, S]] = torch.tensor([1.0, 0, 1], dtype=torch.float64)
    elif now == "n":
        W[S, READ], G[S, [READ, S]] = 1, SHUT
    if now == "end":
        first = signs(read[: read.index("if")]) if "if" in read else here
        W[P], G[P, P:] = 0, OPEN
        W[P, P : P + len(first)] = torch.tensor(first, dtype=torch.float64)
        if "if" in read:
            W[P, R : R + len(here)] = torch.tensor(here, dtype=torch.float64)
    return W[1:], G[1:]


def test_a_nalu_of_four_numbers_can_evaluate_all_templates_if_it_reads_the_end() -> None:
    """With weights that see no integer, in all ranges: see `experiments/trask2018/figure4.md`."""
    task, count, generator = cell("program_nalu").task, 1000, Generator().manual_seed(0)
    assert task.end
    for template, _ in grouped(task.templates):
        for low, high in ([0, 3], *task.ranges):
            integers = torch.randint(low, high, (len(template.letters), count), generator=generator).double()
            unread, n, read = iter(integers), torch.zeros(4, count, dtype=torch.float64), list[str]()
            for token in (*template.reading(), "end"):
                read.append(token)
                W, G = by_hand(read)
                W_hat, M_hat = torch.where(W.abs() < 1, W.atanh(), 40 * W), torch.full_like(W, 40)
                v = next(unread) if token == "n" else torch.zeros_like(n[0])
                n = produced_nalu(*(raw.unsqueeze(-1) for raw in (W_hat, M_hat, G)), torch.cat([v[None], n]))
            yes, no, left, right = torch.from_numpy(template.coefficients).double() @ integers
            assert (n[0] - torch.where(left < right, yes, no)).abs().max() < 0.01, (template.text, low)


def plain_dnc(network: Computer, program: np.ndarray) -> np.ndarray:
    """The equations of Graves et al. 2016, one number at a time where they index, with the sorted free list."""
    N, W, R, H = network.slots, network.word, network.reads, network.hidden
    weight = {name: value.detach().numpy() for name, value in network.named_parameters()}

    def sigmoid(x: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-x))

    def softmax(x: np.ndarray) -> np.ndarray:
        return np.exp(x) / np.exp(x).sum()

    def content(key: np.ndarray, strength: float) -> np.ndarray:
        cosines = [M[i] @ key / (np.sqrt(M[i] @ M[i] * (key @ key) + 1e-12) + 1e-6) for i in range(N)]
        return softmax(strength * np.array(cosines))

    h, c, read = np.zeros(H), np.zeros(H), np.zeros((R, W))
    M, u, p, L, wr, ww = np.zeros((N, W)), np.zeros(N), np.zeros(N), np.zeros((N, N)), np.zeros((R, N)), np.zeros(N)
    for x in program:
        i, f, g, o = np.split(weight["controller.W"] @ np.concatenate([x, read.ravel(), h]) + weight["controller.b"], 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        xi = weight["interface.W"] @ h + weight["interface.b"]
        kr, br, kw, bw, e, v, free, ga, gw, modes = np.split(xi, np.cumsum(network._sizes())[:-1])
        psi = np.prod([1 - sigmoid(free[r]) * wr[r] for r in range(R)], axis=0)
        u = (u + ww - u * ww) * psi
        order, a = np.argsort(u, kind="stable"), np.zeros(N)
        for j in range(N):
            a[order[j]] = (1 - u[order[j]]) * np.prod(u[order[:j]])
        ww = sigmoid(gw) * (sigmoid(ga) * a + (1 - sigmoid(ga)) * content(kw, 1 + np.log1p(np.exp(bw[0]))))
        M = M * (1 - np.outer(ww, sigmoid(e))) + np.outer(ww, v)
        for i_ in range(N):
            for j in range(N):
                L[i_, j] = 0 if i_ == j else (1 - ww[i_] - ww[j]) * L[i_, j] + ww[i_] * p[j]
        p = (1 - ww.sum()) * p + ww
        pi = [softmax(modes.reshape(R, 3)[r]) for r in range(R)]
        keys = kr.reshape(R, W)
        wr = np.stack([
            pi[r][0] * L.T @ wr[r] + pi[r][1] * content(keys[r], 1 + np.log1p(np.exp(br[r]))) + pi[r][2] * L @ wr[r]
            for r in range(R)
        ])  # fmt: skip
        read = wr @ M
    return weight["head.W"] @ np.concatenate([h, read.ravel()]) + weight["head.b"]


def test_a_dnc_is_a_plain_loop_over_its_equations() -> None:
    network = Computer(INPUTS, 2, 3, slots=4, word=2, reads=2).double()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(2)  # further from a memory that does nothing
    x = programs() / torch.tensor([100.0, 1, 1, 1])
    expected = np.stack([plain_dnc(network, program.numpy()) for program in x])
    np.testing.assert_allclose(network(x).detach().numpy(), expected, rtol=1e-9)


def test_memory_is_allocated_where_it_is_least_used() -> None:
    usage = torch.tensor([0.5, 0.0, 1.0, 0.0], dtype=torch.float64).unsqueeze(-1)
    assert dnc.allocation(usage)[:, 0].tolist() == [0, 1, 0, 0], "the first of the two that are free"
    usage = torch.tensor([0.5, 0.25], dtype=torch.float64).unsqueeze(-1)
    assert dnc.allocation(usage)[:, 0].tolist() == [0.125, 0.75]


def test_links_lead_from_what_was_written_to_what_was_written_next() -> None:
    one, two = torch.eye(3, dtype=torch.float64)[:2].unsqueeze(-1)
    links = dnc.linked(torch.zeros(3, 3, 1, dtype=torch.float64), two, one)
    modes = torch.tensor([[[0.0], [0], [1]], [[1.0], [0], [0]]], dtype=torch.float64)
    found = dnc.directed(links, torch.stack([one, two]), torch.zeros(2, 3, 1, dtype=torch.float64), modes)
    assert torch.equal(found, torch.stack([two, one])), "forwards, and backwards"


def test_a_key_finds_the_place_that_is_most_like_it() -> None:
    memory = torch.tensor([[1.0, 0], [0, 3], [1, 1]], dtype=torch.float64).unsqueeze(-1)
    found = dnc.similar(memory, torch.tensor([[[0.0], [2.0]]], dtype=torch.float64), torch.tensor([[50.0]]))
    assert float(found[0, 1, 0]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_training_that_is_interrupted_goes_on_to_the_same_bits(model: str, tmp_path: Path) -> None:
    check_resumed(cell(model), Block(0, 2), tmp_path)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["model=program_nalu", "model.sees=nothing"], "unknown value of model.sees 'nothing'"),
        (["model=program_nalu", "model.numbers=0"], "model.numbers must be at least 1, got 0"),
        (["model=program_dnc", "model.slots=0"], "model.slots must be at least 1, got 0"),
        (["model=sequence_lstm"], "a recurrent model takes sequence inputs"),
    ],
)
def test_models_that_cannot_evaluate_programs_are_refused(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "task=programs", "budget=smoke", *words]) == 2
    assert told in "".join(capsys.readouterr())
