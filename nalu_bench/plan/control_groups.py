"""The control groups of this process, in which a container, a batch system or systemd limits it; on Linux alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc/self/cgroup")
ROOT = Path("/sys/fs/cgroup")


@dataclass(frozen=True)
class Group:
    """A control group: the version of its interface, 1 or 2, and its folder."""

    version: int
    folder: Path

    def read(self, name: str) -> str:
        """The content of one of its files, empty where there is none to read."""
        try:
            return (self.folder / name).read_text(encoding="utf-8").strip()
        except OSError:
            return ""


def of_process(controller: str, proc: Path, root: Path) -> Iterator[Group]:
    """The groups in which a controller, such as `memory`, limits this process: its own, and all above it.

    Args:
        controller: its name.
        proc: the process's list of groups, lines of `number:controllers:path`.
        root: where the groups are mounted.
    """
    try:
        lines = proc.read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            yield from (Group(2, folder) for folder in _upwards(root, path))
        elif controller in controllers.split(","):
            yield from (Group(1, folder) for folder in _upwards(root / controller, path))


def _upwards(root: Path, path: str) -> Iterator[Path]:
    """The folder of a group and those of its parents; in a container, only `root` may exist."""
    group = root / path.strip("/")
    return (folder for folder in (group, *group.parents) if folder.is_relative_to(root))
