"""python -m nalu_bench VERB: the same as nalu-bench VERB."""

import sys

from nalu_bench.cli import main

if __name__ == "__main__":
    sys.exit(main())
