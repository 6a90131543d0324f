"""A text in Markdown as HTML: as a page, or as a part of another one."""

import re
from os.path import relpath
from pathlib import Path

import markdown

from nalu_bench.pages.rendered import rendered

TOC = {"toc": {"toc_depth": "2-2"}}
"""The contents of a page list its sections alone."""


LINK = re.compile(r'(<(?:a|img)\s(?:[^>]*?\s)?(?:href|src)=")(?![a-z]+:|#)([^"#]+)')
"""A link to a file, up to its anchor."""


def page(text: str, title: str) -> str:
    """The text as a page that needs no network but for its pictures; `[TOC]` becomes the list of its sections."""
    return rendered("article.html", title=title, body=_html(text))


def part(text: str, file: Path, folder: Path) -> str:
    """A part of a file as HTML for a page in this folder, where its links lead to the same places."""

    def moved(link: re.Match[str]) -> str:
        return link[1] + Path(relpath(file.parent / link[2], folder)).as_posix()

    return LINK.sub(moved, _html(text))


def _html(text: str) -> str:
    body: str = markdown.markdown(text, extensions=["tables", "toc", "fenced_code"], extension_configs=TOC)
    return body.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
