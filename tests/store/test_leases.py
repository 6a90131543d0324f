"""Leases: one owner a block, whatever files, clocks and processes do."""

import heapq
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from nalu_bench.store import leases
from nalu_bench.store.leases import BEAT, PATIENCE, Lease, LeaseLostError, Leases, System, Watch, started_at

PATH = Path("leases/0-24.json")


def read(path: Path) -> Lease:
    found = Lease.parsed(path.read_text())
    assert found is not None
    return found


class Clock(System):
    """The system with a clock of the test's own."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_one_of_two_gets_a_lease_until_it_is_released(tmp_path: Path) -> None:
    first, second = Leases(), Leases()
    owned = first.take(tmp_path / PATH, 100)
    assert owned is not None
    assert second.take(tmp_path / PATH, 100) is None
    assert first.take(tmp_path / PATH, 100) is None
    first.release(owned)
    assert not (tmp_path / PATH).exists()
    assert second.take(tmp_path / PATH, 100) is not None


def test_a_lease_says_where_its_block_trains_and_how_far_it_is(tmp_path: Path) -> None:
    system = Clock()
    owner = Leases(system)
    owned = owner.take(tmp_path / PATH, 1000)
    assert owned is not None
    for system.now, step in ((10.0, 100), (20.0, 400)):
        owned.reached(step)
    owner.beat()
    found = read(tmp_path / PATH)
    assert (found.process, found.step, found.steps, found.rate, found.beats) == (os.getpid(), 400, 1000, 30.0, 1)


def test_the_leases_of_a_with_beat_and_end_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "BEAT", 0.01)
    with Leases() as owner:
        assert owner.take(tmp_path / PATH, 100) is not None
        while read(tmp_path / PATH).beats < 3:
            time.sleep(0.01)
    assert list((tmp_path / PATH).parent.iterdir()) == []


def test_the_lease_of_a_process_that_died_is_free_at_once(tmp_path: Path) -> None:
    code = "import os, sys; from pathlib import Path; from nalu_bench.store.leases import Leases\n"
    code += "Leases().take(Path(sys.argv[1]), 100); os._exit(1)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / PATH)], check=False)
    assert read(tmp_path / PATH).process != os.getpid()
    assert Leases().take(tmp_path / PATH, 100) is not None
    assert read(tmp_path / PATH).process == os.getpid()


def test_a_lease_of_another_machine_or_of_a_living_process_is_not(tmp_path: Path) -> None:
    owner = Leases()
    owned = owner.take(tmp_path / PATH, 100)
    assert owned is not None
    assert not System().dead(owned.lease)
    assert System().dead(replace(owned.lease, started=owned.lease.started - 3600))  # the number of an older process
    assert not System().dead(replace(owned.lease, started=0.0, machine="another"))
    with subprocess.Popen([sys.executable, "-c", "pass"]) as zombie:
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        assert System().dead(replace(owned.lease, process=zombie.pid, started=owner_started(zombie.pid)))


def owner_started(process: int) -> float:
    import psutil

    return started_at(psutil.Process(process))


def test_a_clock_that_is_set_makes_no_owner_dead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import psutil

    owned = Leases().take(tmp_path / PATH, 100)
    assert owned is not None
    created = psutil.Process().create_time()
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: created + 3600)
    assert not System().dead(owned.lease)


@pytest.mark.parametrize("damage", [{"step": -1}, {"step": 10**30}, {"steps": 2**70}, {"rate": -1.0}, {"rate": 1e400}])
def test_a_lease_with_absurd_numbers_is_a_damaged_one(tmp_path: Path, damage: dict[str, Any]) -> None:
    owned = Leases().take(tmp_path / PATH, 100)
    assert owned is not None
    assert Lease.parsed(owned.lease.text()) == owned.lease
    assert Lease.parsed(json.dumps(asdict(owned.lease) | damage)) is None


def test_a_pipe_in_the_place_of_a_lease_is_a_damaged_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "lease.json")
    assert System().read(tmp_path / "lease.json") == ""
    assert Lease.parsed("") is None


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A lease of another machine."""
    owned = Leases().take(tmp_path / PATH, 100)
    assert owned is not None
    (tmp_path / PATH).write_text(replace(owned.lease, machine="another").text())
    return tmp_path / PATH


@pytest.mark.parametrize("content", ["a lease", "", "{", "[]", '{"owner": 1}'])
def test_a_lease_is_free_after_many_looks_at_the_same_text(foreign: Path, content: str) -> None:
    if content != "a lease":  # its owner died while it created the file
        foreign.write_text(content)
    system = Clock()
    watch = Watch(system)
    for look in range(PATIENCE):
        system.now = look * BEAT
        assert not watch.free(foreign)
        assert not watch.free(foreign), "another look at once does not count"
    system.now = PATIENCE * BEAT
    assert watch.free(foreign)
    assert Leases().take(foreign, 100) is not None


def test_a_long_sleep_of_the_one_who_looks_is_one_look(foreign: Path) -> None:
    system = Clock()
    watch = Watch(system)
    for system.now in (0.0, 1e6, 1e6 + 1):
        assert not watch.free(foreign)


def test_a_lease_in_which_the_owner_counts_is_never_free(foreign: Path) -> None:
    system = Clock()
    watch, lease = Watch(system), read(foreign)
    for look in range(10 * PATIENCE):
        system.now = look * BEAT
        foreign.write_text(replace(lease, beats=look // 5).text())
        assert not watch.free(foreign)


def test_an_owner_that_slept_finds_that_another_has_taken_over(tmp_path: Path) -> None:
    slept, other = Leases(), Leases()
    owned = slept.take(tmp_path / PATH, 100)
    assert owned is not None
    (tmp_path / PATH).unlink()
    taken = other.take(tmp_path / PATH, 100)
    assert taken is not None
    owned.reached(10)
    slept.beat()
    with pytest.raises(LeaseLostError):
        owned.reached(20)
    slept.release(owned)
    assert read(tmp_path / PATH) == taken.lease, "it is not the sleeper's to change or to remove"
    other.beat()
    taken.reached(20)


def test_an_owner_writes_into_its_own_file_even_if_it_is_moved_away(tmp_path: Path) -> None:
    """The moment between an owner's look at its lease and its writing."""

    class Between(System):
        def read(self, path: Path) -> str | None:
            text = super().read(path)
            if path.name == PATH.name:
                path.rename(path.with_name("aside"))
                path.write_text("the lease of another")
            return text

    system = Between()
    owner = Leases(system)
    assert owner.take(tmp_path / PATH, 100) is not None
    owner.beat()
    assert (tmp_path / PATH).read_text() == "the lease of another"


def test_a_lease_that_was_moved_away_by_mistake_is_made_again(tmp_path: Path) -> None:
    """A process that takes over an older lease may rename that of one who was faster."""
    owner = Leases()
    owned = owner.take(tmp_path / PATH, 100)
    assert owned is not None
    assert not leases._moved_away(System(), tmp_path / PATH, "the text of the lease that was there before")
    assert list((tmp_path / PATH).parent.iterdir()) == []
    owner.beat()
    owned.reached(10)
    assert Leases().take(tmp_path / PATH, 100) is None
    owner.beat()
    assert read(tmp_path / PATH).beats == 2


def test_a_lease_that_cannot_be_written_is_not_left_behind(tmp_path: Path) -> None:
    class Full(System):
        def write(self, file: int, text: str) -> None:
            raise OSError("no space left on device")

    with pytest.raises(OSError, match="no space left"):
        Leases(Full()).take(tmp_path / PATH, 100)
    assert list((tmp_path / PATH).parent.iterdir()) == []
    owner = Leases()
    owner.take(tmp_path / PATH, 100)
    owner.system.__class__ = Full
    with pytest.warns(UserWarning, match=r"0-24.json cannot be renewed \(no space left on device\)"):
        owner.beat()


def test_a_shorter_text_leaves_no_rest_of_a_longer_one(tmp_path: Path) -> None:
    owner = Leases()
    owned = owner.take(tmp_path / PATH, 100)
    assert owned is not None
    for step in (10**9, 1):
        owned.lease = replace(owned.lease, step=step)
        owner.beat()
        assert json.loads((tmp_path / PATH).read_text())["step"] == step


@pytest.mark.parametrize(("content", "expected"), [(None, False), ("nothing", False), ("a file", True)])
def test_a_folder_is_there_if_it_holds_anything(tmp_path: Path, content: str | None, expected: bool) -> None:
    folder = tmp_path / "parts" / "0-24"
    if content is not None:
        folder.mkdir(parents=True)
    if content == "a file":
        (folder / "runs.parquet").touch()
    assert System().there(folder) == expected
    assert folder.exists() == expected


class Server:
    """Files that several machines share: every change with its time and its author."""

    def __init__(self) -> None:
        self.now = 0.0
        self.names: dict[Path, list[tuple[float, str, int | None]]] = {}
        self.texts: list[list[tuple[float, str, str]]] = []
        self.parts: dict[Path, float] = {}


class Machine(System):
    """A machine that sees what others change only when its memory of the server is refreshed, and has a wrong clock.

    Args:
        server: the files.
        name: of the machine.
        memory: seconds between two refreshments.
        chance: draws the clock's offset and rate, and the moment of the refreshments.
    """

    def __init__(self, server: Server, name: str, memory: float, chance: random.Random) -> None:
        self.server, self.name, self.memory = server, name, memory
        self.offset, self.speed = chance.uniform(-1e6, 1e6), chance.uniform(0.9, 1.1)
        self.phase = chance.uniform(0, memory)

    def create(self, path: Path, text: str) -> int | None:
        if self._now(path) is not None:
            return None
        self.server.texts.append([])
        file = len(self.server.texts) - 1
        self._name(path, file)
        self.write(file, text)
        return file

    def write(self, file: int, text: str) -> None:
        self.server.texts[file].append((self.server.now, self.name, text))

    def close(self, file: int) -> None:
        pass

    def read(self, path: Path) -> str | None:
        file = next((file for when, who, file in self._seen(self.server.names.get(path, []))), None)
        return None if file is None else next((text for *_, text in self._seen(self.server.texts[file])), "")

    def rename(self, path: Path, to: Path) -> bool:
        file = self._now(path)
        if file is not None:
            self._name(path, None)
            self._name(to, file)
        return file is not None

    def remove(self, path: Path) -> None:
        self._name(path, None)

    def there(self, folder: Path) -> bool:
        return folder in self.server.parts

    def monotonic(self) -> float:
        return self.offset + self.speed * self.server.now

    def dead(self, lease: Lease) -> bool:
        return False

    def sees(self, part: Path) -> bool:
        return part in self.server.parts and self.server.parts[part] <= self._refreshed()

    def _refreshed(self) -> float:
        return self.server.now - (self.server.now + self.phase) % self.memory if self.memory else self.server.now

    def _seen(self, changes: list) -> Iterator:  # type: ignore[type-arg]
        return (one for one in reversed(changes) if one[1] == self.name or one[0] <= self._refreshed())

    def _now(self, path: Path) -> int | None:
        return self.server.names[path][-1][2] if path in self.server.names else None

    def _name(self, path: Path, file: int | None) -> None:
        self.server.names.setdefault(path, []).append((self.server.now, self.name, file))


SECONDS = 40
"""Training time of a block."""


def worker(machine: Machine, blocks: list[int], trained: list[int]) -> Iterator[float]:
    """What the runner does, with a pause for every second of it."""
    owner, watch = Leases(machine), Watch(machine)
    left = list(blocks)
    while left:
        for block in list(left):
            lease, part = Path(f"leases/{block}.json"), Path(f"parts/{block}")
            if machine.sees(part):
                left.remove(block)
            elif not watch.free(lease) or (owned := owner.take(lease, SECONDS)) is None:
                continue
            elif machine.there(part):
                owner.release(owned)
                left.remove(block)
            else:
                yield from train(machine, owner, owned, part, trained)
                owner.release(owned)
        yield 1.0


def train(machine: Machine, owner: Leases, owned: leases.OwnLease, part: Path, trained: list[int]) -> Iterator[float]:
    try:
        for second in range(SECONDS):
            yield 1.0
            if second % BEAT == 0:
                owner.beat()
            owned.reached(second)
    except LeaseLostError:
        return
    trained.append(int(part.name))
    machine.server.parts.setdefault(part, machine.server.now)


@pytest.mark.parametrize("memory", [0.0, 3.0, 60.0])
@pytest.mark.parametrize("fault", ["none", "killed", "asleep"])
def test_no_block_is_lost_and_none_is_trained_twice_where_files_appear_late_and_clocks_differ(
    memory: float, fault: str
) -> None:
    for seed in range(20):
        chance, server, trained = random.Random(seed), Server(), list[int]()
        blocks = list(range(6))
        queue = [
            (chance.random(), number, worker(Machine(server, f"{number}", memory, chance), blocks, trained))
            for number in range(4)
        ]
        heapq.heapify(queue)
        faults = 3 if fault != "none" else 0
        while queue:
            server.now, number, work = heapq.heappop(queue)
            pause = next(work, None)
            if faults and pause is not None and chance.random() < 0.02:
                faults -= 1
                pause = None if fault == "killed" else 10 * BEAT * PATIENCE
            if pause is not None:
                heapq.heappush(queue, (server.now + pause * chance.uniform(0.8, 1.2), number, work))
        assert set(server.parts) == {Path(f"parts/{block}") for block in blocks}
        if fault != "asleep":  # a sleeper may finish its block before its first beat; the store drops that
            assert sorted(trained) == blocks
        assert server.now < 10000
