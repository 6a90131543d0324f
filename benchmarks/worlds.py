"""Steps a second of the grid world without an agent, every core busy: ours, and gymnasium's own vector of episodes."""

import multiprocessing
import time
from collections.abc import Callable, Iterator
from typing import Any

SECONDS = 5.0
"""The time that a way is measured for."""

SINGLE, MANY = 64, 4096
"""Episodes at once: in gymnasium's vector of single environments, and in ours."""


def measure(cores: int) -> list[dict[str, Any]]:
    """Steps a second of every way, of all cores together."""
    return [{"way": way, "steps_a_second": _on_all(way, cores)} for way in WAYS]


def mean_actions() -> float:
    """Mean number of actions in an episode of an agent that has learned nothing."""
    import torch

    from nalu_bench.environments import players
    from nalu_bench.environments.grid_world import GridWorldTime

    world, generator = GridWorldTime(), torch.Generator().manual_seed(0)
    tables = {name: torch.from_numpy(table) for name, table in world.tables().items()}
    state = world.start(torch.rand(world.starting, MANY, generator=generator), tables)
    count, going = torch.zeros(MANY), torch.ones(MANY, dtype=torch.bool)
    for _ in range(world.horizon):
        state, _, over = world.step(state, players.random(torch.rand(MANY, generator=generator)))
        count, going = count + going, going & ~over
    return float(count.mean())


def _on_all(way: str, cores: int) -> float:
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(cores), context.Queue()
    workers = [context.Process(target=_work, args=(way, barrier, results), daemon=True) for _ in range(cores)]
    for worker in workers:
        worker.start()
    found = sum(results.get(timeout=600) for _ in workers)
    for worker in workers:
        worker.join()
    return float(found)


def _work(way: str, barrier: Any, results: Any) -> None:
    import torch

    torch.set_num_threads(1)
    steps = WAYS[way]()
    next(steps)  # what is compiled is compiled now
    barrier.wait(timeout=300)
    started, count = time.perf_counter(), 0
    while time.perf_counter() - started < SECONDS:
        count += next(steps)
    results.put(count / (time.perf_counter() - started))


def _gymnasium(count: int, mode: str | None) -> Iterator[int]:
    import gymnasium

    import nalu_bench.environments.gym as ours

    envs = gymnasium.make_vec(ours.NAME, num_envs=count, vectorization_mode=mode)
    envs.reset(seed=0)
    actions = envs.action_space.sample()
    while True:
        envs.step(actions)
        yield count


def _torch(compiled: bool) -> Iterator[int]:
    """Episodes that start anew together after the longest; their actions are drawn beforehand.

    Counted are the steps of episodes that go on, not those after an end.
    """
    import torch

    from nalu_bench.environments.grid_world import GridWorldTime, Squares
    from nalu_bench.training import compilation

    world = GridWorldTime()
    tables = {name: torch.from_numpy(table) for name, table in world.tables().items()}
    names = list(tables)
    state = world.start(torch.rand(world.starting, MANY), tables)
    actions = torch.randint(world.actions, (world.horizon, MANY))

    def begun(numbers: torch.Tensor, *rest: torch.Tensor) -> list[torch.Tensor]:
        return list(world.start(numbers, dict(zip(names, rest, strict=True))))

    def step(action: torch.Tensor, *state: torch.Tensor) -> list[torch.Tensor]:
        after, reward, over = world.step(Squares(*state), action)
        return [*after, reward, over, *world.observe(after)]

    mode = compilation.Mode("cpu", compiled)
    going_on = round(mean_actions() * MANY)
    start, advance = compilation.graph(begun, mode), compilation.graph(step, mode)
    while True:
        state = start(torch.rand(world.starting, MANY), *tables.values())
        for action in actions:
            state = advance(action, *state)[: len(Squares._fields)]
        yield going_on


WAYS: dict[str, Callable[[], Iterator[int]]] = {
    f"gymnasium's vector of {SINGLE} single environments": lambda: _gymnasium(SINGLE, "sync"),
    f"our vector environment for gymnasium, {MANY:,} episodes": lambda: _gymnasium(MANY, None),
    f"torch, {MANY:,} episodes": lambda: _torch(False),
    f"torch, compiled, {MANY:,} episodes": lambda: _torch(True),
}
"""Name -> the steps that were made, again and again."""
