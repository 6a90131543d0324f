"""Networks of units, which sum the units' penalties while they compute."""

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor, nn

from nalu_bench.units import functional
from nalu_bench.units.unit import Initialiser, Unit


class Network(nn.Module):
    """Any network of units; its modules are found whatever they are called."""

    def units(self) -> Iterator[tuple[str, Unit]]:
        """(path, unit) for every unit, in order."""
        for path, module in self.named_modules():
            if isinstance(module, Unit):
                yield path, module

    def initialisers(self) -> dict[str, Initialiser]:
        """Full parameter name -> its initialiser."""
        return {
            f"{path}.{name}": initialise
            for path, unit in self.units()
            for name, initialise in unit.initialisers().items()
        }

    def forward(self, x: Tensor) -> Tensor:
        return self.predict(x)[0]

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """The prediction and the penalties, each summed over the units."""
        raise NotImplementedError

    def weights(self) -> dict[str, Tensor]:
        """The effective matrices of all units, by path and name."""
        return {f"{path}.{name}": W for path, unit in self.units() for name, W in unit.weights().items()}

    def sparsity_error(self) -> Tensor:
        """The largest sparsity error of any weight of any unit, see `functional.sparsity_error`; nan without any."""
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

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        penalties: dict[str, Tensor] = {}
        for layer in self.layers:
            assert isinstance(layer, Unit)
            add(penalties, layer.penalties(x))
            x = layer(x)
        return x, penalties


class Recurrence(Network):
    """A unit that is fed its own output: s_t = cell([x_t, s_{t-1}]), s_0 = 0, y = head(first units of s_T).

    (..., B, T, I) -> (..., B, O). The cell is a unit of I + S inputs and S outputs; the head sees as many of these as
    it has inputs. Penalties are those of the last step, once.

    Source: Trask et al. 2018, section 4.2, who do not write the recurrence out. Deviations: none known.
    """

    def __init__(self, cell: Unit, head: Unit) -> None:
        super().__init__()
        self.cell = cell
        self.head = head

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        steps = x.movedim(-2, 0).mT.unbind(0)  # examples as columns, as units compute
        before, state = self.unroll(steps)
        return self.read_out(steps[-1], before, state)

    def step(self, x: Tensor, state: Tensor) -> Tensor:
        """s_t (..., S, B) of x_t (..., I, B) and s_{t-1}."""
        after: Tensor = self.cell(torch.cat([x, state], dim=-2).mT)
        return after.mT

    def unroll(self, steps: Sequence[Tensor], present: Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """The states before and after the last step; where an example is not `present` (..., B) its state stays."""
        state = before = steps[0].new_zeros(*steps[0].shape[:-2], self.cell.out_features, steps[0].shape[-1])
        for number, x in enumerate(steps):
            before, state = state, self.step(x, state)
            if present is not None:
                state = torch.where(present[number].unsqueeze(-2), state, before)
        return before, state

    def read_out(self, x: Tensor, before: Tensor, state: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """What the head makes of the last state, and the penalties at the last step."""
        hidden = state[..., : self.head.in_features, :].mT
        cell_penalties = self.cell.penalties(torch.cat([x, before], dim=-2).mT)
        return self.head(hidden), add(cell_penalties, self.head.penalties(hidden))


class Reader(Recurrence):
    """A recurrence over the embedded tokens of texts: (..., B, T) -> (..., B, O).

    Tokens are whole numbers below the inputs of the embedding, and -1 after the end, where the state stays: the head
    reads the state after the last token alone.

    Source: Trask et al. 2018, section 4.3; that the head comes after the last token only is the authors' own answer to
    Madsen & Johansen. Deviations: none known.
    """

    def __init__(self, embedding: Unit, cell: Unit, head: Unit) -> None:
        super().__init__(cell, head)
        self.embedding = embedding

    def predict(self, x: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        tokens = x.movedim(-1, 0).unbind(0)
        every = torch.arange(self.embedding.in_features, device=x.device).unsqueeze(-1)
        one_hot = [(token.unsqueeze(-2) == every).to(torch.get_default_dtype()) for token in tokens]
        vocabulary = self.embedding(torch.eye(len(every), device=x.device)).mT
        # What the cell makes of a token before its state is computed once for the vocabulary, not for every text.
        read = self.cell.read(vocabulary)
        before, state = self.unroll([read @ chosen for chosen in one_hot], [token >= 0 for token in tokens])
        return self.read_out(vocabulary @ one_hot[-1], before, state)

    def step(self, x: Tensor, state: Tensor) -> Tensor:
        return self.cell.advance(x, state)


def add(penalties: dict[str, Tensor], more: dict[str, Tensor]) -> dict[str, Tensor]:
    """Sum penalties by name, into the first."""
    for name, value in more.items():
        penalties[name] = penalties[name] + value if name in penalties else value
    return penalties
