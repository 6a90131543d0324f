"""Tables for LaTeX, with the packages booktabs and textcomp."""

import re

from tabulate import tabulate

from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.text import texts
from nalu_bench.analysis.table.layout import Table

COMMANDS = {
    "•": r"\textsubscript{$\bullet$}", "₊": r"\textsubscript{+}", "σ": r"$\sigma$", "×": r"$\times$", "−": "$-$",
    "²": r"\textsuperscript{2}", "±": r"$\pm$", "√": r"$\surd$", "–": "--", "λ": r"$\lambda$",
    "ε": r"$\epsilon$", "†": r"\textdagger{}", "‡": r"\textdaggerdbl{}", "§": r"\S{}", "¶": r"\P{}",
    "‖": r"$\|$", "≥": r"$\ge$", "≤": r"$\le$", "≠": r"$\ne$", "∂": r"$\partial$",
    "M\u0302": r"$\hat{\mathrm{M}}$", "W\u0302": r"$\hat{\mathrm{W}}$",
}  # fmt: skip


SPECIAL = {letter: f"\\{letter}" for letter in "&%#_{}$"} | {
    "\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
}  # fmt: skip
"""Letters that LaTeX does not print as they are."""


def latex(table: Table, footnotes: Footnotes) -> str:
    """A booktabs tabular."""
    rows = tabulate(texts(table, footnotes), table.header, tablefmt="latex_booktabs", disable_numparse=True)
    return f"{comment(table.title)}\n{_replaced(rows)}\n"


def comment(text: str) -> str:
    """A line of text as a comment; a line break in it would end the comment."""
    return "% " + re.sub(r"[\r\n]+", " ", text)


def escaped(text: str) -> str:
    """A line of text."""
    return _replaced("".join(SPECIAL.get(letter, letter) for letter in text))


def _replaced(text: str) -> str:
    for symbol, command in COMMANDS.items():
        text = text.replace(symbol, command)
    return text
