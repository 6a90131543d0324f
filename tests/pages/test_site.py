"""The site needs nothing else: every link leads somewhere in it, and nothing is loaded from outside."""

import importlib.util
import io
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from PIL import Image, ImageChops, ImageStat

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.pages.site import build, mirror, notebooks, pictures
from nalu_bench.verify.folder import targets

pytestmark = pytest.mark.pictures

NEEDED = [name for name in ("nbconvert", "pdoc") if importlib.util.find_spec(name) is None]
needs_tools = pytest.mark.skipif(bool(NEEDED), reason=f"not installed: {', '.join(NEEDED)}; make site installs them")

ROOM_OF_NOTEBOOKS = 3_000_000
"""Bytes for what they give when they are executed, about twice as many as today; here they are not."""


class Parts(HTMLParser):
    """The elements of a page, with the anchors in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(text)
        self.anchors = {each["id"] for _, each in self.found if "id" in each}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attributes}))

    def values(self, *names: str) -> Iterator[str]:
        yield from (each[name] for _, each in self.found for name in names if name in each)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, but for what the notebooks give: a test of their own executes them."""
    folder = tmp_path_factory.mktemp("built") / "site"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(notebooks, "_execute", lambda _: None)
        build.build(folder)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Parts]:
    return {path: Parts(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


@pytest.mark.slow
@pytest.mark.timeout(900)
@needs_tools
def test_every_link_leads_somewhere_in_the_site(site: Path, pages: dict[Path, Parts]) -> None:
    dead = []
    for page, parts in pages.items():
        for link in parts.values("href", "src"):
            name, _, anchor = link.partition("#")
            target = (page.parent / unquote(name)).resolve() if name else page
            if not link.startswith(("https:", "http:", "data:")):
                there = target.is_file() and site in target.parents
                if not there or (anchor and target in pages and unquote(anchor) not in pages[target].anchors):
                    dead.append(f"{page.relative_to(site)} -> {link}")
    assert not dead


@pytest.mark.slow
@pytest.mark.timeout(900)
@needs_tools
def test_nothing_is_loaded_from_outside_and_no_page_runs_a_script(site: Path, pages: dict[Path, Parts]) -> None:
    for page, parts in pages.items():
        assert not {tag for tag, _ in parts.found} & {"script", "link", "iframe", "object", "embed"}, page
        assert not [value for value in parts.values("src", "srcset", "poster") if re.match(r"(?:https?:)?//", value)]
        assert not re.search(r"@import|url\(\s*['\"]?(?:https?:)?//", page.read_text(encoding="utf-8")), page


@pytest.mark.slow
@pytest.mark.timeout(900)
@needs_tools
def test_the_site_has_every_experiment_notebook_and_the_api_in_20_mb(site: Path) -> None:
    experiments = list(targets([], paths.shipped_results_dir()))
    for name in experiments:
        assert (site / "results" / name / "report.html").is_file()
        assert (site / "results" / name / "table.html").is_file()
        assert (site / "experiments" / f"{name}.html").is_file()
    chapters = [path.stem for path in paths.notebooks_dir().glob("*.ipynb")]
    assert {path.stem for path in (site / "notebooks").iterdir()} == {*chapters, "README"}
    api = (site / "api/nalu_bench.html").read_text(encoding="utf-8")
    assert all(f'id="{name}"' in api for name in ("run", "load"))
    assert 'id="Report.' in (site / "api/nalu_bench/analysis/report.html").read_text(encoding="utf-8")
    assert 'id="NAU"' in (site / "api/nalu_bench/units.html").read_text(encoding="utf-8")
    assert (site / "api/nalu_bench/tasks/arithmetic.html").is_file()
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) + ROOM_OF_NOTEBOOKS < build.LARGEST


@pytest.mark.slow
@pytest.mark.timeout(900)
@needs_tools
def test_the_site_does_not_tell_where_it_was_made(site: Path) -> None:
    places = [str(paths.CHECKOUT).encode(), str(Path.home()).encode()]
    assert not [path for path in site.rglob("*.html") for place in places if place in path.read_bytes()]


@pytest.mark.slow
@needs_tools
def test_a_notebook_is_executed_and_shows_no_progress(tmp_path: Path) -> None:
    import nbformat

    code = "import os, sys; print('in', os.getcwd()); print('100 %', file=sys.stderr); 6 * 7"
    made: Any = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    path = tmp_path / "mine.ipynb"
    path.write_text(nbformat.writes(made), encoding="utf-8")
    text = notebooks.page(path)
    assert f"in {paths.CHECKOUT}" in text
    assert "<pre>42</pre>" in text
    assert "100 %" not in re.sub("<[^>]*>", "", text.partition('class="output')[2])


@pytest.fixture
def no_chapters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without navigation, which would bring along the whole site."""
    monkeypatch.setattr(mirror, "rendered", lambda *_, **__: "")


@pytest.mark.usefixtures("no_chapters")
def test_links_suit_the_site_and_what_they_lead_to_comes_along(tmp_path: Path) -> None:
    links = ["../conf/launch/README.md#slurm", "../conf/launch", "../conf/budget", "index.html", "https://arxiv.org"]
    text = "".join(f'<a class="link" href="{link}">a</a>' for link in links) + '<img src="claims.png">'
    mirror.write({mirror.INDEX: text, "results/mine.html": text}, tmp_path)
    moved = ["conf/launch/README.html#slurm", "conf/launch/README.html", "conf/budget/index.html", "index.html"]
    for page, up, beside in (("index.html", "", "results/"), ("results/mine.html", "../", "")):
        found = list(Parts((tmp_path / page).read_text(encoding="utf-8")).values("href", "src"))
        assert found == [*(up + link for link in moved), "https://arxiv.org", f"{beside}claims.png"]
    assert "<h1" in (tmp_path / "conf/launch/README.html").read_text(encoding="utf-8")
    assert (tmp_path / "conf/launch/launchers.yaml").read_bytes() == (
        paths.conf_dir() / "launch/launchers.yaml"
    ).read_bytes()
    assert 'href="paper.yaml"' in (tmp_path / "conf/budget/index.html").read_text(encoding="utf-8")


def test_a_picture_keeps_its_size_and_its_colours_in_fewer_bytes() -> None:
    file = paths.CHECKOUT / "results/madsen2020/figure2/figure.png"
    light = pictures.light(file.read_bytes())
    assert len(light) < file.stat().st_size / 2
    with Image.open(file) as before, Image.open(io.BytesIO(light)) as after:
        assert before.size == after.size
        assert ImageStat.Stat(ImageChops.difference(before.convert("RGB"), after.convert("RGB"))).mean < [1, 1, 1]


@pytest.mark.usefixtures("no_chapters")
def test_a_link_to_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"README\.md links to nothing\.csv, which is not there"):
        mirror.write({"README.md": '<body><a href="nothing.csv">a</a></body>'}, tmp_path)


def test_a_folder_that_is_there_is_not_written_to(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must not be there yet"):
        build.build(tmp_path)
    assert not list(tmp_path.iterdir())
