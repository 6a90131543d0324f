"""The site mirrors the repository: what lies at a place there lies at the same place here, and so do its links.

Markdown and notebooks become pages. Whatever a page links to comes along, so that every link leads somewhere.
"""

import os
import re
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.pages import document, prose
from nalu_bench.pages.rendered import rendered
from nalu_bench.pages.site import pictures

HOME, INDEX, API = "index.html", "results/index.html", "api"
"""The first page of the site, where the repository has it, and the folder of the API."""

FENCE = re.compile(r"^(```\w+) .*", re.MULTILINE)
"""The head of a block of code that names its file, which the library does not know."""

TABLE = re.compile(r"(results/\w+/\w+/)table\.md")
"""A table in Markdown: links of documents lead to the page of its experiment instead, which suits narrow windows."""

OWN = re.compile(r"(?:results|experiments)/(\w+/\w+)(?:/|\.md$)")
"""A page of one experiment."""


def write(pages: dict[str, str], site: Path) -> None:
    """Write pages and what they link to.

    Args:
        pages: name in the repository -> HTML without navigation; the others are made of Markdown or copied.
        site: the folder of the site, with what is not in the repository.

    Raises:
        UsageError for a link to what is neither in the repository nor in the site.
    """
    missing, known = dict(pages), set(pages)
    while missing:
        name, text = missing.popitem()
        moved, linked = _moved(_navigable(text, name, pages), name, known)
        _file(site, name).write_text(moved, encoding="utf-8")
        for other in linked - known:
            known.add(other)
            if other.endswith(".md") or other.endswith("/"):
                missing[other] = _page(other)
            elif not (site / other).exists():
                _copy(other, _file(site, other), name)


def place(name: str) -> str:
    """Where the site has a file of the repository."""
    if name == INDEX:
        return HOME
    return f"{name}{HOME}" if name.endswith("/") else re.sub(r"\.(md|ipynb)$", ".html", name)


def _file(site: Path, name: str) -> Path:
    path = site / place(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _navigable(text: str, name: str, pages: dict[str, str]) -> str:
    """A page with links to the chapters of the site, and to the other pages of its experiment."""
    found = OWN.match(name)
    own = found[1] if found and any(page.startswith(f"results/{found[1]}/") for page in pages) else ""
    links = rendered("navigation.html", up="../" * name.count("/"), own=own)
    return text.replace("<body>", f"<body>\n{links}", 1)


def _moved(text: str, name: str, known: set[str]) -> tuple[str, set[str]]:
    """A page whose links suit the site, and the names of the files that it links to."""
    linked = set()

    def link(found: re.Match[str]) -> str:
        target = _target(normpath(join(dirname(name), found[2])))
        if name.endswith(".md") and TABLE.fullmatch(target) and (page := TABLE.sub(r"\1report.html", target)) in known:
            target = page
        linked.add(target)
        return found[1] + relpath(place(target), dirname(place(name)) or ".")

    return document.LINK.sub(link, text), linked


def _target(name: str) -> str:
    """What a link leads to: a file, or of a folder its README or its list, which has the name of the folder and `/`."""
    folder = paths.CHECKOUT / name
    if not folder.is_dir():
        return name
    return f"{name}/README.md" if (folder / "README.md").exists() else f"{name}/"


def _page(name: str) -> str:
    path = paths.CHECKOUT / name
    if path.is_dir():
        entries = "\n".join(f"* [{entry}]({entry})" for entry in sorted(os.listdir(path)) if entry[0] not in "._")
        return document.page(f"# {name}\n\n{entries}", name)
    text = FENCE.sub(r"\1", prose.plain(path.read_text(encoding="utf-8"))).lstrip()
    return document.page(text, text.partition("\n")[0].lstrip("# "))


def _copy(name: str, to: Path, linked_by: str) -> None:
    if not (paths.CHECKOUT / name).is_file():
        raise UsageError(f"{linked_by} links to {name}, which is not there; correct the link.")
    data = (paths.CHECKOUT / name).read_bytes()
    to.write_bytes(pictures.light(data) if name.endswith(".png") else data)
