"""The pages of the API, by pdoc: `run`, `load`, what they return, its report, units and tasks."""

import re
import warnings
from pathlib import Path

from nalu_bench.pages.rendered import FOLDER

MODULES = ("nalu_bench.analysis.loaded", "nalu_bench.analysis.report", "nalu_bench.units", "nalu_bench.tasks")
"""What has pages beside the package itself."""


def write(folder: Path) -> None:
    """Write the pages into a folder; they need no network and run no script."""
    import pdoc

    pdoc.render.configure(
        docformat="google",
        include_undocumented=False,
        search=False,
        show_source=False,
        template_directory=FOLDER / "pdoc",
    )
    with warnings.catch_warnings():  # names that are imported for annotations alone stay as they are written
        warnings.filterwarnings("ignore", "Error parsing type annotation")
        pdoc.pdoc("nalu_bench", "!nalu_bench[.]", *MODULES, output_directory=folder)
    for page in folder.rglob("*.html"):
        page.write_text(_without_dead_links(page.read_text(encoding="utf-8")), encoding="utf-8")


def _without_dead_links(text: str) -> str:
    """A page without links to members of a base class that it does not list, such as `NAU.forward`."""
    anchors = set(re.findall(r'\sid="([^"]+)"', text))
    return re.sub(r'<a href="#([^"]+)">(.*?)</a>', lambda link: link[0] if link[1] in anchors else link[2], text)
