"""A script that someone has put into a package."""

import sys

sys.exit(3)
