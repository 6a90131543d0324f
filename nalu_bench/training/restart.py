"""Rules by which a seed that is stuck starts anew."""

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor

from nalu_bench.models.network import Network
from nalu_bench.plan.recipe import Recipe
from nalu_bench.registry import register
from nalu_bench.units.unit import Initialiser, uniform

Memory = dict[str, Tensor]
"""A rule's state between evaluations, by name; (S, ...) each. "count" (S,) is how often each seed has started anew."""


class RestartRule:
    """A rule for when seeds start anew and with which weights. It has no state: its memory is an argument.

    A rule that is registered with `keeps_optimizer=True` leaves the optimiser of a seed as it was.

    Attributes:
        watches: whether it needs the training losses of all steps since the last evaluation, "losses" (S, steps) among
            the figures.
    """

    watches: ClassVar[bool] = False

    def first(self, seeds: int, device: torch.device) -> Memory:
        """The memory before training."""
        return {"count": torch.zeros(seeds, dtype=torch.int64, device=device)}

    def judged(
        self, memory: Memory, figures: Mapping[str, Tensor], error: Tensor, alive: Tensor, recipe: Recipe
    ) -> tuple[Memory, Tensor]:
        """The memory after an evaluation, and which seeds (S,) start anew.

        Args:
            memory: before the evaluation.
            figures: everything that the evaluation measured, by column; "train_loss" among them.
            error: (S,) on the selecting split; smaller is better.
            alive: (S,) whether a seed has not diverged; the others never start anew.
        """
        raise NotImplementedError

    def initialisers(self, network: Network) -> dict[str, Initialiser]:
        """The distribution of the new weights; that of the first ones by default."""
        return network.initialisers()


@register("stale", version=1)
class Stale(RestartRule):
    """A seed starts anew if its error on the selecting split no longer falls.

    It must not have fallen at `recipe.reinitialize_after` evaluations, in a row or in total. The smallest error since
    the draw must be at least `reinitialize_above`. A seed starts anew at most `reinitialize_times` times.

    Source: the IIT Indore report, section 5.1 (in a row, above a threshold, any number of times) and its code (in
    total, without a threshold, once). Deviations: the report leaves open what the threshold is compared with.

    Memory: "best" (S,), the smallest finite error since the draw, or inf; "stale" (S,), evaluations without a
    smaller one, in a row or in total.
    """

    def first(self, seeds: int, device: torch.device) -> Memory:
        nothing = torch.zeros(seeds, dtype=torch.int64, device=device)
        return super().first(seeds, device) | {
            "best": torch.full((seeds,), torch.inf, dtype=torch.float64, device=device),
            "stale": nothing,
        }

    def judged(
        self, memory: Memory, figures: Mapping[str, Tensor], error: Tensor, alive: Tensor, recipe: Recipe
    ) -> tuple[Memory, Tensor]:
        best, stale, count = memory["best"], memory["stale"], memory["count"]
        better = error.isfinite() & (error < best)
        kept = stale if recipe.reinitialize_counting == "in_total" else torch.zeros_like(stale)
        best, stale = torch.where(better, error, best), torch.where(better, kept, stale + 1)
        stuck = (stale >= recipe.reinitialize_after) & (best >= recipe.reinitialize_above)
        due = stuck & (count < recipe.reinitialize_times) & alive
        best, stale = torch.where(due, torch.inf, best), torch.where(due, 0, stale)
        return {"count": count + due, "best": best, "stale": stale}, due


@register("halves", version=2, keeps_optimizer=True, unread=["reinitialize_counting"])
class Halves(RestartRule):
    """A seed starts anew, with weights U[-2, 2], if its training loss is not smaller than it was.

    The losses of all batches since its draw are cut in half, l_1 and l_2. The seed starts anew if mean l_1 <= mean l_2
    + std l_2, and if mean l_2 is above `recipe.reinitialize_above`. This is asked at every evaluation whose number is a
    multiple of `recipe.reinitialize_after`, of seeds with at least so many evaluations, at most `reinitialize_times`
    times each. The optimiser of a seed goes on as it was.

    Source: Schlör, Ring & Hotho 2020, iNALU, the reinitialisation, https://doi.org/10.3389/frai.2020.00071, and their
    code, which asks at every batch of every tenth epoch once there are more than 10,000 losses. With an evaluation for
    every ten epochs of 1,000 batches this is `reinitialize_after=1 reinitialize_above=1`. Deviations: it is asked once
    for those 1,000 batches, before the first; where a penalty has updates of its own, the loss before them counts.

    Memory: "losses" (S, pieces, 3), for each half of what lies between two evaluations the number of its losses, their
    sum and the sum of their squares; "stored" (S,), how many evaluations are of the present draw.

    Attributes:
        asks_always: whether it is asked at every evaluation, not only at multiples of `reinitialize_after`.
        entry: the shape of one entry of "losses".
    """

    asks_always = False
    watches = True
    entry: tuple[int, ...] = (3,)

    def first(self, seeds: int, device: torch.device) -> Memory:
        return super().first(seeds, device) | {
            "losses": torch.empty(seeds, 0, *self.entry, dtype=torch.float64, device=device),
            "stored": torch.zeros(seeds, dtype=torch.int64, device=device),
        }

    def judged(
        self, memory: Memory, figures: Mapping[str, Tensor], error: Tensor, alive: Tensor, recipe: Recipe
    ) -> tuple[Memory, Tensor]:
        count, stored = memory["count"], memory["stored"] + 1
        new = self.entries(figures, error)
        losses, each = torch.cat([memory["losses"], new], dim=1), new.shape[1]
        entries = losses.shape[1]
        place = torch.arange(entries, device=losses.device) - (entries - each * stored).unsqueeze(1)  # within the draw
        half = (each * stored // 2).unsqueeze(1)
        before, _ = self.spread(losses, (place >= 0) & (place < half))
        after, deviation = self.spread(losses, place >= half)
        stuck = (before <= after + deviation) & (after > recipe.reinitialize_above)
        asked = entries // each % recipe.reinitialize_after == 0 or self.asks_always
        due = asked & (stored >= recipe.reinitialize_after) & stuck & (count < recipe.reinitialize_times) & alive
        return {"count": count + due, "losses": losses, "stored": torch.where(due, 0, stored)}, due

    def entries(self, figures: Mapping[str, Tensor], error: Tensor) -> Tensor:
        """What an evaluation adds to "losses", (S, n, *entry); all entries since the draw are cut in half."""
        halves = figures["losses"].double().tensor_split(2, dim=1)
        sums = [(torch.ones_like(part).sum(1), part.sum(1), part.square().sum(1)) for part in halves]
        return torch.stack([torch.stack(one, dim=1) for one in sums], dim=1)

    def spread(self, losses: Tensor, counted: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation (S,) of the losses of the entries that are counted (S, n)."""
        number, total, squares = torch.where(counted.unsqueeze(-1), losses, 0.0).sum(1).unbind(1)
        mean = total / number
        return mean, (squares / number - mean.square()).clamp(min=0.0).sqrt()

    def initialisers(self, network: Network) -> dict[str, Initialiser]:
        return dict.fromkeys(network.initialisers(), uniform(-2.0, 2.0))


@register("halves_validation", version=1, keeps_optimizer=True, unread=["reinitialize_counting"])
class HalvesOfValidation(Halves):
    """As `halves`, but of the error on the selecting split, with the unit's own initial weights, at every evaluation.

    A seed must have `recipe.reinitialize_after` evaluations since its draw. Its optimiser goes on as it was, so that
    adam can be used.

    Source: Mistry, Farrahi & Hare 2022, NALM's benchmark, the code that trains the iNALU: the last validation error
    is stored at every step, and asked for every 10 steps once there are more than 5,000: a stuck network starts anew
    every 5,010 steps. With an evaluation every 1,000 steps `reinitialize_after=6 reinitialize_above=1` is near it,
    every 6,000. Deviations: it is asked at evaluations alone.
    """

    asks_always = True
    watches = False
    entry = ()

    def entries(self, figures: Mapping[str, Tensor], error: Tensor) -> Tensor:
        return error.double().unsqueeze(1)

    def spread(self, losses: Tensor, counted: Tensor) -> tuple[Tensor, Tensor]:
        return _spread(losses, counted)

    def initialisers(self, network: Network) -> dict[str, Initialiser]:
        return network.initialisers()


def _spread(losses: Tensor, counted: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation (S,) of the losses (S, n) that are counted; nan where there are none."""
    number = counted.sum(1)
    mean = torch.where(counted, losses, 0.0).sum(1) / number
    squares = torch.where(counted, (losses - mean.unsqueeze(1)).square(), 0.0)
    return mean, (squares.sum(1) / number).sqrt()
