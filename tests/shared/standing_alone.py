"""Whether a page needs nothing beside it."""

from html.parser import HTMLParser


class Elements(HTMLParser):
    """All elements of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


def needs_nothing_else(text: str) -> bool:
    """Whether a page loads no other file and runs no script; it may link to the files beside it."""
    found = Elements(text).found
    loaded = [
        value or "" for _, each in found for name, value in each.items() if name in ("src", "xlink:href", "srcset")
    ]
    return not any(tag in ("script", "link", "iframe") for tag, _ in found) and all(
        value.startswith(("data:", "#")) for value in loaded
    )
