"""Networks of units. A network sums the penalties of its units while it predicts."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from nalu_bench.errors import UsageError
from nalu_bench.models import parts
from nalu_bench.tasks.text_tree import Level
from nalu_bench.units import functional
from nalu_bench.units.unit import Initialiser, Unit

INPUTS = "inputs"
"""Name of the penalty on the mean inputs of a recurrent cell, R_z."""


class Network(nn.Module):
    """A network of units and other modules. Both are found under any attribute name.

    A module that is not a unit, such as a convolution, has no effective weights and no penalties. Its initial weights
    follow torch's own distribution, see `parts`, unless the network overrides `initialisers`.
    """

    @property
    def noise(self) -> int:
        """Number of uniform random numbers that the network needs for each example in training."""
        return 0

    def units(self) -> Iterator[tuple[str, Unit]]:
        """(path, unit) for every unit, in order."""
        for path, module in self.named_modules():
            if isinstance(module, Unit):
                yield path, module

    def initialisers(self) -> dict[str, Initialiser]:
        """Full parameter name -> its initialiser."""
        found: dict[str, Initialiser] = {}
        inside = tuple(f"{path}." for path, _ in self.units())
        for path, module in self.named_modules():
            if path.startswith(inside):
                continue  # a unit initialises all its parameters itself
            own = module.initialisers() if isinstance(module, Unit) else parts.initialisers(module)
            found |= {f"{path}.{name}" if path else name: initialise for name, initialise in own.items()}
        return found

    def gating(self) -> frozenset[str]:
        """Full names of the parameters that are gates, see `Unit.gating`."""
        return frozenset(f"{path}.{name}" if path else name for path, unit in self.units() for name in unit.gating)

    def rates(self) -> dict[str, float]:
        """Full parameter name -> factor on the recipe's learning rate, where it is not 1."""
        return {}

    def followed(self) -> dict[str, Tensor]:
        """Scalars of the network itself that are logged at every evaluation, by name; none by default."""
        return {}

    def forward(self, x: Tensor) -> Tensor:
        return self.predict(x)[0]

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the prediction and the penalties, each summed over the units.

        A network with `noise` takes the random numbers as a second argument.
        """
        raise NotImplementedError

    def gates(self, x: Tensor) -> dict[str, Tensor]:
        """The gates (..., B, O) of the units on inputs x, by path and name; empty by default."""
        return {}

    def weights(self) -> dict[str, Tensor]:
        """The effective matrices of all units, by path and name."""
        return {f"{path}.{name}": W for path, unit in self.units() for name, W in unit.weights().items()}

    def sparsity_error(self) -> Tensor:
        """The largest sparsity error of any weight, see `functional.sparsity_error`; nan if there are no weights."""
        errors = [functional.sparsity_error(W) for W in self.weights().values()]
        return torch.stack(errors).amax() if errors else torch.full((), torch.nan)

    def project_(self) -> None:
        """Clamp the parameters of every unit."""
        for _, unit in self.units():
            unit.project_()


class Stack(Network):
    """Units applied one after the other: (..., in_features of the first) -> (..., out_features of the last)."""

    def __init__(self, *units: Unit) -> None:
        super().__init__()
        self.layers = nn.ModuleList(units)

    @property
    def noise(self) -> int:
        """Sum of the numbers that the units need; each unit takes its share in order."""
        return sum(unit.noise for _, unit in self.units())

    def predict(self, x: Tensor, noise: Tensor | None = None) -> tuple[Tensor, dict[str, Tensor]]:
        penalties: dict[str, Tensor] = {}
        used = 0
        for layer in self.layers:
            assert isinstance(layer, Unit)
            add(penalties, layer.penalties(x))
            if noise is None or not layer.noise:
                x = layer(x)
            else:
                x = layer.disturbed(x, noise[..., used : used + layer.noise, :])
                used += layer.noise
        return x, penalties

    def gates(self, x: Tensor) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for number, layer in enumerate(self.layers):
            assert isinstance(layer, Unit)
            found |= {f"layers.{number}.{name}": gate for name, gate in layer.gates(x).items()}
            x = layer(x)
        return found


class Recurrence(Network):
    """A unit that is fed its own output: s_t = cell([x_t, s_{t-1}]), y = head(first entries of s_T).

    (..., B, T, I) -> (..., B, O), or (..., B, T, O) with a prediction at every step. The cell is a unit with I + S
    inputs and S outputs. The head reads as many of these outputs as it has inputs, from the entry `first` on. Penalties
    are computed once, at the last step.

    Source: Trask et al. 2018, section 4.1, who do not write the recurrence out. Deviations: none known.

    Args:
        cell: one step of the recurrence.
        head: the unit that reads the state.
        initial: the value of every entry of s_0.
        every: whether the head reads every state, or only the last.
        input_penalty: whether the cell's inputs of all steps are penalised, see `functional.input_penalty`. The cell
            must have a neutral element.
        summed: whether the head reads the sum of all states, y = head(s_1 + ... + s_T).
        first: the first entry of a state that the head reads, such as H for the memory of an LSTM of H units.
    """

    def __init__(
        self,
        cell: Unit,
        head: Unit,
        initial: float = 0.0,
        every: bool = False,
        input_penalty: bool = False,
        summed: bool = False,
        first: int = 0,
    ) -> None:
        super().__init__()
        self.cell = cell
        self.head = head
        self.initial = initial
        self.every = every
        self.input_penalty = input_penalty
        self.summed = summed
        self.first = first

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        return self.run(x.movedim(-2, 0).mT.unbind(0))  # examples as columns, as units compute

    def initial_state(self, x: Tensor) -> Tensor:
        """s_0 (..., S, B) for inputs of one step (..., I, B)."""
        return x.new_full((*x.shape[:-2], self.cell.out_features, x.shape[-1]), self.initial)

    def step(self, x: Tensor, state: Tensor) -> Tensor:
        """s_t (..., S, B) from x_t (..., I, B) and s_{t-1}."""
        after: Tensor = self.cell(torch.cat([x, state], dim=-2).mT)
        return after.mT

    def unroll(self, steps: Sequence[Tensor], present: Sequence[Tensor] | None = None) -> Iterator[tuple[Tensor, ...]]:
        """Yield (s_{t-1}, s_t) of every step. Where an example is not `present` (..., B), its state stays.

        On the meta device, which measures memory, all steps without gradients are alike, and three are taken.
        """
        state, alike = self.initial_state(steps[0]), steps[0].is_meta and not torch.is_grad_enabled()
        for number, x in enumerate(steps):
            if alike and number > 2:
                yield state, state
                continue
            before, state = state, self.step(x, state)
            if present is not None:
                state = torch.where(present[number].unsqueeze(-2), state, before)
            yield before, state

    def run(
        self, steps: Sequence[Tensor], present: Sequence[Tensor] | None = None, last: Tensor | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Run all steps. Return the prediction (or those of every step) and the penalties at the last step.

        Args:
            steps: inputs of the recurrence, (..., I, B) each.
            present: see `unroll`.
            last: the cell's inputs at the last step, for its penalties, if `steps` hold something else.
        """
        seen: list[Tensor] = []
        earlier: list[Tensor] = []
        total = torch.zeros((), dtype=steps[0].dtype, device=steps[0].device)
        for number, (before, state) in enumerate(self.unroll(steps, present)):
            if self.input_penalty:
                earlier.append(before)
            if self.every:
                seen.append(self.head(self.visible(state)))
            if self.summed:
                read = self.visible(state)
                total = total + (read if present is None else read.where(present[number].unsqueeze(-1), 0.0))
        inputs = torch.cat([steps[-1] if last is None else last, before], dim=-2).mT
        hidden = total if self.summed else self.visible(state)
        penalties = add(self.cell.penalties(inputs), self.head.penalties(hidden))
        if self.input_penalty:
            penalties[INPUTS] = self._input_penalty(torch.cat([torch.stack(list(steps)), torch.stack(earlier)], dim=-2))
        return torch.stack(seen, dim=-2) if self.every else self.head(hidden), penalties

    def _input_penalty(self, inputs: Tensor) -> Tensor:
        """The penalty on the cell's inputs (T, ..., I + S, B)."""
        neutral, matrices = self.cell.neutral, list(self.cell.weights().values())
        if neutral is None or len(matrices) != 1:
            raise UsageError(
                f"the penalty `{INPUTS}` needs a cell with one matrix and a neutral element (NAC, NAU, NMU and their "
                f"kin), got {type(self.cell).__name__}; leave it out of model.penalties."
            )
        return functional.input_penalty(matrices[0], inputs.mT, neutral)

    def visible(self, state: Tensor) -> Tensor:
        """The part of a state (..., S, B) that the head sees, (..., B, H)."""
        return state[..., self.first : self.first + self.head.in_features, :].mT

    def gates(self, x: Tensor) -> dict[str, Tensor]:
        """The gates of the cell at the last step, and of the head."""
        steps = x.movedim(-2, 0).mT.unbind(0)
        befores, states = zip(*self.unroll(steps), strict=True)
        cell = self.cell.gates(torch.cat([steps[-1], befores[-1]], dim=-2).mT)
        visible = torch.stack([self.visible(state) for state in (states if self.summed else states[-1:])])
        head = self.head.gates(visible.sum(0))
        return {f"cell.{name}": gate for name, gate in cell.items()} | {f"head.{n}": gate for n, gate in head.items()}


class Reader(Recurrence):
    """A recurrence over the embedded tokens of texts: (..., B, T) -> (..., B, O).

    Tokens are integers below the embedding's number of inputs. -1 stands after the end of a text, where the state
    stays. So the head reads the state after the last token, or every state with `every`, or the sum of those up to the
    last token with `summed`.

    Source: Trask et al. 2018, section 4.3 and appendix D. Deviations: none known.
    """

    def __init__(
        self,
        embedding: Unit,
        cell: Unit,
        head: Unit,
        initial: float = 0.0,
        every: bool = False,
        summed: bool = False,
        first: int = 0,
    ) -> None:
        super().__init__(cell, head, initial, every, summed=summed, first=first)
        self.embedding = embedding

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        tokens = x.movedim(-1, 0).unbind(0)
        vocabulary, read = self._vocabulary()
        one_hot = [_one_hot(token, self.embedding.in_features, vocabulary) for token in tokens]
        steps = [read @ chosen for chosen in one_hot]
        return self.run(steps, [token >= 0 for token in tokens], vocabulary @ one_hot[-1])

    def predict_tree(self, levels: Sequence[Level]) -> tuple[Tensor, dict[str, Tensor]]:
        """The predictions (n, O) for n texts, and the penalties: as `predict`, but what texts begin with is read once.

        A text that is a level's end is predicted from the state there. There is no prediction at `every` step.
        """
        vocabulary, read = self._vocabulary()
        state = self.initial_state(vocabulary[..., :1])
        total = self.visible(state).mT * 0
        inputs, hidden = [], []
        for level in levels:
            tokens = _one_hot(level.tokens, vocabulary.shape[-1], vocabulary)
            parents = _one_hot(level.parents, state.shape[-1], vocabulary)
            before = state @ parents
            state = self.step(read @ tokens, before)
            total = total @ parents + self.visible(state).mT
            inputs.append(torch.cat([vocabulary @ tokens, before], dim=-2)[..., : level.ends])
            hidden.append((total if self.summed else self.visible(state).mT)[..., : level.ends])
        ends = torch.cat(hidden, dim=-1).mT
        penalties = add(self.cell.penalties(torch.cat(inputs, dim=-1).mT), self.head.penalties(ends))
        return self.head(ends), penalties

    def _vocabulary(self) -> tuple[Tensor, Tensor]:
        """Every embedded token as a column, and the input half of the cell for it: computed once, not once a text."""
        weight = next(self.embedding.parameters())
        tokens = torch.eye(self.embedding.in_features, device=weight.device, dtype=weight.dtype)
        vocabulary = self.embedding(tokens).mT
        return vocabulary, self.cell.read(vocabulary)

    def step(self, x: Tensor, state: Tensor) -> Tensor:
        return self.cell.advance(x, state)

    def gates(self, x: Tensor) -> dict[str, Tensor]:
        """No gates: texts have no common last step."""
        return {}


def add(penalties: dict[str, Tensor], more: dict[str, Tensor]) -> dict[str, Tensor]:
    """Add the second penalties to the first by name. Returns the first."""
    for name, value in more.items():
        penalties[name] = penalties[name] + value if name in penalties else value
    return penalties


def _one_hot(chosen: Tensor | Sequence[int], count: int, like: Tensor) -> Tensor:
    """(..., count, B) for choices (..., B): a column for each, with 1 in the row of its number and 0 elsewhere."""
    places = chosen if isinstance(chosen, Tensor) else torch.tensor(list(chosen), device=like.device)
    rows = torch.arange(count, device=like.device).unsqueeze(-1)
    return (places.unsqueeze(-2) == rows).to(like.dtype)
