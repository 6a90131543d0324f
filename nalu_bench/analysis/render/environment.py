"""The templates of the pages."""

import functools
from pathlib import Path

import jinja2

FOLDER = Path(__file__).parent / "templates"


@functools.cache
def environment() -> jinja2.Environment:
    """Jinja's environment: text in HTML is escaped, and a name that is missing is an error."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), autoescape=jinja2.select_autoescape(["html"]),
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
