"""Training protocols. The fields are the keys of `conf/recipe/*.yaml`. This module does not import torch."""

import math
from dataclasses import dataclass, field

from nalu_bench import registry
from nalu_bench.errors import UsageError, unknown
from nalu_bench.plan import limits

MOST_EVALUATIONS = 1_000_000
"""Two hundred times what papers have: the curve of a run has a row for each."""

COUNTINGS = ("in_a_row", "in_total")
SELECTIONS = ("best_validation", "last")


NONE = "none"
"""No first loss."""

UNREAD = "unread"
"""The fact of a registered optimiser, schedule or clipping that names the values of a recipe that it does not read."""


@dataclass
class Recipe:
    """One training protocol.

    Attributes:
        name: the name of the configuration (the YAML file's).
        optimizer: a name of `training.optimizers`: adam, rmsprop or sgd, or one of TensorFlow's, adam_tf or rmsprop_tf.
        learning_rate: step size.
        beta1: decay of the mean of gradients; adam only.
        beta2: decay of the mean of squared gradients (torch's `alpha` for rmsprop); not used by sgd.
        epsilon: added to the root of the mean of squared gradients; not used by sgd.
        batch_size: fresh examples a step.
        evaluation_size: examples of every evaluated split, drawn once and shared by all seeds.
        steps: optimiser steps; 0 evaluates the untrained model.
        log_every: steps between two evaluations.
        ramp_scale: factor on the start and end of every penalty's ramp. Choose it below 1 if steps are fewer than
            the published protocol's: the ramps would otherwise never begin.
        selection: best_validation (the first evaluation after step 0 with the smallest finite validation error) or
            last (the last evaluation with a finite validation error).
        reinitialize_after: evaluations after which a seed's weights may be drawn anew, by the rule `restart`; 0 for
            never. The best weights of all draws are selected; the ramps of penalties go on. With adam, whose
            corrections count from the first step, it must be 0 unless the rule keeps the optimiser.
        reinitialize_counting: in_a_row, or in_total since the weights were drawn.
        reinitialize_above: the error from which on a draw is given up, see `restart`.
        reinitialize_times: how often a seed may start anew.
        loss: a name of `losses`, such as mse, smooth_l1 or cross_entropy.
        first_loss: the loss that training minimises before that, or none.
        first_steps: for so many steps, times `ramp_scale`.
        restart: a name of `training.restart`: the rule that applies if `reinitialize_after` is above 0.
        schedule: a name of `training.schedules`: the learning rate as a function of the share of the steps done.
        schedule_end: the last learning rate, as a share of the first.
        clipping: a name of `training.clippings`: none, norm (of all gradients of a seed together) or value.
        clip_at: the largest norm or absolute value.
        updates: a name of `training.updates`: together, or alternating, which trains weights and gates in turns and
            the penalties in updates of their own; it needs units with gates, and an optimiser that takes turns.
        streams: a name of `training.random`: where all random numbers come from.
        kernels: a name of `training.kernels`: torch, or own, which is faster but rounds otherwise (other runs).
    """

    name: str
    optimizer: str
    learning_rate: float
    beta1: float
    beta2: float
    epsilon: float
    batch_size: int
    evaluation_size: int
    steps: int
    log_every: int
    ramp_scale: float
    selection: str
    loss: str = field(default="mse", metadata={"before": "mse"})
    reinitialize_after: int = field(default=0, metadata={"before": 0})
    reinitialize_counting: str = field(default="in_a_row", metadata={"before": "in_a_row"})
    reinitialize_above: float = field(default=0.0, metadata={"before": 0.0})
    reinitialize_times: int = field(default=1, metadata={"before": 1})
    restart: str = field(default="stale", metadata={"before": "stale"})
    schedule: str = field(default="constant", metadata={"before": "constant"})
    schedule_end: float = field(default=0.0, metadata={"before": 0.0})
    clipping: str = field(default="none", metadata={"before": "none"})
    clip_at: float = field(default=1.0, metadata={"before": 1.0})
    streams: str = field(default="addressable", metadata={"before": "addressable"})
    updates: str = field(default="together", metadata={"before": "together"})
    kernels: str = field(default="torch", metadata={"before": "torch"})
    first_loss: str = field(default=NONE, metadata={"before": NONE})
    first_steps: int = field(default=0, metadata={"before": 0})

    def validate(self) -> None:
        """Raise UsageError if the values cannot go together."""
        for kind, name in self.chosen():
            kind.entry(name)
        if self.selection not in SELECTIONS:
            raise unknown("selection", self.selection, SELECTIONS)
        for key in ("learning_rate", "epsilon", "batch_size", "evaluation_size", "log_every", "ramp_scale", "clip_at"):
            if not 0 < getattr(self, key) < math.inf:
                raise UsageError(f"recipe.{key} must be above 0 and finite, got {getattr(self, key)}.")
        for key in ("beta1", "beta2"):
            if not 0 <= limits.single(getattr(self, key)) < 1:
                raise UsageError(f"recipe.{key} must lie in [0, 1) in single precision, too, got {getattr(self, key)}.")
        if self.reinitialize_counting not in COUNTINGS:
            raise unknown("reinitialize_counting", self.reinitialize_counting, COUNTINGS)
        for key in ("reinitialize_after", "reinitialize_above", "reinitialize_times", "first_steps"):
            if not 0 <= getattr(self, key) < math.inf:
                raise UsageError(f"recipe.{key} must be at least 0 and finite, got {getattr(self, key)}.")
        if not 0 <= self.schedule_end < math.inf:
            raise UsageError(f"recipe.schedule_end must be at least 0 and finite, got {self.schedule_end}.")
        if self.first_loss != NONE and not self.first_steps:
            raise UsageError(
                f"recipe.first_steps must be above 0 with recipe.first_loss={self.first_loss}, got 0; say for how many "
                f"steps it is minimised, or choose recipe.first_loss={NONE}."
            )
        self._check_restart()
        self._check_updates()
        if self.steps < 0:
            raise UsageError(f"steps must be at least 0, got {self.steps}.")
        if self.steps > MOST_EVALUATIONS * self.log_every:
            raise UsageError(
                f"steps / log_every must be at most {MOST_EVALUATIONS:,} evaluations, got {self.steps:,} / "
                f"{self.log_every:,}; evaluate less often."
            )
        if self.steps % self.log_every:
            raise UsageError(
                f"recipe.steps must be a multiple of recipe.log_every ({self.log_every}), got {self.steps}."
            )

    def _check_restart(self) -> None:
        """Raise UsageError if an optimiser would start afresh whose corrections count from the first step."""
        counts = registry.optimizers.fact(self.optimizer, "corrected", False)
        keeps = registry.restarts.fact(self.restart, "keeps_optimizer", False)
        if self.reinitialize_after and counts and not keeps:
            raise UsageError(
                f"recipe.reinitialize_after must be 0 with recipe.optimizer={self.optimizer} and "
                f"recipe.restart={self.restart}; choose rmsprop or sgd to start anew, or a rule that keeps the "
                "optimiser, such as recipe.restart=halves_validation."
            )

    def _check_updates(self) -> None:
        """Raise UsageError if an optimiser whose corrections count steps would make several updates a step.

        One that says so in its fact `several` tells in its docstring what that changes.
        """
        several = registry.updates.fact(self.updates, "several", False)
        corrected, allows = (registry.optimizers.fact(self.optimizer, fact, False) for fact in ("corrected", "several"))
        if several and corrected and not allows:
            raise UsageError(
                f"recipe.updates={self.updates} must have an optimiser whose corrections do not count the steps, got "
                f"{self.optimizer}; choose adam_tf, rmsprop, rmsprop_tf or sgd."
            )

    def losses(self) -> dict[str, str]:
        """Key -> the loss that it names: `loss`, and `first_loss` where there is one."""
        return {"loss": self.loss} | ({} if self.first_loss == NONE else {"first_loss": self.first_loss})

    def unread_with(self, key: str) -> str:
        """The setting with which a value has no effect, such as `recipe.clipping=none`; empty if it has one."""
        if key == "first_steps":
            return "" if self.first_loss != NONE else f"recipe.first_loss={NONE}"
        restarting = key == "restart" or (key.startswith("reinitialize_") and key != "reinitialize_after")
        if restarting and not self.reinitialize_after:
            return "recipe.reinitialize_after=0"
        keys = {kind: word for word, kind in registry.LISTED.items()}
        return next(
            (f"recipe.{keys[kind]}={name}" for kind, name in self.chosen() if key in kind.fact(name, UNREAD, ())), ""
        )

    def chosen(self) -> list[tuple[registry.Registry, str]]:
        """The registered functions and rules that the recipe names: their versions belong to a run's identity."""
        return [
            (registry.optimizers, self.optimizer),
            *((registry.losses, loss) for loss in self.losses().values()),
            (registry.restarts, self.restart),
            (registry.schedules, self.schedule),
            (registry.clippings, self.clipping),
            (registry.updates, self.updates),
            (registry.streams, self.streams),
            (registry.kernels, self.kernels),
        ]
