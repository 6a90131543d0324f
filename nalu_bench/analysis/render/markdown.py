"""Tables for GitHub."""

import re

from tabulate import tabulate

from nalu_bench.analysis.render.footnotes import Footnotes
from nalu_bench.analysis.render.text import texts
from nalu_bench.analysis.table.layout import Table


def markdown(table: Table, footnotes: Footnotes) -> str:
    """The title, and a table below it."""
    rows = [[escaped(text) for text in row] for row in (table.header, *texts(table, footnotes))]
    drawn = tabulate(rows[1:], rows[0], tablefmt="github", disable_numparse=True)
    return f"### {escaped(table.title)}\n\n{drawn}"


def escaped(text: str) -> str:
    """A text that stays in its cell and line, and is neither HTML nor a link."""
    return plain(re.sub(r"[\r\n]+", " ", text).replace("|", "\\|"))


def plain(text: str) -> str:
    """A text that is neither HTML nor a link.

    >>> print(plain("[336, 421] ![a picture](https://example.org/x.png) <b>"))
    [336, 421] ![a picture]\\(https://example.org/x.png) &lt;b>
    """
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text).replace("](", "]\\(")
