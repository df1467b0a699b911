"""The cost that the explanation of late cycles adds to a cycle: CPU time, causes and trace, on and off side by side.

    python benchmarks/instrumentation.py [--rounds 7] [--seconds 4] [--core 1]

Each round runs a loop with explanations and one without, in random order: a task of 1 ms with three
blocks that do next to nothing and a spin of `--spin` µs, and behind it on the same core, with a
lower priority and the same deadlines, a follower. The follower begins when the cycle has gone to
sleep with all that it does after its blocks, so how late it begins is the length of the whole cycle
and of one switch, seen from outside. The explanation also measures itself, and there the follower
is left out: its timer would go off at the very moment that is measured. Printed are medians over the
rounds of each round's percentiles, their differences, and the mean from the kernel's own count of
the thread's CPU time. Rounds with much steal are left out and counted.

Real time: a benchmark of it; without FIFO priorities it says so, and its tails mean little.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rt_core.host.facts import steal_ticks
from rt_core.host.rights import acquire_rights
from rt_core.injection.load import BusyBlock
from rt_core.lateness.histogram import Histogram
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import SignalTable

LAST_CORE = max(os.sched_getaffinity(0))
MS = 1_000_000
PERCENTILES = (50.0, 99.0, 99.9)
WARM_UP_S = 0.3


@dataclass(frozen=True)
class Figures:
    """Times of one run, µs."""

    mean: float
    percentiles: tuple[float, ...]
    late_p99: float
    explain: tuple[float, ...]
    steal: int


def run(path: Path, core: int, fifo: bool, explains: bool, seconds: float, spin_ns: int) -> Figures:
    """Run the task alone, and with its follower for half as long."""
    before = steal_ticks() or 0
    blocks = [BusyBlock(name, 0) for name in ("a", "b", "c")]
    measured = Task("measured", blocks, MS, priority=80, core=core, spin_ns=spin_ns)
    follower = Task("follower", [BusyBlock("d", 0)], MS, priority=70, core=core)
    mean_us, alone = once(path, [measured], fifo, explains, seconds)
    _, followed = once(path, [measured, follower], fifo, explains, seconds / 2)
    return Figures(
        mean_us,
        micros(followed["follower"]["late"]),
        float(alone["measured"]["late"].percentile(99)) / 1e3,
        micros(alone["measured"]["explain"]) if explains else (0.0,) * 3,
        (steal_ticks() or 0) - before,
    )


def once(
    path: Path, tasks: list[Task], fifo: bool, explains: bool, seconds: float
) -> tuple[float, dict[str, dict[str, Histogram]]]:
    """Run tasks; CPU time of a cycle of the first, µs, and the histograms of all."""
    plan = plan_table(tasks)
    with SignalTable.create(path, plan) as table:
        with Loop(plan, table, fifo=fifo, explains=explains) as loop:
            loop.wait(WARM_UP_S)
            early = {task.name: table.histograms(task.name) for task in tasks}
            cpu, cycles = cpu_ns(f"rt:{tasks[0].name}"), table.value(f"loop/{tasks[0].name}/cycle")
            loop.wait(seconds)
            cpu = cpu_ns(f"rt:{tasks[0].name}") - cpu
            cycles = table.value(f"loop/{tasks[0].name}/cycle") - cycles
            found = {
                name: {part: table.histograms(name)[part] - histograms[part] for part in histograms}
                for name, histograms in early.items()
            }
        table.close(unlink=True)
    return cpu / cycles / 1e3, found


def micros(histogram: Histogram) -> tuple[float, ...]:
    """Its `PERCENTILES` in µs."""
    return tuple(float(p) / 1e3 for p in histogram.percentiles(PERCENTILES))


def cpu_ns(name: str) -> int:
    """CPU time of a thread of this process by the scheduler's count."""
    for thread in Path("/proc/self/task").iterdir():
        if (thread / "comm").read_text().strip() == name[:15]:
            return int((thread / "schedstat").read_text().split()[0])
    raise LookupError(name)


def main(
    rounds: int = 7,
    seconds: float = 4.0,
    core: int = LAST_CORE,
    spin: Annotated[int, typer.Option(help="µs")] = 200,
    most_steal: Annotated[int, typer.Option(help="ticks; rounds with more are left out")] = 5,
) -> None:
    """Measure and print."""
    rights = acquire_rights(80, [core])
    print(rights.verdict)
    found: dict[bool, list[Figures]] = {True: [], False: []}
    dropped = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for _ in range(rounds):
            order = [True, False]
            random.shuffle(order)
            pair = {
                explains: run(
                    Path(folder) / "table",
                    core,
                    rights.fifo,
                    explains,
                    seconds,
                    spin * 1000,
                )
                for explains in order
            }
            if max(figures.steal for figures in pair.values()) > most_steal:
                dropped += 1
                continue
            for explains, figures in pair.items():
                found[explains].append(figures)
    print(f"{len(found[True])} rounds, {dropped} left out for steal; load {os.getloadavg()[0]:.1f}")
    if not found[True]:
        return
    print(f"{'µs':<28}{'on':>9}{'off':>9}{'on - off':>10}")
    rows = [("CPU time a cycle, mean", lambda f: f.mean)]
    rows += [
        (f"whole cycle, p{p:g}", lambda f, i=i: f.percentiles[i]) for i, p in enumerate(PERCENTILES)
    ]
    rows += [("begun late, p99", lambda f: f.late_p99)]
    rows += [
        (f"explanation itself, p{p:g}", lambda f, i=i: f.explain[i])
        for i, p in enumerate(PERCENTILES)
    ]
    for label, of in rows:
        on, off = ([of(figures) for figures in found[explains]] for explains in (True, False))
        paired = statistics.median(a - b for a, b in zip(on, off, strict=True))
        print(f"{label:<28}{statistics.median(on):9.2f}{statistics.median(off):9.2f}{paired:10.2f}")


if __name__ == "__main__":
    typer.run(main)
