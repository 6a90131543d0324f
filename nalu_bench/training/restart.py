"""When a seed that is stuck starts anew."""

from dataclasses import dataclass

import torch
from torch import Tensor

from nalu_bench.plan.recipe import Recipe


@dataclass(frozen=True)
class Draws:
    """How each seed's present draw of initial weights has done so far.

    Attributes:
        best: (S,) the smallest finite validation error since the draw, or inf.
        stale: (S,) evaluations without a smaller one, since then or in total.
        count: (S,) how often the seed has started anew.
    """

    best: Tensor
    stale: Tensor
    count: Tensor

    @classmethod
    def first(cls, seeds: int, device: torch.device) -> "Draws":
        """Before training."""
        nothing = torch.zeros(seeds, dtype=torch.int64, device=device)
        return cls(torch.full((seeds,), torch.inf, dtype=torch.float64, device=device), nothing, nothing)

    def judged(self, error: Tensor, alive: Tensor, recipe: Recipe) -> tuple["Draws", Tensor]:
        """After an evaluation: the new state, and which seeds (S,) start anew.

        A seed starts anew if its validation error did not fall below the smallest of the draw at
        `recipe.reinitialize_after` evaluations, in a row or in total, that smallest is at least `reinitialize_above`,
        and it has done so less than `reinitialize_times` times. One that has diverged stays as it is.

        Source: the IIT Indore report, section 5.1 (in a row, above a threshold, any number of times) and its code (in
        total, without a threshold, once). Deviations: the report leaves open what the threshold is compared with.

        Args:
            error: (S,) validation errors.
            alive: (S,) which seeds have not diverged.
        """
        better = error.isfinite() & (error < self.best)
        kept = self.stale if recipe.reinitialize_counting == "in_total" else torch.zeros_like(self.stale)
        best, stale = torch.where(better, error, self.best), torch.where(better, kept, self.stale + 1)
        stuck = (stale >= recipe.reinitialize_after) & (best >= recipe.reinitialize_above)
        due = stuck & (self.count < recipe.reinitialize_times) & alive
        return Draws(torch.where(due, torch.inf, best), torch.where(due, 0, stale), self.count + due), due
