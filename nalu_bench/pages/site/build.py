"""The order in which the site is made."""

from collections.abc import Iterator
from pathlib import Path

from nalu_bench import paths
from nalu_bench.analysis.measure.manifest import PAGE
from nalu_bench.errors import UsageError
from nalu_bench.pages import article
from nalu_bench.pages import build as pages
from nalu_bench.pages.page import page
from nalu_bench.pages.site import api, mirror, notebooks

ROOM = 8_000_000
"""Bytes of the pages of all experiments, in equal shares: beyond its share a page has no runs, curves and weights."""

LARGEST = 20_000_000
"""Bytes of the whole site."""

RUNS = '<a href="runs.csv">runs.csv</a>'
"""The link of a page to its runs, which stay in the repository: the page lists all of them, and the files are 11 MB."""


def build(folder: Path) -> None:
    """Build the site into a new folder, and tell of every page.

    Raises:
        UsageError if the folder is there already, if there is no checkout, if a page links to what is not there, or if
        the site has more than `LARGEST` bytes.
    """
    if not paths.in_checkout():
        raise UsageError("the site is that of a checkout, and this is an installation; clone the repository.")
    if folder.exists():
        raise UsageError(f"the folder of the site must not be there yet, got {folder}; remove it or name another one.")
    api.write(folder / mirror.API)
    mirror.write(dict(_told(_pages())), folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > LARGEST:
        raise UsageError(f"the site must have at most {LARGEST / 1e6:.0f} MB, got {size / 1e6:.1f}; lower ROOM.")
    print(f"{size / 1e6:.1f} MB in {paths.short(folder.absolute())}; look at {folder / mirror.HOME}")


def _pages() -> Iterator[tuple[str, str]]:
    """The pages that must be made, with the names that they have, or would have, in the repository."""
    results = paths.shipped_results_dir()
    experiments = list(pages.reported(results))
    for one in experiments:
        text = page(one, ROOM // len(experiments)).replace(RUNS, "<code>runs.csv</code> of the repository")
        yield f"results/{one.experiment.name}/{PAGE}", text
    yield mirror.INDEX, (results / pages.INDEX).read_text(encoding="utf-8")
    text = (results / pages.ARTICLE).read_text(encoding="utf-8")
    yield f"results/{pages.ARTICLE}", article.page(text)
    for notebook in sorted(paths.notebooks_dir().glob("*.ipynb")):
        yield f"notebooks/{notebook.name}", notebooks.page(notebook)


def _told(made: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name, text in made:
        print(f"{name:44} {len(text.encode()) / 1000:7,.0f} kB", flush=True)
        yield name, text
