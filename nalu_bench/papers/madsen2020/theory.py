"""Expectations at initialisation, measured over many draws of the weights; nothing is trained."""

import functools
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
from nalu_bench.errors import UsageError
from nalu_bench.plan.cell import Wanted
from nalu_bench.registry import register

if TYPE_CHECKING:
    from torch import Tensor

Samples = NDArray[np.float64]

EXAMPLES = 128
"""Of every draw, as in a batch."""

A, B = slice(0, 25), slice(13, 38)
"""The subsets of 100 inputs, Madsen & Johansen 2020, section 4.1 and their code."""


AXES = {"gradient": "∂L/∂M̂, relative", "product": "output of NAC•", "mean": "NMU over its closed form, less 1"}


@dataclass
class TheorySettings(Settings):
    """See `Theory`."""

    draws: int
    gradient: Limit
    product: Limit
    mean: Limit


@register("theory", version=1)
class Theory(Kind):
    """What weights that were just drawn do, over many draws, beside what the paper expects.

    * gradient: the mean of ∂L/∂M̂ over the entries of a NAC₊ (100 → 2) before another (2 → 1), on a sum of two subsets
      of inputs from U[1, 2], in units of the mean |∂L/∂M̂| over all draws; without its sign;
    * product: the mean output of a NAC• (2 → 1) behind a NAC₊ (100 → 2), under W and -W, which are equally likely; its
      median over draws, because its variance is infinite;
    * mean: the mean output of an NMU (2 → 1) on inputs from U[1, 2], divided by the closed form ((E[x] + 1) / 2)², less
      1 and without its sign.

    The others have Student's interval over draws. Source: Madsen & Johansen 2020, slides, analysis of issues; the
    closed form follows from E[W] = 1/2. Deviations: the thresholds are ours.

    Settings: `draws`, how many; `gradient`, `product` and `mean`, the limit of each.
    """

    settings = TheorySettings
    report: TheorySettings
    metrics: ClassVar[Mapping[str, Span | None]] = {f"{CLAIM}*": None}

    def check(self, cells: Sequence[Wanted]) -> None:
        if self.report.draws < 100:
            raise UsageError(f"draws of {self.experiment.name} must be at least 100, got {self.report.draws}.")

    def rows(self, measured: Measured) -> list[Row]:
        told = {
            "gradient": ("mean of ∂L/∂M̂ over its usual size, without its sign", _unsigned_mean),
            "product": ("mean output of NAC• under W and -W, median over draws", medians.exact_of),
            "mean": ("mean output of the NMU over its closed form, less 1, without its sign", _unsigned_mean),
        }
        rows = []
        for name, (quantity, statistic) in told.items():
            claim = Claim.estimated(quantity, partial(statistic, self.samples[name]), *getattr(self.report, name).limit)
            rows.append(claim.row(Place(metric=f"{CLAIM}{name}")))
        return rows

    def tables(self, lines: Sequence[Line]) -> list[Table]:
        return claims_table(self.experiment.heading, lines, lambda _: "")

    def figure(self, measured: Measured, lines: Sequence[Line]) -> "tuple[style.Figure, pd.DataFrame]":
        """Histograms over the draws; a line stands where the paper expects the mean."""
        expected = {"gradient": 0.0, "product": 1.0, "mean": 0.0}
        figure, axes = style.new_figure(7.4, 2.2, columns=len(expected))
        drawn = []
        for axis, (name, at) in zip(axes[0], expected.items(), strict=True):
            low, high = (float(f"{end:.3g}") for end in np.quantile(self.samples[name], [0.01, 0.99]))
            counts, edges = np.histogram(self.samples[name], bins=40, range=(low, high))
            axis.stairs(counts, edges, fill=True, color="#0072B2")
            axis.axvline(at, color="black", linewidth=0.8)
            axis.set_xlabel(AXES[name])
            drawn.append(pd.DataFrame({"quantity": name, "low": edges[:-1], "high": edges[1:], "draws": counts}))
        axes[0][0].set_ylabel("draws")
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
        nmu = 0.25 + 0.5 * torch.rand(count, 2, generator=generator, dtype=torch.float64)
        product = (nmu[..., None] * x[:, :2] + 1 - nmu[..., None]).prod(1).mean(-1)
        return {
            "gradient": _array(gradient.mean((1, 2)) / gradient.abs().mean()),
            "product": _array((_nac_mul(hidden, second) + _nac_mul(hidden, -second)).mean(-1) / 2),
            "mean": _array(product / 1.25**2 - 1),
        }


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
