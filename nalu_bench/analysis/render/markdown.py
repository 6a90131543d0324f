"""Tables for GitHub."""

from tabulate import tabulate

from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.text import texts
from nalu_bench.analysis.table.layout import Table


def markdown(table: Table, footnotes: Footnotes) -> str:
    """The title, and a table below it."""
    rows = tabulate(texts(table, footnotes), table.header, tablefmt="github", disable_numparse=True)
    return f"### {table.title}\n\n{rows}"
