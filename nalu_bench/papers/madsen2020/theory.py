"""What the paper expects of new weights, measured over many draws of them, and of trained ones."""

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from nalu_bench.analysis.measure.measured import Measured
from nalu_bench.analysis.render import style
from nalu_bench.analysis.reports.kind import Kind, Settings
from nalu_bench.analysis.stats import medians
from nalu_bench.analysis.stats.intervals import student_mean, unsigned
from nalu_bench.analysis.stats.ranges import Span
from nalu_bench.analysis.table.claim import CLAIM, Claim, Limit
from nalu_bench.analysis.table.claims import claims_table
from nalu_bench.analysis.table.layout import Table
from nalu_bench.analysis.table.line import Line, Row
from nalu_bench.analysis.table.place import Place
from nalu_bench.errors import UsageError, unknown
from nalu_bench.plan.cell import Wanted
from nalu_bench.registry import register

if TYPE_CHECKING:
    from torch import Tensor

Samples = NDArray[np.float64]

EXAMPLES = 128
"""Of every draw, as in a batch."""

A, B = slice(0, 25), slice(13, 38)
"""The subsets of 100 inputs, Madsen & Johansen 2020, section 4.1 and their code."""


FACTORS = 4
"""Inputs of the unit whose moments are compared with the closed forms."""

ONCE = 0.01
"""How far from 1 the weight of an input may be in the whole network, which then counts it once."""

OFF = "less 1, without its sign"

QUANTITIES = {
    "gradient": ("mean of ∂L/∂M̂ in units of its usual size, without its sign", "∂L/∂M̂, relative"),
    "product": ("mean output of NAC• under W and -W, median over draws", "output of NAC•"),
    "mean": (f"mean output of the NMU divided by its closed form, {OFF}", "NMU / closed form - 1"),
    "nmu_mean": (f"mean output of the NMU divided by (1/2)^H, {OFF}", "NMU: mean / closed - 1"),
    "nmu_variance": (f"output variance of the NMU divided by its closed form, {OFF}", "NMU: variance / closed - 1"),
    "nac_mean": (f"mean output of the NAC• divided by f(1, 1), {OFF}", "NAC•: mean / closed - 1"),
    "nac_variance": (f"output variance of the NAC• divided by f(4, 1) - f(1, 2), {OFF}", "NAC•: variance / closed - 1"),
    "bias": ("distance of trained W of a NAC₊ from -1, 0 and 1, at inputs that count once", "W after training"),
}  # fmt: skip
"""Name of a claim -> what tests it, and the axis of its histogram."""

EXPECTED = dict.fromkeys(QUANTITIES, 0.0) | {"product": 1.0, "bias": 0.5}
"""Where a line stands in a histogram: the mean that the source expects, and the middle between two whole numbers."""


@dataclass
class TheorySettings(Settings):
    """See `Theory`."""

    draws: int
    limits: dict[str, Limit]


@register("theory", version=1)
class Theory(Kind):
    """What weights that were just drawn do, over many draws, and where trained ones end, beside what the paper expects.

    * gradient: the mean of ∂L/∂M̂ over the entries of a NAC₊ (100 → 2) before another (2 → 1), on a sum of two subsets
      of inputs from U[1, 2], in units of the mean |∂L/∂M̂| over all draws; without its sign;
    * product: the mean output of a NAC• (2 → 1) behind a NAC₊ (100 → 2), under W and -W, which are equally likely; its
      median over draws, because its distribution has a heavy tail;
    * mean: the mean output of an NMU (2 → 1) on inputs from U[1, 2], divided by the closed form ((E[x] + 1) / 2)², less
      1 and without its sign;
    * nmu_mean, nmu_variance: the moments of an NMU of H = 4 inputs with mean 0 and variance 1 over their closed forms,

          E[z] = (1/2)^H        Var[z] = (Var[W] + 1/4)^H (Var[x] + 1)^H - (1/4)^H

    * nac_mean, nac_variance: those of a NAC• of H = 4 inputs from U[1, 2] over their Taylor approximations,

          E[z] ≈ f(1, 1)        Var[z] ≈ f(4, 1) - f(1, 2)
          f(c, d) = (1 + c/2 Var[W] log(|E[x]| + ε)²)^(d H)

    * bias: of the cells, NAC₊s (N → 2 → 1) that were trained on a sum: the mean distance of the first W from the
      nearest of -1, 0 and 1, at the inputs that the network counts once. Their two weights need the sum 1 (or -1),
      whole or not. Weights without a preference, uniform between two whole numbers, have the mean distance 1/4.

    The others have Student's interval over draws, and `bias` over seeds. Source: Madsen & Johansen 2020, slides,
    analysis of issues, and appendix, moments and initialisation for multiplication; the closed form of `mean` follows
    from E[W] = 1/2. Deviations: the thresholds and the inputs are ours, and so is the test of `bias`.

    Settings: `draws`, how many; `limits`, {claim: its limit}, of any of these.
    """

    settings = TheorySettings
    report: TheorySettings
    metrics: ClassVar[Mapping[str, Span | None]] = {f"{CLAIM}*": None}

    def check(self, cells: Sequence[Wanted]) -> None:
        if self.report.draws < 100:
            raise UsageError(f"draws of {self.experiment.name} must be at least 100, got {self.report.draws}.")
        if not self.report.limits:
            raise UsageError(f"limits of {self.experiment.name} must name a claim, and are empty.")
        for name in self.report.limits.keys() - QUANTITIES.keys():
            raise unknown(f"claim of {self.experiment.name}", name, QUANTITIES)

    def rows(self, measured: Measured) -> list[Row]:
        return [self._row(name, limit, measured) for name, limit in self.report.limits.items()]

    def _row(self, name: str, limit: Limit, measured: Measured) -> Row:
        place = Place(metric=f"{CLAIM}{name}")
        if name in self.samples:
            statistic = medians.exact_of if name == "product" else _unsigned_mean
            return Claim.estimated(QUANTITIES[name][0], partial(statistic, self.samples[name]), *limit.limit).row(place)
        apart = np.array([np.abs(W - np.rint(W)).mean() for W in _counted_once(measured)])
        if len(apart) < 2:
            return Claim.missing("no trained networks of ours").row(place)
        return Claim.estimated(QUANTITIES[name][0], partial(student_mean, apart), *limit.limit).row(
            place, [measured.runs]
        )

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        return claims_table(self.experiment.heading, lines, lambda _: "")

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """Histograms over the draws, and of trained weights; a line stands where the source expects the mean."""
        figure, axes = style.new_figure(7.4, 4.2, rows=2, columns=-(-len(self.report.limits) // 2))
        drawn = []
        for axis, name in itertools.zip_longest(axes.flat, self.report.limits):
            if name is None:
                axis.axis("off")
                continue
            values = self.samples[name] if name in self.samples else np.concatenate([[], *_counted_once(measured)])
            low, high = (float(f"{end:.3g}") for end in np.quantile(values if len(values) else [0, 1], [0.01, 0.99]))
            counts, edges = np.histogram(values, bins=40, range=(low, high))
            axis.stairs(counts, edges, fill=True, color="#0072B2")
            axis.axvline(EXPECTED[name], color="black", linewidth=0.8)
            axis.set_xlabel(QUANTITIES[name][1], fontsize=7)
            drawn.append(pd.DataFrame({"quantity": name, "low": edges[:-1], "high": edges[1:], "draws": counts}))
        for line in axes:
            line[0].set_ylabel("draws")
        return figure, pd.concat(drawn, ignore_index=True)

    @functools.cached_property
    def samples(self) -> dict[str, Samples]:
        """One number for each draw, by name; the same for every report."""
        import torch

        generator = torch.Generator().manual_seed(0)
        count = self.report.draws
        x = 1 + torch.rand(count, 100, EXAMPLES, generator=generator, dtype=torch.float64)
        first, M_hat = _nac(count, 2, 100, generator)
        second, _ = _nac(count, 1, 2, generator)
        hidden = first @ x
        loss = ((second @ hidden).squeeze(1) - x[:, A].sum(1) - x[:, B].sum(1)).square().mean(-1)
        (gradient,) = torch.autograd.grad(loss.sum(), [M_hat])
        W = _nmu_weights(count, 2, generator)
        product = (W * x[:, :2] + 1 - W).prod(1).mean(-1)
        return {
            "gradient": _array(gradient.mean((1, 2)) / gradient.abs().mean()),
            "product": _array((_nac_mul(hidden, second) + _nac_mul(hidden, -second)).mean(-1) / 2),
            "mean": _array(product / 1.25**2 - 1),
            **_nmu_moments(count, generator),
            **_nac_moments(count, generator),
        }


def _counted_once(measured: Measured) -> list[Samples]:
    """Of every network of two layers that was trained: the first weights of the inputs that it counts once."""
    found = []
    for cell, seed in measured.runs[["cell", "seed"]].itertuples(index=False) if len(measured.runs) else ():
        kept = measured.arrays(cell, seed)
        if {"layers.0.W", "layers.1.W"} <= kept.keys():
            once = np.abs(np.abs(kept["layers.1.W"] @ kept["layers.0.W"])[0] - 1) < ONCE
            found += [kept["layers.0.W"][:, once].ravel()] if once.any() else []
    return found


def _nmu_weights(count: int, inputs: int, generator: Any) -> Any:
    """Weights of new NMUs, from U[1/4, 3/4] (draws, inputs, 1)."""
    import torch

    return 0.25 + 0.5 * torch.rand(count, inputs, 1, generator=generator, dtype=torch.float64)


def _nmu_moments(count: int, generator: Any) -> dict[str, Samples]:
    """Mean and variance of new NMUs over their closed forms, less 1, on inputs with mean 0 and variance 1."""
    import torch

    W = _nmu_weights(count, FACTORS, generator)
    x = 3**0.5 * (2 * torch.rand(count, FACTORS, EXAMPLES, generator=generator, dtype=torch.float64) - 1)
    squares = (1 / 48 + 1 / 4) * (1 + 1)  # of one factor: (Var[W] + 1/4) (Var[x] + 1), W from U[1/4, 3/4]
    return _moments("nmu", (W * x + 1 - W).prod(1), 0.5**FACTORS, squares**FACTORS - 0.25**FACTORS)


def _nac_moments(count: int, generator: Any) -> dict[str, Samples]:
    """Mean and variance of new NAC•s over their Taylor approximations, less 1, on inputs from U[1, 2]."""
    import torch

    W, _ = _nac(count, 1, FACTORS, generator)
    x = 1 + torch.rand(count, FACTORS, EXAMPLES, generator=generator, dtype=torch.float64)
    of_log = float(W.detach().square().mean()) * np.log(1.5) ** 2  # Var[W] log(|E[x]| + ε)²

    def f(c: float, d: float) -> float:
        return float((1 + c / 2 * of_log) ** (d * FACTORS))

    return _moments("nac", _nac_mul(x, W), f(1, 1), f(4, 1) - f(1, 2))


def _moments(unit: str, z: "Tensor", mean: float, variance: float) -> dict[str, Samples]:
    """Mean output (S, B) of every draw, and its mean square about the mean of all, over what is expected, less 1."""
    apart = (z - z.mean()).square().mean(-1)
    return {f"{unit}_mean": _array(z.mean(-1) / mean - 1), f"{unit}_variance": _array(apart / variance - 1)}


def _nac(count: int, outputs: int, inputs: int, generator: Any) -> "tuple[Tensor, Tensor]":
    """W (S, O, I) of so many NACs with weights that were just drawn, and the parameter M̂."""
    import torch

    from nalu_bench.units import NAC, functional

    unit = NAC(inputs, outputs).double()
    initialise = unit.initialisers()
    drawn = [initialise[name](torch.empty(count, outputs, inputs, dtype=torch.float64), generator)
             for name in ("W_hat", "M_hat")]  # fmt: skip
    W_hat, M_hat = (torch.as_tensor(each).requires_grad_() for each in drawn)
    return functional.nac_weight(W_hat, M_hat), M_hat


def _nac_mul(x: "Tensor", W: "Tensor") -> "Tensor":
    """A NAC• of every draw on its inputs (S, I, B) -> (S, B)."""
    from nalu_bench.units import functional

    return functional.log_space_product(x, W).squeeze(1)


def _array(values: "Tensor") -> Samples:
    return np.asarray(values.detach().numpy(), np.float64)


def _unsigned_mean(samples: Samples, confidence: float) -> tuple[float, float, float]:
    return unsigned(*student_mean(samples, confidence))
