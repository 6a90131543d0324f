"""Notebooks as pages, with what they give today."""

import os
import tempfile
from pathlib import Path
from typing import Any

from nalu_bench import paths
from nalu_bench.pages.rendered import rendered
from nalu_bench.pages.site import pictures

LONGEST = 1200
"""Seconds that one cell may take: some train."""


def page(path: Path) -> str:
    """A notebook, executed, as a page of HTML that needs no network. It leaves no runs and no results behind."""
    import nbformat
    from nbconvert import HTMLExporter
    from pygments.formatters import HtmlFormatter

    notebook = nbformat.read(path, as_version=4)
    _execute(notebook)
    _lighten(notebook)
    exporter = HTMLExporter(
        template_name="basic", exclude_anchor_links=True, exclude_input_prompt=True, exclude_output_prompt=True
    )
    body, _ = exporter.from_notebook_node(notebook)
    looks = {look: HtmlFormatter(style=look).get_style_defs(".highlight") for look in ("default", "github-dark")}
    return rendered("notebook.html", title=path.stem, body=body, light=looks["default"], dark=looks["github-dark"])


def _execute(notebook: Any) -> None:
    """Execute it in the checkout, so that paths are short."""
    from nbclient import NotebookClient

    quiet = ["--IPKernelApp.log_level=ERROR"]
    where = {"metadata": {"path": str(paths.CHECKOUT)}}
    with tempfile.TemporaryDirectory() as scratch:
        client = NotebookClient(notebook, timeout=LONGEST, resources=where, extra_arguments=quiet)
        client.execute(env=os.environ | {"TMPDIR": scratch})


def _lighten(notebook: Any) -> None:
    """Leave out progress bars and warnings, and make pictures small."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            for output in cell.outputs:
                if picture := output.get("data", {}).get("image/png"):
                    output.data["image/png"] = pictures.light_text(picture)
