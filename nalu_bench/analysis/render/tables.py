"""Tables of text in Markdown and LaTeX, and the formats of their numbers."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tabulate import tabulate

_LATEX = {
    "•": r"\textsubscript{$\bullet$}", "₊": r"\textsubscript{+}", "σ": r"$\sigma$", "×": r"$\times$", "−": "$-$",
    "²": r"\textsuperscript{2}", "±": r"$\pm$", "√": r"$\surd$", "–": "--", "λ": r"$\lambda$",
    "ε": r"$\epsilon$", "†": r"\textdagger{}", "‡": r"\textdaggerdbl{}", "§": r"\S{}", "¶": r"\P{}",
    "‖": r"$\|$", "≥": r"$\ge$",
}  # fmt: skip


@dataclass(frozen=True)
class Table:
    """A heading, column names, rows of text."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """The title, and a GitHub table below it."""
        return f"### {self.title}\n\n" + tabulate(self.rows, self.header, tablefmt="github", disable_numparse=True)

    def latex(self) -> str:
        """A booktabs tabular; needs the packages booktabs and textcomp."""
        text = tabulate(self.rows, self.header, tablefmt="latex_booktabs", disable_numparse=True)
        return f"% {self.title}\n{_replaced(text)}\n"


def as_latex(text: str) -> str:
    """Escape a line of text for LaTeX."""
    for symbol in "&%#_":
        text = text.replace(symbol, f"\\{symbol}")
    return _replaced(text)


def _replaced(text: str) -> str:
    for symbol, command in _LATEX.items():
        text = text.replace(symbol, command)
    return text


Format = Callable[[float], str]


def percent(value: float) -> str:
    """0.94 as `94 %`."""
    return f"{100 * value + 0.0:.0f} %"  # adding 0.0 turns -0.0 into 0.0


def steps(value: float) -> str:
    """14000.0 as `14,000`."""
    return f"{value:,.0f}"


def scientific(value: float) -> str:
    """0.0000000261 as `2.6e-08`."""
    return f"{value:.1e}"


def three_digits(value: float) -> str:
    """1.234 as `1.23`, 0.01 as `0.0100`; 12345 as `1.2e+04`."""
    return f"{value:#.3g}".rstrip(".") if abs(value) < 1e4 else f"{value:.1e}"


def score(value: float) -> str:
    """A score in percent with one decimal; above 999 as the paper prints it."""
    return ">999" if value > 999 else f"{value:.1f}"


def interval(value: float, low: float, high: float, form: Format) -> str:
    """`94 % [88 %, 97 %]`; a dash if there is no number, no brackets if there is no interval.

    >>> interval(0.94, 0.875, 0.972, percent)
    '94 % [88 %, 97 %]'
    """
    if math.isnan(value):
        return "–"
    if math.isnan(low) or math.isnan(high):
        return form(value)
    return f"{form(value)} [{form(low)}, {form(high)}]"


def ours(line: dict[str, Any], form: Format) -> str:
    """Our number with its interval, from a row of `table.csv`."""
    return interval(line["ours"], line["ours_low"], line["ours_high"], form)


def printed(line: dict[str, Any], form: Format) -> str:
    """The printed number with its interval, from a row of `table.csv`."""
    value, low, high = (float(line[key] or "nan") for key in ("printed", "printed_low", "printed_high"))
    return interval(value, low, high, form)


def verdict(line: dict[str, Any], form: Format) -> str:
    """The verdict, from a row of `table.csv`."""
    return str(line["verdict"]) or "–"


def facts(title: str, shown: Mapping[str, str], lines: Mapping[str, dict[str, Any]]) -> Table:
    """One number a line: metric -> its name, and its row of `table.csv`."""
    return Table(title, ["", ""], [[name, ours(lines[metric], three_digits)] for metric, name in shown.items()])
