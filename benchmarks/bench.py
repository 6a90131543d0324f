"""`make bench`: time ways to train side by side in one run, and write bench.json, bench.md and bench.png."""

import json
from dataclasses import asdict
from pathlib import Path
from platform import machine as machine_name
from platform import python_version
from statistics import median
from typing import Any

import torch
import worlds
from measure import AGENTS, COMPILED, CORES, EAGER, IMAGES, OWN, PLAIN, TOGETHER, WORKLOADS, Workload, measure
from tabulate import tabulate
from tqdm import tqdm

from nalu_bench.analysis.render import style

FOLDER = Path(__file__).parent
SEEDS = {PLAIN: CORES, EAGER: 25 * CORES}
"""Numbers of seeds of the programs that are timed at one number only: enough to keep every core busy."""

GROWTH = (1, 10, 25, 50, 100, 1000)
"""Numbers of seeds at which the compiled engine is timed."""

TABLED = 100
"""The one of these that stands in the table."""

TIMES = 2
"""Repetitions of each measurement; the fastest counts."""

CAMPAIGNS = {"Table 2 whole: 11 cells, 100 seeds": 1_100, "the complete set": 19_150}
"""What Madsen & Johansen trained -> its runs of `RUN` steps."""

RUN = 5_000_000

PAIRS = 7
"""Measurements of both kinds of kernels, by turns."""


def main() -> None:
    ways = [(PLAIN, SEEDS[PLAIN]), (EAGER, SEEDS[EAGER]), *((COMPILED, seeds) for seeds in GROWTH)]
    wanted = [(workload, *way) for workload in WORKLOADS for way in ways]
    wanted += [(IMAGES, program, CORES) for program in (PLAIN, EAGER)]  # a seed a core; never compiled
    wanted += [(AGENTS, program, 5 * CORES) for program in (EAGER, COMPILED)]  # a block of five seeds a core
    rows = []
    with tqdm(total=len(wanted), unit="measurement") as bar:
        for workload, program, seeds in wanted:
            bar.set_description(f"{workload.title}, {program.title}, {seeds} seeds")
            found = measure(workload, program, seeds, TIMES)
            rows.append({"workload": workload.name, "program": program.title, "seeds": seeds, **asdict(found)})
            bar.update()
    pairs = [kernels(workload) for workload in tqdm((*WORKLOADS, TOGETHER), unit="workload", desc="kernels by turns")]
    rates = worlds.measure(CORES)
    machine = {"processor": _processor(), "cores": CORES, "torch": torch.__version__, "python": python_version()}
    content = {"machine": machine, "rows": rows, "kernels": pairs, "worlds": rates}
    (FOLDER / "bench.json").write_text(json.dumps(content, indent=1) + "\n")
    text = write(content)
    print(f"\n{text}\n\nwritten to benchmarks/: bench.json, bench.md, bench.png")


def write(content: dict[str, Any]) -> str:
    """Write bench.md and bench.png from the content of bench.json. Returns the text."""
    rows, pairs = content["rows"], content["kernels"]
    parts = [table(rows, content["machine"]), kernel_table(pairs), campaign_table(pairs[-1]), image_table(rows),
             world_table(content["worlds"], rows)]  # fmt: skip
    text = "\n\n".join(parts)
    (FOLDER / "bench.md").write_text(f"<!-- made by: make bench -->\n\n{text}\n")
    figure(rows)
    return text


def table(rows: list[dict[str, Any]], machine: dict[str, Any]) -> str:
    """One line for every workload and program."""
    tabled = {(program.title, seeds) for program, seeds in (*SEEDS.items(), (COMPILED, TABLED))}
    lines = []
    for workload in WORKLOADS:
        found = [row for row in rows if row["workload"] == workload.name and (row["program"], row["seeds"]) in tabled]
        for row in found:
            per_hour = 3600e6 / (row["microseconds"] * workload.steps)
            lines.append(
                [
                    workload.title if row is found[0] else "",
                    row["program"],
                    f"{row['microseconds']:.1f}",
                    f"at most {workload.target:g}" if row["program"] == COMPILED.title else "",
                    f"{found[0]['microseconds'] / row['microseconds']:.1f}",
                    f"{per_hour:,.1f}" if per_hour < 10 else f"{per_hour:,.0f}",
                    f"{row['peak']:,.0f}",
                    f"{row['growth']:+,.0f}",
                ]
            )
    headers = [
        "workload", "program", "µs per seed-step", "target", "times the plain loop",
        "seeds an hour, full protocol", "peak MB", "MB grown",
    ]  # fmt: skip
    text = tabulate(lines, headers, tablefmt="github", disable_numparse=True)
    return f"{text}\n\n{machine['cores']} cores busy: {machine['processor']}; torch {machine['torch']}."


def kernels(workload: Workload) -> dict[str, Any]:
    """Microseconds per seed-step with either kind of kernels, measured by turns."""
    found: dict[str, Any] = {"workload": workload.title, COMPILED.kernels: [], OWN.kernels: []}
    for _ in range(PAIRS):
        for program in (COMPILED, OWN):
            found[program.kernels].append(measure(workload, program, TABLED).microseconds)
    return found


def kernel_table(pairs: list[dict[str, Any]]) -> str:
    """Medians for both kinds of kernels, and how many times faster ours are: the median and the range of all pairs."""
    lines = []
    for pair in pairs:
        before, after = pair[COMPILED.kernels], pair[OWN.kernels]
        ratios = sorted(one / other for one, other in zip(before, after, strict=True))
        times = f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        lines.append([pair["workload"], f"{median(before):.2f}", f"{median(after):.2f}", times])
    headers = ["workload, 100 seeds", "torch's kernels, µs per seed-step", "own kernels", "times faster"]
    return tabulate(lines, headers, tablefmt="github", disable_numparse=True)


def campaign_table(together: dict[str, Any]) -> str:
    """Hours of all cores for what Madsen & Johansen trained, at the rates of cells that are trained side by side."""
    lines = [
        [name, f"{runs:,}", *(f"{runs * RUN * median(together[kind]) / 3.6e9:,.1f}"
                              for kind in (COMPILED.kernels, OWN.kernels))]
        for name, runs in CAMPAIGNS.items()
    ]  # fmt: skip
    headers = ["Madsen & Johansen", "runs of 5,000,000 steps", "hours, torch's kernels", "hours, own kernels"]
    return tabulate(lines, headers, tablefmt="github", disable_numparse=True)


def image_table(rows: list[dict[str, Any]]) -> str:
    """Images a second in training, with all cores busy."""
    found = [row for row in rows if row["workload"] == IMAGES.name]
    rates = [IMAGES.images / row["microseconds"] * 1e6 for row in found]
    lines = [
        [
            "" if number else IMAGES.title,
            row["program"],
            f"{rate:,.0f}",
            f"{IMAGES.images / IMAGES.target * 1e6:,.0f}" if number else "",
            f"{rate / rates[0]:.1f}",
            f"{row['peak']:,.0f}",
        ]
        for number, (row, rate) in enumerate(zip(found, rates, strict=True))
    ]
    headers = ["workload", "program", "images a second", "target", "times the plain loop", "peak MB"]
    return tabulate(lines, headers, tablefmt="github", disable_numparse=True)


def world_table(rates: list[dict[str, Any]], rows: list[dict[str, Any]]) -> str:
    """Steps a second in the grid world, without an agent and in training, with all cores busy."""
    first, last = rates[0]["steps_a_second"], rates[-1]["way"]
    lines = [
        [
            rate["way"], f"{rate['steps_a_second']:,.0f}", "15,000,000" if rate["way"] == last else "",
            f"{rate['steps_a_second'] / first:,.1f}",
        ]
        for rate in rates
    ]  # fmt: skip
    batch = AGENTS.cell(1, 1).recipe.batch_size * worlds.mean_actions()
    for row in rows:
        if row["workload"] == AGENTS.name:
            target = "200,000" if row["program"] == COMPILED.title else ""
            rate = batch / row["microseconds"] * 1e6
            lines.append([f"training: {AGENTS.title}, {row['program']}", f"{rate:,.0f}", target, ""])
    headers = ["grid world", "steps a second", "target", "times gymnasium's"]
    return tabulate(lines, headers, tablefmt="github", disable_numparse=True)


def figure(rows: list[dict[str, Any]]) -> None:
    """Draw the time per seed-step against the number of seeds."""
    drawn, ((axes,),) = style.new_figure(5, 3.2)
    for workload, model in zip(WORKLOADS, ("nmu", "nalu", "nau"), strict=True):
        found = [row for row in rows if (row["workload"], row["program"]) == (workload.name, COMPILED.title)]
        axes.plot(
            [row["seeds"] for row in found], [row["microseconds"] for row in found],
            label=workload.title, **style.drawing(model),
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="seeds", ylabel="µs per seed-step")
    axes.set_title(f"Training, compiled, {CORES} cores, blocks of 25 seeds")
    axes.legend()
    drawn.savefig(FOLDER / "bench.png")


def _processor() -> str:
    """The processor's name, where the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return machine_name()


if __name__ == "__main__":
    main()
