"""nalu-bench notebooks: the notebooks of this version, copied to where they may be changed."""

import argparse
import os
from pathlib import Path

from nalu_bench import paths
from nalu_bench.errors import UsageError
from nalu_bench.verbs import asked

DEFAULT = "notebooks"


def add(verbs: "asked.Verbs") -> None:
    """Add the verb."""
    parser = verbs.add_parser("notebooks", help="copy the notebooks into a folder, to open and change them")
    parser.add_argument("folder", nargs="?", default=DEFAULT, help=f"where to copy them (default: {DEFAULT})")
    parser.set_defaults(command=notebooks)


def notebooks(options: argparse.Namespace) -> int:
    """Copy every notebook and their list; a file or link that is there already is never written to."""
    if not options.folder:
        raise UsageError("the folder of notebooks must have a name, got an empty one.")
    target, shipped = Path(options.folder), sorted(paths.notebooks_dir().iterdir())
    files = [path for path in shipped if path.suffix in (".ipynb", ".md")]
    try:
        target.mkdir(parents=True, exist_ok=True)
        if there := [path.name for path in files if os.path.lexists(target / path.name)]:
            raise UsageError(
                f"{target} must not hold {', '.join(there)}; name another folder: nalu-bench notebooks FOLDER."
            )
        for path in files:
            with (target / path.name).open("xb") as copy:
                copy.write(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot copy the notebooks to {target}: {error.strerror}.") from None
    print(f"{len(files) - 1} notebooks in {target}; they need jupyterlab: pip install jupyterlab; jupyter lab {target}")
    return 0
