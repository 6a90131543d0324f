"""Writing pages: one for each experiment beside its results, and an index of all of them."""

import functools
import io
from pathlib import Path
from typing import TYPE_CHECKING

from nalu_bench import paths
from nalu_bench.analysis.loaded import Loaded
from nalu_bench.analysis.measure.manifest import MANIFEST, PAGE
from nalu_bench.analysis.render import style
from nalu_bench.errors import UsageError
from nalu_bench.files import write_atomically
from nalu_bench.pages import index as all_claims
from nalu_bench.pages import prose
from nalu_bench.pages.claims import claims
from nalu_bench.pages.listing import listing
from nalu_bench.pages.overview import drawable, overview
from nalu_bench.pages.page import page
from nalu_bench.plan import experiment

if TYPE_CHECKING:
    from collections.abc import Iterator


INDEX, CLAIMS, LISTING, ARTICLE = "index.html", "claims.png", "README.md", "article.md"


DPI, COLOURS = 150, 64
"""Of the picture of all claims."""


def report(loaded: Loaded) -> Path:
    """Write the page of an experiment into its folder of results; returns the file."""
    return _write(loaded.folder / PAGE, page(loaded))


def index(results: Path) -> Path:
    """Write index and list of all experiments with results, and the picture of all claims; returns the index."""
    experiments = list(reported(results))
    if shown := drawable(claims(experiments)):
        with style.applied():
            write_atomically(results / CLAIMS, functools.partial(_draw, overview(shown)))
    _write(results / LISTING, listing(experiments, list(untrained(results))))
    written = _write(results / INDEX, all_claims.index(experiments))
    fill_prose(results)  # which reads the index
    return written


def _draw(figure: "style.Figure", path: Path) -> None:
    """Save a picture of few colours in a small file."""
    from PIL import Image

    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI)
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE).save(path, format="png", optimize=True)


def article(results: Path) -> tuple[Path, Path]:
    """Write the article as Markdown and as HTML; returns both files."""
    from nalu_bench.pages import article as document

    text = document.article(list(reported(results)))
    written = _write(results / ARTICLE, text)
    return written, _write(written.with_suffix(".html"), document.page(text))


def fill_prose(results: Path) -> None:
    """Write the present numbers into the README and the pages of the experiments, if `results` is the checkout's."""
    if prose.is_about(results):
        for page in [paths.CHECKOUT / "README.md", *paths.experiments_dir().glob("*/*.md")]:
            text = page.read_text(encoding="utf-8")
            if (new := prose.filled(text, results, page.parent.name)) != text:
                _write(page, new)


def reported(results: Path) -> "Iterator[Loaded]":
    """The known experiments that have results, in the order of their names."""
    for name in experiment.names():
        if (results / name / MANIFEST).exists():
            yield Loaded(experiment.load(name), results / name)


def untrained(results: Path) -> "Iterator[experiment.Experiment]":
    """This project's experiments that have no results."""
    for name in sorted(experiment.shipped()):
        if not (results / name / MANIFEST).exists():
            yield experiment.load(name)


def _write(path: Path, text: str) -> Path:
    try:
        write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error}; make room or set NALU_BENCH_HOME.") from None
    return path
