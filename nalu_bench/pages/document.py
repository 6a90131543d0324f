"""A text in Markdown as a page of HTML."""

import markdown

from nalu_bench.pages.rendered import rendered

TOC = {"toc": {"toc_depth": "2-2"}}
"""The contents of a page list its sections alone."""


def page(text: str, title: str) -> str:
    """The text as a page that needs no network but for its pictures; `[TOC]` becomes the list of its sections."""
    body = markdown.markdown(text, extensions=["tables", "toc", "fenced_code"], extension_configs=TOC)
    wide = body.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    return rendered("article.html", title=title, body=wide)
