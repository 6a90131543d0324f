"""The pages of the API, by pdoc: `run`, `load`, what they return, its report, units and tasks."""

import re
import warnings
from collections.abc import Collection, Mapping
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
    texts = {page.resolve(): page.read_text(encoding="utf-8") for page in folder.rglob("*.html")}
    anchors = {page: set(re.findall(r'\sid="([^"]+)"', text)) for page, text in texts.items()}
    for page, text in texts.items():
        page.write_text(_without_dead_links(text, page, anchors), encoding="utf-8")


def _without_dead_links(text: str, page: Path, anchors: Mapping[Path, Collection[str]]) -> str:
    """A page without links to members of a base class that no page lists, such as `NAU.forward`."""

    def link(found: re.Match[str]) -> str:
        target = (page.parent / found[1]).resolve() if found[1] else page
        return found[0] if found[2] in anchors.get(target, [found[2]]) else found[3]

    return re.sub(r'<a href="([^"#:]*)#([^"]+)">(.*?)</a>', link, text)
