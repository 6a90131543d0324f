"""A text in Markdown as HTML: as a page, or as a part of another one."""

import html
import re
from os.path import relpath
from pathlib import Path

import markdown

from nalu_bench.pages.rendered import rendered

TOC = {"toc": {"toc_depth": "2-2"}}
"""The contents of a page list its sections alone."""


LINK = re.compile(r'(<(?:a|img)\s(?:[^>]*?\s)?(?:href|src)=")(?![a-z]+:|#)([^"#]+)')
"""A link to a file, up to its anchor."""


TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)

ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)

CELL = re.compile(r"<td(?=[^>]*>(–</td>)?)")
"""The begin of an entry, and whether it is a dash alone."""

TAG = re.compile(r"<[^>]*>")

SHORT = 12
"""Letters of an entry behind the first of its row that needs no room to be read."""

ADDRESS = re.compile(r'((?:href|src)=")([^"]*)')
"""Where a link leads, or what a picture is."""

SCHEMES = ("http", "https", "mailto")
"""Those of addresses that run nothing."""


def page(text: str, title: str) -> str:
    """The text as a page that needs no network but for its pictures; `[TOC]` becomes the list of its sections."""
    return rendered("article.html", title=title, body=_html(text))


def part(text: str, file: Path, folder: Path) -> str:
    """A part of a file as HTML for a page in this folder, where its links lead to the same places."""

    def moved(link: re.Match[str]) -> str:
        return link[1] + Path(relpath(file.parent / link[2], folder)).as_posix()

    return LINK.sub(moved, _html(text))


def _html(text: str) -> str:
    """HTML in a text is text: whoever wrote it, it runs nothing."""
    parser = markdown.Markdown(extensions=["tables", "toc", "fenced_code"], extension_configs=TOC)
    parser.preprocessors.deregister("html_block")
    parser.inlinePatterns.deregister("html")
    return ADDRESS.sub(_address, TABLE.sub(_scrolled, parser.convert(text)))


def _scrolled(table: re.Match[str]) -> str:
    """A table that is scrolled where it is wider than the window.

    Short entries have narrow columns; of others a narrow window shows every row as a list, see `page.css`.
    """
    entries = re.findall(r"</td>\s*<td[^>]*>(.*?)(?=</td>)", table[0])
    if all(len(entry) <= SHORT for entry in entries):
        return f'<div class="scroll words short">{table[0]}</div>'
    heads = [TAG.sub("", head).replace('"', "&quot;") for head in re.findall(r"<th[^>]*>(.*?)</th>", table[0])]

    def labelled(row: re.Match[str]) -> str:
        names = iter(heads)
        return CELL.sub(lambda cell: f'{cell[0]}{" class=none" * bool(cell[1])} data-head="{next(names, "")}"', row[0])

    return f'<div class="scroll words">{ROW.sub(labelled, table[0])}</div>'


def _address(found: re.Match[str]) -> str:
    """An address without a scheme, or with one that runs nothing."""
    scheme = re.match(r"[a-z][a-z\d+.-]*(?=:)", re.sub(r"[\s\0]", "", html.unescape(found[2])).lower())
    return found[0] if scheme is None or scheme[0] in SCHEMES else f"{found[1]}#"
