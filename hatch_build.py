"""What a wheel carries beside the package: the committed results without curves, so that `load` works anywhere.

Of the experiments named as `whole` in pyproject.toml it carries the curves, too: those that one's own runs join.
"""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CARRIED = ("manifest.json", "table.csv", "table.md", "runs.csv", "figure.png")
MEASURED = ("curves.parquet", "predictions.parquet", "weights.parquet")
LOCAL = "local"


class CommittedResults(BuildHookInterface):
    """Adds the results to a wheel. An editable installation finds them in the checkout."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling; `version` is `standard` or `editable`."""
        if version == "editable":
            return
        root = Path(self.root)
        for path in sorted((root / "results").glob("*/*/*")):
            experiment = path.parent.relative_to(root / "results").as_posix()
            carried = (*CARRIED, *MEASURED) if experiment in self.config["whole"] else CARRIED
            if path.name in carried and path.parts[-3] != LOCAL:
                build_data["force_include"][str(path)] = f"nalu_bench/shipped/{path.relative_to(root).as_posix()}"
