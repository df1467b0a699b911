"""Injected overruns, and the causes that the loop gave them.

    python benchmarks/causes.py [--each 60] [--period 5000] [--core 1] [--quick] [--json FILE]

Six runs of the live loop, each with some 60 disturbances of 2.4 periods:

own work    a block of the task spins
bus         a bus block spins; a bus block sleeps, as one that waits for its reply
late wake   a task of higher priority takes the core while ours sleeps
stolen      it takes the core in the middle of our work; or while ours spins before its deadline

For a thread, losing its core to a higher task is what losing it to the host is: it cannot go on, and its
CPU time stands still. (Nobody can make a hypervisor take a core at a given moment.)

What was done to each cycle is known from the disturbance itself, not from what the loop makes of it. A
disturbing block reads the clock and the CPU time of its thread where it begins and ends. The higher task
asks the kernel whether ours sleeps when it takes its core; where that does not agree with the moments of
both tasks, or where the higher task comes late itself, others held ours up too, and the disturbance is left
out and counted. Where others took half as much of a cycle as was injected, or more, there are two causes;
these are counted apart, and either of the two is right.

Exit code 0: at least 200 overruns, four causes, every one right, and no overrun without a cause. 2: no FIFO
priority here, without which no core can be taken.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from rt_core.cause import WORDS, Cause, signal_of
from rt_core.host import host_facts, steal_ticks
from rt_core.load import BusyBlock, SleepProbe
from rt_core.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.rights import acquire_rights
from rt_core.table import RingReader, SignalTable

INJECTED = 2.4  # periods
EVERY = 4  # cycles from one disturbance to the next
FIRST = 40  # cycles before the first: the usual times are known by then
LEAST = 200
HELD_UP_NS = 100_000  # the higher task begins so late: others have the core

Rows = dict[str, NDArray[np.void]]


@dataclass(frozen=True)
class Injected:
    """One disturbed cycle. Times in ns."""

    scenario: str
    cause: Cause
    told: Cause
    injected_ns: int
    """What was taken, by the disturbance's own probes."""
    other_ns: int
    """What else made the cycle end later: its core was away, or it was begun late."""

    @property
    def is_double(self) -> bool:
        """Whether others took half as much as was injected, or more."""
        return 2 * self.other_ns > self.injected_ns

    @property
    def is_right(self) -> bool:
        """Whether the loop told the cause, or the other one where there are two."""
        also = (Cause.STOLEN, Cause.LATE_WAKE) if self.is_double else ()
        return self.told in (self.cause, *also)


def scenarios(core: int, period_ns: int) -> dict[str, list[Task]]:
    """Return the tasks of each run; the first one is watched, its block `hit` or the second task disturbs it."""

    def ours(*blocks: BusyBlock, spin_ns: int = 0, bus: tuple[str, ...] = ()) -> Task:
        return Task("t", blocks, period_ns, priority=70, core=core, spin_ns=spin_ns, bus=bus)

    def hit(sleeps: bool = False) -> BusyBlock:
        burn_ns = int(INJECTED * period_ns)
        return BusyBlock("hit", burn_ns, every=EVERY, first=FIRST, sleeps=sleeps)

    def hog() -> Task:
        # its period is a fifth of ours: it begins at each place of our period in turn
        block = BusyBlock("hog", int(INJECTED * period_ns), every=5 * EVERY - 1, first=5 * FIRST)
        return Task("high", [SleepProbe("ours"), block], period_ns // 5, priority=80, core=core)

    little, much = BusyBlock("work", period_ns // 50), BusyBlock("work", 7 * period_ns // 10)
    return {
        "own work": [ours(hit(), little)],
        "bus spins": [ours(hit(), little, bus=("hit",))],
        "bus sleeps": [ours(hit(sleeps=True), little, bus=("hit",))],
        "asleep": [ours(little), hog()],
        "at work": [ours(much), hog()],
        "spinning": [ours(little, spin_ns=7 * period_ns // 10), hog()],
    }


def run(path: Path, tasks: list[Task], seconds: float) -> tuple[Rows, dict[str, float]]:
    """Run a loop; return all cycles of its tasks, and the last word of the watched one."""
    plan = plan_table(tasks)
    probes = [b for task in tasks for b in task.blocks if isinstance(b, SleepProbe)]
    with SignalTable.create(path, plan) as table:
        readers = {task.name: RingReader(table, task.name) for task in tasks}
        parts: dict[str, list[NDArray[np.void]]] = {task.name: [] for task in tasks}
        with Loop(plan, table, fifo=True) as loop:
            for probe in probes:
                probe.watch(thread_of("t"))
            for _ in range(int(seconds / 0.5) + 1):
                loop.wait(0.5)
                for name, reader in readers.items():
                    parts[name].append(reader.drain())
        for name, reader in readers.items():
            parts[name].append(reader.drain())
            reader.close()
        last = dict(zip(table.paths("t"), map(float, table.latest("t")), strict=True))
        table.close(unlink=True)
    return {name: np.concatenate(found) for name, found in parts.items()}, last


def thread_of(task: str) -> int:
    """Return the kernel's number of a task's thread."""
    for thread in Path("/proc/self/task").iterdir():
        if (thread / "comm").read_text().strip() == f"rt:{task}":
            return int(thread.name)
    raise LookupError(task)


def hits(scenario: str, task: Task, rows: NDArray[np.void]) -> Iterator[Injected]:
    """Yield the cycles that a block of the task itself disturbed; the next one tells the cause."""
    wanted, period_ns = int(INJECTED * task.period_ns), task.period_ns
    blocks = rows["loop/t/step_ns"] + rows["loop/t/bus_ns"]
    late = (
        rows["loop/t/late_ns"] % period_ns
    )  # what lies before are lost periods with a cause of their own
    due = ((rows["t_ns"] + late + blocks) // period_ns + 1) * period_ns
    for i in np.flatnonzero(rows["hit/burned_ns"][:-1] >= wanted):
        # a bus that sleeps asked for that
        took = wanted if scenario == "bus sleeps" else rows["hit/cpu_ns"][i]
        # behind the blocks there is nothing that takes a period: whatever is lost there was taken
        behind = rows["t_ns"][i + 1] - due[i]
        other = late[i] + blocks[i] - took - rows["work/burned_ns"][0] + behind
        yield Injected(
            scenario,
            Cause.BUS if task.bus else Cause.OWN,
            Cause(int(rows["loop/t/cause"][i + 1])),
            int(took),
            int(other),
        )


def robberies(task: Task, rows: Rows) -> Iterator[Injected | None]:
    """Yield the cycles whose core the higher task took; None where it is not clear what ours did just then."""
    ours, high = rows["t"], rows["high"]
    began = ours["t_ns"] + ours["loop/t/late_ns"] % task.period_ns
    ended = began + ours["loop/t/step_ns"]
    for hog in high[high["hog/burned_ns"] >= int(INJECTED * task.period_ns)]:
        at = hog["t_ns"] + hog["loop/high/late_ns"]
        i = int(np.searchsorted(began, at, side="right")) - 1
        if not 0 <= i < len(ours) - 1:
            continue
        # the first deadline after that cycle, or after the one that it outlived
        due = (ended[i] // task.period_ns + 1) * task.period_ns
        if at < ended[i]:
            state, took = "at work", hog["hog/burned_ns"]
        else:
            state = "spinning" if task.spin_ns and at > due - task.spin_ns else "asleep"
            took = at + hog["hog/burned_ns"] - due
        held_up = hog["loop/high/late_ns"] > HELD_UP_NS
        if held_up or (hog["ours/asleep"] > 0.5) != (state == "asleep"):
            yield None
            continue
        # the higher task itself may be robbed: its time grows by what the host took
        yield Injected(
            state,
            Cause.LATE_WAKE if state == "asleep" else Cause.STOLEN,
            Cause(int(ours["loop/t/cause"][i + 1])),
            int(took),
            int(hog["hog/burned_ns"] - hog["hog/cpu_ns"]),
        )


@dataclass
class Found:
    """What all runs gave."""

    injected: list[Injected] = field(default_factory=list)
    unclear: int = 0
    others: Counter[Cause] = field(default_factory=Counter)
    """Overruns that nobody injected, by the cause they were given."""
    without_cause: int = 0


def measure(core: int, period_ns: int, each: int, folder: Path) -> Found:
    """Run all scenarios."""
    found = Found()
    for name, tasks in scenarios(core, period_ns).items():
        seconds = (FIRST + each * (EVERY + 3)) * period_ns * 1e-9
        rows, last = run(folder / "table", tasks, seconds)
        if len(tasks) > 1:
            now = list(robberies(tasks[0], rows))
        else:
            now = list(hits(name, tasks[0], rows["t"]))
        clear = [injected for injected in now if injected is not None]
        found.injected += clear
        found.unclear += len(now) - len(clear)
        told = Counter({c: int(last[f"loop/t/{signal_of(c)}"]) for c in Cause if c})
        found.without_cause += int(last["loop/t/overruns"]) - told.total()
        found.others += told - Counter(injected.told for injected in clear)
    return found


def show(found: list[Injected], console: Console) -> None:
    """Print one line a scenario, and every wrong cause with its figures."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("what was done", "cause"):
        table.add_column(column)
    for column in ("injected", "right", "of those, two causes", "right"):
        table.add_column(column, justify="right")
    for name in dict.fromkeys(injected.scenario for injected in found):
        of = [injected for injected in found if injected.scenario == name]
        double = [injected for injected in of if injected.is_double]
        table.add_row(
            name,
            WORDS[of[0].cause],
            str(len(of)),
            str(sum(injected.is_right for injected in of)),
            str(len(double)),
            str(sum(injected.is_right for injected in double)),
        )
    console.print(table)
    for wrong in (injected for injected in found if not injected.is_right):
        console.print(
            f"wrong: {wrong.scenario}: told {WORDS.get(wrong.told, 'none')}; injected "
            f"{wrong.injected_ns / 1e6:.3f} ms, others {wrong.other_ns / 1e6:.3f} ms"
        )


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--each", type=int, default=60, help="disturbances in each run")
    parser.add_argument("--period", type=int, default=5000, help="µs")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument(
        "--quick", action="store_true", help="10 in each run: too few for a verdict"
    )
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    options = parser.parse_args()
    console = Console()
    rights = acquire_rights(80, [options.core])
    if not rights.fifo:
        console.print(f"no FIFO priority here, so no core can be taken: {rights.verdict}")
        return 2
    before = steal_ticks() or 0
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        each = 10 if options.quick else options.each
        found = measure(options.core, options.period * 1000, each, Path(folder))
    show(found.injected, console)
    told = ", ".join(f"{n} {WORDS[cause]}" for cause, n in found.others.items() if n) or "none"
    console.print(
        f"unclear, left out: {found.unclear}\n"
        f"overruns that nobody injected: {told}; without a cause: {found.without_cause}\n"
        f"steal meanwhile {(steal_ticks() or 0) - before} ticks, load {os.getloadavg()[0]:.1f}"
    )
    n, right = len(found.injected), sum(injected.is_right for injected in found.injected)
    enough = n >= LEAST and len({injected.cause for injected in found.injected}) == 4
    good = right == n and not found.without_cause
    verdict = "does not hold" if not good else "holds" if enough else "too few for a verdict"
    console.print(
        f"{right} of {n} right (bar: all of at least {LEAST}, of four causes): [bold]{verdict}[/]"
    )
    if options.json:
        options.json.write_text(json.dumps(as_message(found, verdict), indent=1))
    return 0 if good and (enough or options.quick) else 1


def as_message(found: Found, verdict: str) -> dict[str, Any]:
    """Return all figures as plain data."""
    return {
        "verdict": verdict,
        "injected": len(found.injected),
        "right": sum(injected.is_right for injected in found.injected),
        "double": sum(injected.is_double for injected in found.injected),
        "unclear": found.unclear,
        "not_injected": {WORDS[cause]: n for cause, n in found.others.items()},
        "without_cause": found.without_cause,
        "host": host_facts(),
        "cycles": [
            {
                "scenario": injected.scenario,
                "cause": WORDS[injected.cause],
                "told": WORDS.get(injected.told, "none"),
                "injected_ns": injected.injected_ns,
                "other_ns": injected.other_ns,
            }
            for injected in found.injected
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
