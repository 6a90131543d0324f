"""The templates of the pages."""

from pathlib import Path
from typing import Any

from nalu_bench.analysis.render.environment import environment

FOLDER = Path(__file__).parent / "templates"


def rendered(template: str, /, **values: Any) -> str:
    """A template of this folder with these values."""
    return environment(FOLDER).get_template(template).render(**values)
