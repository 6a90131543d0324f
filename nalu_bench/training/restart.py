"""Rules by which a seed that is stuck starts anew."""

from collections.abc import Mapping

import torch
from torch import Tensor

from nalu_bench.models.network import Network
from nalu_bench.plan.recipe import Recipe
from nalu_bench.registry import register
from nalu_bench.units.unit import Initialiser

Memory = dict[str, Tensor]
"""A rule's state between evaluations, by name; (S, ...) each. "count" (S,) is how often each seed has started anew."""


class RestartRule:
    """A rule for when seeds start anew and with which weights. It has no state: its memory is an argument."""

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
