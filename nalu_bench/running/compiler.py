"""The C++ compiler that TorchInductor will use."""

import functools
import os
import shutil
import subprocess
import sys

PROGRAM = "#include <cmath>\nint main() { return 0; }\n"


def command() -> str:
    """The compiler's command: $CXX, or else torch's default on this system."""
    return os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")


@functools.cache
def works() -> bool:
    """Whether the compiler is installed and compiles a line with a header."""
    path = shutil.which(command())
    if path is None:
        return False
    syntax = [path, "-fsyntax-only", "-x", "c++", "-"]
    return subprocess.run(syntax, input=PROGRAM, text=True, capture_output=True, check=False).returncode == 0
