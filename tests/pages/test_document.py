"""Texts in Markdown as HTML."""

from pathlib import Path

import pytest

from nalu_bench.pages import document


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a <script>alert(1)</script>", "a &lt;script&gt;alert(1)&lt;/script&gt;"),
        ("<div onclick='x'>b</div>", "&lt;div onclick='x'&gt;b&lt;/div&gt;"),
        ("[a](javascript:alert(1))", '<a href="#">a</a>'),
        ("[a](java&#115;cript:x)", '<a href="#">a</a>'),
        ("[a](https://arxiv.org/abs/1808.00508)", '<a href="https://arxiv.org/abs/1808.00508">a</a>'),
        ("[a](#b) `<i>`", '<a href="#b">a</a> <code>&lt;i&gt;</code>'),
    ],
)
def test_a_text_runs_nothing(text: str, shown: str) -> None:
    assert shown in document.page(text, "a page")


def test_the_links_of_a_part_lead_to_the_same_places() -> None:
    shown = document.part("[a](b.md#c) [d](../e.md) [f](#g)", Path("/x/y/page.md"), Path("/x/z/w"))
    assert 'href="../../y/b.md#c"' in shown
    assert 'href="../../e.md"' in shown
    assert 'href="#g"' in shown


def test_a_row_of_words_names_its_columns_for_narrow_windows_and_one_of_short_entries_needs_none() -> None:
    table = '| unit | its "*formula*" |\n|---|---|\n| a | {} |\n| b | – |\n'
    shown = document.page(table.format("a sentence of some length"), "a page")
    assert '<td data-head="unit">a</td>' in shown
    assert '<td data-head="its &quot;formula&quot;">a sentence' in shown
    assert '<td class=none data-head="its &quot;formula&quot;">–</td>' in shown  # which they leave out
    assert "data-head" not in document.page(table.format("W x"), "a page").partition("<main>")[2]
