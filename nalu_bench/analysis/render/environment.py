"""Templates of HTML."""

import functools
from pathlib import Path

import jinja2


@functools.cache
def environment(folder: Path) -> jinja2.Environment:
    """Jinja's environment for the templates of a folder: text in HTML is escaped, and a missing name is an error."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
