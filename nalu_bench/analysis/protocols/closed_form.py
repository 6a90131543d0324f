"""The errors of the best linear predictor and of the best NAC on the static task, without training.

Both are linear in the inputs, t̂ = c₀ + Σᵢ cᵢ xᵢ. Inputs of one group (in A alone, in B alone, in both, in neither) are
exchangeable and the squared error is convex, so the best cᵢ are equal within a group: four sums of inputs are left.

    linear   c₀ free, cᵢ free
    nac      c₀ = 0, |cᵢ| <= H: two stacked NACs with H hidden units, whose weights lie in (-1, 1)

The expectations are means over a fixed sample of these sums. The sum of the inputs in neither subset counts as normal.
"""

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear
from scipy.special import ndtri

from nalu_bench.errors import UsageError, unknown
from nalu_bench.tasks.subset_sums import OPERATIONS

Array = NDArray[np.float64]
Range = tuple[float, float]
Beyond = tuple[Range, str]
"""The range of the extrapolation, and which inputs have it: "all" or "summed"."""

SAMPLES = 2048
"""Examples of the fixed sample; the relative standard error of a mean error is near 2 %."""

ONE_OPERAND = ("square", "sqrt")
"""Operations that leave b out; the size of B does not matter to them."""

MOST = 50
"""The largest number of inputs of a group."""

Errors = dict[tuple[str, str], tuple[float, float]]
"""(predictor, split) -> (mean absolute error, mean squared error)."""


class Law(NamedTuple):
    """A law of the inputs, as `tasks.arithmetic_terms.ArithmeticTerms` has it: `limits` are those of a split."""

    name: str
    limits: Range

    def draw(self, uniforms: Array) -> Array:
        """Inputs from uniform numbers."""
        first, second = self.limits
        if self.name == "normal":
            return first + second * ndtri(uniforms)
        x = first + (second - first) * uniforms
        return np.floor(x) if self.name == "whole" else x


@dataclass(frozen=True)
class Setting:
    """One protocol of one operation.

    Attributes:
        operation: a key of `tasks.subset_sums.OPERATIONS`.
        law: "uniform", "whole" or "normal".
        interpolation, extrapolation: the ranges.
        grown: which inputs have the range of the extrapolation there, "all" or "summed".
        terms: |A| and |B|.
        shared: |A ∩ B|.
        features: number of inputs.
    """

    operation: str
    law: str
    interpolation: Range
    extrapolation: Range
    grown: str
    terms: tuple[int, int]
    shared: int = 0
    features: int = 100


def finite(setting: Setting, power: int) -> bool:
    """Whether E|t|^power exists. A ratio has it only if its denominator b keeps away from 0 far enough.

    Near b = 0, a sum of m uniform numbers from 0 on has a density like b^(m - 1), so E[1/b^p] exists iff m > p. A
    normal b has density at 0, and a sum of whole numbers has mass there if 0 is among them.
    """
    if setting.operation == "sqrt":
        return setting.law != "normal" and min(*setting.interpolation, *setting.extrapolation) >= 0
    if setting.operation != "div":
        return True
    lowest = min(setting.interpolation[0], setting.extrapolation[0])
    if setting.law == "normal" or lowest < 0:
        return False
    away = lowest >= 1 if setting.law == "whole" else lowest > 0
    return away or (setting.law == "uniform" and setting.terms[1] > power)


class Fitted(NamedTuple):
    """The best coefficients: c₀ and those of the sums of A alone, B alone, both, neither."""

    offset: float
    slopes: Array


def errors(setting: Setting, hidden: Sequence[int], beyond: Sequence[Beyond] = ()) -> list[Errors]:
    """Mean absolute and squared errors of the best predictors, and of two predictors that know nothing.

    Args:
        hidden: hidden sizes H, which bound the NAC.
        beyond: pairs (extrapolation, grown) to evaluate instead of the setting's own. The fit is the same for all.

    Returns: for every pair, (predictor, split) -> (mean absolute error, mean squared error). The predictors are
    "linear"; "linear_no_bias"; "nac_H" for every H; "zero", which predicts 0 as an untrained network nearly does;
    "mean", which predicts the mean of the training targets.

    Raises: UsageError for an unknown operation, and for groups of more than `MOST` inputs.
    """
    if setting.operation not in OPERATIONS:
        raise unknown("operation", setting.operation, OPERATIONS)
    sums, t = _examples(setting, setting.interpolation, "all")
    fitted = {
        "linear": _least_squares(sums, t, bias=True),
        "linear_no_bias": _least_squares(sums, t, bias=False),
        "zero": Fitted(0.0, np.zeros(4)),
        "mean": Fitted(float(t.mean()), np.zeros(4)),
    }
    fitted |= {f"nac_{size}": _bounded(fitted["linear_no_bias"], sums, t, size) for size in hidden}
    inside = _of_split("validation", fitted, sums, t)
    return [
        inside | _of_split("extrapolation", fitted, *_examples(setting, limits, grown))
        for limits, grown in beyond or [(setting.extrapolation, setting.grown)]
    ]


def _of_split(split: str, fitted: Mapping[str, Fitted], x: Array, t: Array) -> Errors:
    offsets = np.array([one.offset for one in fitted.values()])
    slopes = np.array([one.slopes for one in fitted.values()])
    residuals = offsets[:, None] + slopes @ x.T - t
    means = np.abs(residuals).mean(axis=1), np.square(residuals).mean(axis=1)
    return {(name, split): (float(mae), float(mse)) for name, mae, mse in zip(fitted, *means, strict=True)}


def _examples(setting: Setting, limits: Range, grown: str) -> tuple[Array, Array]:
    """The four sums (SAMPLES, 4) of inputs, and the targets (SAMPLES,). `grown` inputs have these limits."""
    summed = Law(setting.law, limits)
    rest = summed if grown == "all" else Law(setting.law, setting.interpolation)
    sizes = [setting.terms[0] - setting.shared, setting.terms[1] - setting.shared, setting.shared]
    if max(sizes) > MOST:
        raise UsageError(f"a group of inputs must have at most {MOST}, got {max(sizes)} of {setting.terms}.")
    only_a, only_b, both = (_sums(summed, group)[:, size] for group, size in enumerate(sizes))
    neither = _rest(rest, setting.features - sum(sizes))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = OPERATIONS[setting.operation](only_a + both, only_b + both)
    return np.stack([only_a, only_b, both, neither], 1), t


@functools.cache
def _sums(law: Law, group: int) -> Array:
    """Sums (SAMPLES, MOST + 1) of the first 0, 1, 2, ... inputs of a group."""
    x = law.draw(np.random.default_rng(group).random((SAMPLES, MOST)))
    return np.hstack([np.zeros((SAMPLES, 1)), x.cumsum(axis=1)])


@functools.cache
def _rest(law: Law, count: int) -> Array:
    """Normal numbers with the mean and the deviation of a sum of `count` inputs."""
    x = law.draw((np.arange(SAMPLES) + 0.5) / SAMPLES)
    standard: Array = ndtri(np.random.default_rng(3).random(SAMPLES))
    found: Array = count * x.mean() + math.sqrt(count) * x.std() * standard
    return found


def _least_squares(x: Array, t: Array, *, bias: bool) -> Fitted:
    columns = np.hstack([np.ones((len(x), 1)), x]) if bias else x
    found = np.linalg.lstsq(columns.T @ columns, columns.T @ t, rcond=1e-12)[0]
    return Fitted(float(found[0]), found[1:]) if bias else Fitted(0.0, found)


def _bounded(free: Fitted, x: Array, t: Array, bound: float) -> Fitted:
    """The best slopes within ± bound; `free` are those without it."""
    if np.abs(free.slopes).max() <= bound:
        return free
    # The triangular factor of QR has the same least squares problem in four rows.
    factor: Array = np.linalg.qr(np.hstack([x, t[:, None]]), mode="r")  # type: ignore[assignment]
    return Fitted(0.0, lsq_linear(factor[:, :4], factor[:, 4], (-bound, bound), method="bvls").x)
