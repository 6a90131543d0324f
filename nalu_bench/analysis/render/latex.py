"""Tables for LaTeX, with the packages booktabs and textcomp."""

from tabulate import tabulate

from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.text import texts
from nalu_bench.analysis.table.layout import Table

COMMANDS = {
    "•": r"\textsubscript{$\bullet$}", "₊": r"\textsubscript{+}", "σ": r"$\sigma$", "×": r"$\times$", "−": "$-$",
    "²": r"\textsuperscript{2}", "±": r"$\pm$", "√": r"$\surd$", "–": "--", "λ": r"$\lambda$",
    "ε": r"$\epsilon$", "†": r"\textdagger{}", "‡": r"\textdaggerdbl{}", "§": r"\S{}", "¶": r"\P{}",
    "‖": r"$\|$", "≥": r"$\ge$",
}  # fmt: skip


def latex(table: Table, footnotes: Footnotes) -> str:
    """A booktabs tabular."""
    rows = tabulate(texts(table, footnotes), table.header, tablefmt="latex_booktabs", disable_numparse=True)
    return f"% {table.title}\n{_replaced(rows)}\n"


def escaped(text: str) -> str:
    """A line of text."""
    for symbol in "&%#_":
        text = text.replace(symbol, f"\\{symbol}")
    return _replaced(text)


def _replaced(text: str) -> str:
    for symbol, command in COMMANDS.items():
        text = text.replace(symbol, command)
    return text
