"""python -m nalu_bench.pages.site FOLDER: build the site into a new folder, as `make site` does."""

import argparse
import sys
from pathlib import Path

from nalu_bench.errors import UsageError
from nalu_bench.pages.site.build import build

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m nalu_bench.pages.site", description="build the site")
    parser.add_argument("folder", type=Path, help="a folder that is not there yet")
    try:
        build(parser.parse_args().folder)
    except UsageError as error:
        sys.exit(f"error: {error}")
