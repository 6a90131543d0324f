"""Commands that are killed again and again: what they store in the end has the bits of one that nobody disturbed."""

import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import pytest

WAYS = ("SIGKILL", "SIGTERM", "SIGINT", "worker")
ARGUMENTS = [
    "-m", "task=ten_parameter", "task.operation=mul", "model=nau,nmu", "seeds=50", "recipe.steps=400",
    "recipe.log_every=20", "compile=false", "device.workers=2",
]  # fmt: skip
BLOCKS = 4


@contextlib.contextmanager
def training(home: Path) -> Iterator["subprocess.Popen[str]"]:
    """The command, in a process group of its own that is gone afterwards."""
    with subprocess.Popen(
        [sys.executable, "-m", "nalu_bench", "run", *ARGUMENTS],
        env=os.environ | {"NALU_BENCH_HOME": str(home)}, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a test in the background inherits deafness
    ) as process:  # fmt: skip
        try:
            yield process
        finally:
            process.kill()


def workers(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    """The processes that train for a command."""
    with contextlib.suppress(psutil.NoSuchProcess):
        children = psutil.Process(process.pid).children()
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    return []


def kill(process: "subprocess.Popen[str]", way: str, chance: random.Random, within: float) -> bool:
    """Kill the command or one of its workers at a random moment; returns whether it was still running."""
    time.sleep(chance.uniform(0, within))
    alive = workers(process)
    while way == "worker" and not alive and process.poll() is None:
        time.sleep(0.1)
        alive = workers(process)
    if process.poll() is not None:
        return False
    if way == "worker":
        with contextlib.suppress(psutil.NoSuchProcess):
            chance.choice(alive).kill()
        time.sleep(chance.uniform(0, within / 4))  # what the others make of it
    process.send_signal(signal.SIGKILL if way == "worker" else signal.Signals[way])
    return True


def stored(home: Path) -> dict[str, bytes]:
    """All files of all finished parts, without their manifests, which hold the time."""
    files = [path for path in home.glob("runs/*/*/*/parts/[0-9]*/*") if path.suffix != ".json"]
    return {str(path.relative_to(home)): path.read_bytes() for path in files}


def finish(home: Path) -> None:
    """Run the command until it ends by itself."""
    with training(home) as process:
        assert process.communicate(timeout=900)[1].count("Traceback") == 0
        assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("ways", [("SIGKILL", "worker"), pytest.param(3 * WAYS, marks=pytest.mark.thorough)])
def test_a_run_that_is_killed_at_random_moments_stores_the_bits_of_one_that_is_not(
    ways: Sequence[str], tmp_path: Path
) -> None:
    """It is killed in each of these ways."""
    chance, started = random.Random(12), time.monotonic()
    finish(tmp_path / "undisturbed")
    within = 0.7 * (time.monotonic() - started)
    expected = stored(tmp_path / "undisturbed")
    assert len({path.rpartition("/")[0] for path in expected}) == BLOCKS
    left = chance.sample(ways, len(ways))
    homes = (tmp_path / str(number) for number in itertools.count())
    while left:
        home = next(homes)
        while len(stored(home)) < len(expected) and left:
            with training(home) as process:
                way = left[-1] if kill(process, left[-1], chance, within) else None
                output = process.communicate(timeout=60 if way else 900)[1]
            check_end(way, process.returncode, output)
            del left[len(left) - (way is not None) :]
        finish(home)
        found = stored(home)
        assert found.keys() == expected.keys()
        assert [path for path in expected if found[path] != expected[path]] == []
        assert not list(home.glob("runs/*/*/*/checkpoints/*.pt"))
        assert not list(home.glob("runs/*/*/*/failures/*"))


def check_end(way: str | None, code: int, output: str) -> None:
    """No traceback; and a command that was asked to stop while it trained says so."""
    if "Traceback" in output:
        assert output.rstrip().endswith("KeyboardInterrupt")  # Python itself was still starting
        assert "nalu_bench" not in output
    elif way in ("SIGTERM", "SIGINT") and code > 0:
        assert code == 128 + signal.Signals[way]
        assert "stopped" in output
