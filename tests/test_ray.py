"""A cluster in small: two ray nodes on this machine's loopback address share a store, and one is killed."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pandas as pd
import psutil
import pytest

from nalu_bench import paths

CELLS = 4
CAMPAIGN = [
    "run", "-m", "task=ten_parameter", "model=nau,nmu,linear,relu", "seeds=25", "compile=false",
    "budget.steps=1500", "budget.log_every=500",
]  # fmt: skip
CONSTRAINTS = paths.CHECKOUT / "constraints-ray.txt"

Node = subprocess.Popen[bytes]

pytestmark = [pytest.mark.slow, pytest.mark.thorough, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def scratch() -> Iterator[Path]:
    """A folder with a short name: ray puts sockets into it, whose paths are limited to 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix="nalu-"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def programs(scratch: Path) -> Path:
    """The programs of an environment of its own, installed as conf/launch/README.md says."""
    subprocess.run([sys.executable, "-m", "venv", scratch / "venv"], check=True)
    pip = [scratch / "venv/bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet"]
    impatient = ["--timeout=15", "--retries=0", "--no-deps", "-d", scratch, "-c", CONSTRAINTS]
    probe = [*pip, "download", *impatient, "hydra-ray-launcher"]
    reached = subprocess.run(probe, capture_output=True, text=True, check=False)
    if reached.returncode:
        pytest.skip(f"pip reaches no index: {reached.stderr.strip().splitlines()[-1]}")
    subprocess.run([*pip, "install", "--no-compile", "-c", CONSTRAINTS, f"{paths.CHECKOUT}[ray]"], check=True)
    return scratch / "venv/bin"


@pytest.fixture
def environment(scratch: Path) -> dict[str, str]:
    """Variables for all processes of the cluster: its key, and a home that must stay empty."""
    (scratch / "home").mkdir(exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NALU_BENCH_CONF")}
    key = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0"}
    own = {"HOME": str(scratch / "home"), "MPLCONFIGDIR": str(scratch / "matplotlib")}  # its cache is not ray's
    return inherited | key | own | {"RAY_memory_monitor_refresh_ms": "0"}


def start(programs: Path, environment: dict[str, str], *options: str) -> Node:
    """A node with one processor."""
    command = [programs / "ray", "start", "--block", "--num-cpus=1", "--node-ip-address=127.0.0.1", *options]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)


def kill(node: Node) -> None:
    """Kill all processes of a node, as if its machine were switched off."""
    processes = [*psutil.Process(node.pid).children(recursive=True), psutil.Process(node.pid)]
    for process in processes:
        process.send_signal(signal.SIGKILL)
    node.wait()


@pytest.fixture
def cluster(programs: Path, scratch: Path, environment: dict[str, str]) -> Iterator[tuple[str, Node]]:
    """The address of a cluster of two nodes, and the second of them."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    first = ["--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={scratch / 'ray'}"]
    nodes = [start(programs, environment, *first)]
    try:
        wait(lambda: "Active:" in status(programs, environment, address), "the first node", nodes)
        nodes.append(start(programs, environment, f"--address={address}"))
        wait(lambda: "/2.0 CPU" in status(programs, environment, address), "the second node", nodes)
        yield address, nodes[1]
    finally:
        for node in nodes:
            if node.poll() is None:
                kill(node)


def status(programs: Path, environment: dict[str, str], address: str) -> str:
    """What ray says of the cluster."""
    command = [programs / "ray", "status", f"--address={address}"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout


def wait(condition: Callable[[], bool], what: str, running: Sequence[Node]) -> None:
    """Wait for a condition as long as these processes run."""
    for _ in range(2000):
        if condition():
            return
        for process in running:
            if process.poll() is not None:
                pytest.fail(f"waiting for {what}: {process.args!r} ended with {process.returncode}")
        time.sleep(0.3)
    pytest.fail(f"waited in vain for {what}")


def parts(home: Path) -> list[Path]:
    """The finished blocks of a store."""
    return sorted(home.glob("runs/*/*/*/parts/[0-9]*"))


def works(node: Node) -> bool:
    """Whether a node trains a cell at the moment."""
    processes = psutil.Process(node.pid).children(recursive=True)
    return any("_run_job" in " ".join(process.cmdline()) for process in processes)


def test_a_campaign_outlives_the_death_of_a_node_with_the_numbers_of_one_process(
    programs: Path, scratch: Path, environment: dict[str, str], cluster: tuple[str, Node]
) -> None:
    def command(name: str, *options: str) -> Node:
        line = [programs / "python", "-m", "nalu_bench", *CAMPAIGN, *options]
        with (scratch / f"{name}.log").open("w") as log:
            return subprocess.Popen(
                line, cwd=scratch, env=environment | {"NALU_BENCH_HOME": str(scratch / name)}, stdout=log, stderr=log
            )

    address, node = cluster
    campaign = command("cluster", "hydra/launcher=ray", f"hydra.launcher.ray.init.address={address}")
    wait(lambda: bool(parts(scratch / "cluster")) and works(node), "the middle of the campaign", [node, campaign])
    kill(node)
    done = len(parts(scratch / "cluster"))
    assert 0 < done < CELLS
    assert campaign.wait(timeout=700) == 0, (scratch / "cluster.log").read_text()
    assert command("one", "device.workers=1").wait(timeout=700) == 0, (scratch / "one.log").read_text()
    assert len(parts(scratch / "one")) == CELLS
    for here, there in zip(parts(scratch / "one"), parts(scratch / "cluster"), strict=True):
        for file in ("runs.parquet", "curves.parquet"):
            pd.testing.assert_frame_equal(pd.read_parquet(here / file), pd.read_parquet(there / file), check_exact=True)
    assert list((scratch / "home").iterdir()) == []


def test_ray_on_this_machine_alone_writes_nothing_into_the_home_folder(
    programs: Path, scratch: Path, environment: dict[str, str]
) -> None:
    own = {name: value for name, value in environment.items() if not name.startswith("RAY_AUTH")}
    small = [argument for argument in CAMPAIGN if not argument.startswith(("budget", "seeds"))]
    line = [programs / "python", "-m", "nalu_bench", *small, "budget=smoke", "hydra/launcher=ray"]
    own |= {"NALU_BENCH_HOME": str(scratch / "alone")}
    done = subprocess.run(line, cwd=scratch, env=own, capture_output=True, text=True, timeout=700, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(parts(scratch / "alone")) == CELLS
    assert list((scratch / "home").iterdir()) == []
