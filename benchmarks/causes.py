"""Injected overruns, and the causes that the loop gave them.

    python benchmarks/causes.py [--each 60] [--period 5000] [--core 1] [--quick] [--only NAME]... [--json FILE]

Runs of the live loop, each with some 60 disturbances:

own work    a block of the task takes longer: more iterations, denormal numbers, cold caches, its own page faults, or
            just slowly. Its witness counts more in the first only
bus         a bus block spins; a bus block sleeps, as one that waits for its reply
late wake   a task of higher priority takes the core while ours sleeps
stolen      it takes the core in the middle of our work; or while ours spins before its deadline; the whole process is
            stopped (SIGSTOP) and goes on later; the thread is held up at random moments so that its own CPU clock does
            not tell, as a host does that takes the core and says nothing

For a thread, losing its core to a higher task is what losing it to the host is: it cannot go on, and its CPU time
stands still. (Nobody can make a hypervisor take a core at a given moment: the untold holes pass in a signal handler of
the thread, which the CPU clock counts as its work.)

What was done to each cycle is known from the disturbance itself, not from what the loop makes of it. A disturbing block
reads the clock and the CPU time of its thread where it begins and ends. The higher task asks the kernel whether ours
sleeps when it takes its core; where that does not agree with the moments of both tasks, or where the higher task comes
late itself, others held ours up too, and the disturbance is left out and counted. Where others took half as much of a
cycle as was injected, or more, there are two causes; these are counted apart, and either of the two is right. Of stops
and holes all overruns of their runs count: nothing else outlives a period there.

Exit code 0: at least 95 % of the own delays are named own work and at most 5 % of what was stolen, at least 200 of
each; every bus and late wake is right; no overrun is without a cause. 2: no FIFO priority here, without which no core
can be taken.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from timing.fifo import need_fifo
from timing.options import JsonFile

from rigloop.display.tables import Table, figures, words
from rigloop.display.tables import show as show_table
from rt_core.host.facts import host_facts, steal_ticks
from rt_core.injection.delays import KINDS, DelayBlock, HoleBlock
from rt_core.injection.load import BusyBlock, SleepProbe
from rt_core.lateness.cause import WORDS, Cause, signal_of
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import RingReader, SignalTable

INJECTED = 2.4  # periods
LAST_CORE = max(os.sched_getaffinity(0))
EVERY = 4  # cycles from one disturbance to the next
FIRST = 40  # cycles before the first: the usual times are known by then
LEAST = 200  # of own delays, and of stolen ones
OWN_AT_LEAST, STOLEN_AT_MOST = 0.95, 0.05  # named own work
HELD_UP_NS = 100_000  # the higher task begins so late: others have the core
EVERY_HOLE = 40  # periods from one untold hole to the next, on average
STOPS = """
import os, random, signal, sys, time
pid, n, every, length = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
for _ in range(n):
    time.sleep(every * random.uniform(0.5, 1.5))
    os.kill(pid, signal.SIGSTOP)
    time.sleep(length)
    os.kill(pid, signal.SIGCONT)
"""

Rows = dict[str, NDArray[np.void]]
Meanwhile = Callable[[], None]


@dataclass(frozen=True)
class Injected:
    """One disturbed cycle. Times in ns."""

    scenario: str
    cause: Cause
    told: Cause
    injected_ns: int
    """The time that was taken, by the disturbance's own probes."""
    other_ns: int
    """The time by which other causes made the cycle end later: its core was away, or it was begun late."""

    @property
    def is_double(self) -> bool:
        """True: others took half as much as was injected, or more."""
        return 2 * self.other_ns > self.injected_ns

    @property
    def is_right(self) -> bool:
        """True: the loop reported the cause, or the other one where there are two."""
        also = (Cause.STOLEN, Cause.LATE_WAKE) if self.is_double else ()
        return self.told in (self.cause, *also)


def scenarios(core: int, period_ns: int) -> dict[str, list[Task]]:
    """Return the tasks of each run; the first one is watched, its block `hit` or the second task disturbs it."""

    def ours(*blocks: Any, spin_ns: int = 0, bus: tuple[str, ...] = ()) -> Task:
        return Task("t", blocks, period_ns, priority=70, core=core, spin_ns=spin_ns, bus=bus)

    def hit(sleeps: bool = False) -> BusyBlock:
        burn_ns = int(INJECTED * period_ns)
        return BusyBlock("hit", burn_ns, every=EVERY, first=FIRST, sleeps=sleeps)

    def hog() -> Task:
        # its period is a fifth of ours: it begins at each place of our period in turn
        block = BusyBlock("hog", int(INJECTED * period_ns), every=5 * EVERY - 1, first=5 * FIRST)
        return Task("high", [SleepProbe("ours"), block], period_ns // 5, priority=80, core=core)

    little, much = BusyBlock("work", period_ns // 50), BusyBlock("work", 7 * period_ns // 10)

    def own(kind: str) -> DelayBlock:
        return DelayBlock("hit", kind, int(INJECTED * period_ns), every=EVERY, first=FIRST)

    return {
        **{kind: [ours(own(kind), little)] for kind in KINDS},
        "bus spins": [ours(hit(), little, bus=("hit",))],
        "bus sleeps": [ours(hit(sleeps=True), little, bus=("hit",))],
        "asleep": [ours(little), hog()],
        "at work": [ours(much), hog()],
        "spinning": [ours(little, spin_ns=7 * period_ns // 10), hog()],
        "stopped": [ours(much)],
        "untold holes": [
            ours(
                HoleBlock("victim"), BusyBlock("work", period_ns // 2), spin_ns=3 * period_ns // 10
            )
        ],
    }


def run(
    path: Path, tasks: list[Task], seconds: float, meanwhile: Meanwhile | None = None
) -> tuple[Rows, dict[str, float]]:
    """Run a loop; return all cycles of its tasks, and the last word of the watched one."""
    plan = plan_table(tasks)
    probes = [b for task in tasks for b in task.blocks if isinstance(b, SleepProbe)]
    with SignalTable.create(path, plan) as table:
        readers = {task.name: RingReader(table, task.name) for task in tasks}
        parts: dict[str, list[NDArray[np.void]]] = {task.name: [] for task in tasks}
        with Loop(plan, table, fifo=True) as loop:
            for probe in probes:
                probe.watch(thread_of("t"))
            if meanwhile is not None:
                meanwhile()
            for _ in range(0 if meanwhile else int(seconds / 0.5) + 1):
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


def stops(n: int, period_ns: int) -> Meanwhile:
    """Return what stops this whole process n times, for some periods each, and waits for the last one."""

    def stop() -> None:
        time.sleep(1.5 * FIRST * period_ns * 1e-9)
        each = [str(n), str(8e-9 * period_ns), str(INJECTED * 1e-9 * period_ns)]
        subprocess.run([sys.executable, "-c", STOPS, str(os.getpid()), *each], check=True)

    return stop


def holes(n: int, period_ns: int, victim: HoleBlock) -> Meanwhile:
    """Return what holds the thread up n times, without memory of when it did last."""

    def strike() -> None:
        time.sleep(1.5 * FIRST * period_ns * 1e-9)
        thread = thread_of("t")
        for _ in range(n):
            time.sleep((INJECTED + random.expovariate(1 / EVERY_HOLE)) * period_ns * 1e-9)
            victim.strike(thread, int(INJECTED * period_ns))
        time.sleep(4 * INJECTED * period_ns * 1e-9)

    return strike


@dataclass
class Found:
    """The outcome of all runs."""

    whole: dict[str, Counter[Cause]] = field(default_factory=dict)
    """Overruns by cause, of runs in which all overruns were injected."""
    injected: list[Injected] = field(default_factory=list)
    unclear: int = 0
    others: Counter[Cause] = field(default_factory=Counter)
    """Overruns that nobody injected, by the cause they were given."""
    without_cause: int = 0


def measure(core: int, period_ns: int, each: int, folder: Path, only: list[str]) -> Found:
    """Run all scenarios."""
    found = Found()
    for name, tasks in scenarios(core, period_ns).items():
        if name not in only:
            continue
        seconds = (FIRST + each * (EVERY + 3)) * period_ns * 1e-9
        meanwhile = None
        if name == "stopped":
            meanwhile = stops(each, period_ns)
        elif name == "untold holes":
            victim = next(b for b in tasks[0].blocks if isinstance(b, HoleBlock))
            # a part falls into the sleep, and makes nothing late
            meanwhile = holes(4 * each // 3, period_ns, victim)
        rows, last = run(folder / "table", tasks, seconds, meanwhile)
        told = Counter({c: int(last[f"loop/t/{signal_of(c)}"]) for c in Cause if c})
        found.without_cause += int(last["loop/t/overruns"]) - told.total()
        if meanwhile is not None:
            found.whole[name] = told
            continue
        if len(tasks) > 1:
            now = list(robberies(tasks[0], rows))
        else:
            now = list(hits(name, tasks[0], rows["t"]))
        clear = [injected for injected in now if injected is not None]
        found.injected += clear
        found.unclear += len(now) - len(clear)
        found.others += told - Counter(injected.told for injected in clear)
    return found


def show(found: list[Injected], whole: dict[str, Counter[Cause]], console: Console) -> None:
    """Print one line a scenario, and every wrong cause with its figures."""
    rows = []
    for name in dict.fromkeys(injected.scenario for injected in found):
        of = [injected for injected in found if injected.scenario == name]
        double = [injected for injected in of if injected.is_double]
        right, both = (sum(injected.is_right for injected in some) for some in (of, double))
        rows.append([name, WORDS[of[0].cause], *map(str, (len(of), right, len(double), both))])
    for name, told in whole.items():
        right = told.total() - told[Cause.OWN]
        rows.append([name, "not own work", str(told.total()), str(right), "", ""])
    heads = figures("injected", "right", "of those, two causes", "right")
    show_table(Table([*words("what was done", "cause"), *heads], rows), console)
    for name, told in whole.items():
        console.print(f"{name}: " + ", ".join(f"{n} {WORDS[c]}" for c, n in told.items() if n))
    for wrong in [injected for injected in found if not injected.is_right][:20]:
        console.print(
            f"wrong: {wrong.scenario}: told {WORDS.get(wrong.told, 'none')}; injected "
            f"{wrong.injected_ns / 1e6:.3f} ms, others {wrong.other_ns / 1e6:.3f} ms"
        )


def main(
    each: Annotated[int, typer.Option(help="disturbances in each run")] = 60,
    period: Annotated[int, typer.Option(help="µs")] = 5000,
    core: int = LAST_CORE,
    quick: Annotated[
        bool, typer.Option("--quick", help="10 in each run: too few for a verdict")
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(help="name of a run, as in the table; repeatable")
    ] = None,
    as_json: JsonFile = None,
) -> None:
    """Measure, print, judge."""
    console = Console()
    need_fifo(80, core, console)
    # what disturbs from outside must not wait for the core that it disturbs
    os.sched_setaffinity(0, os.sched_getaffinity(0) - {core} or {core})
    before = steal_ticks() or 0
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        each = 10 if quick else each
        names = list(scenarios(core, period * 1000))
        if unknown := set(only or ()) - set(names):
            raise typer.BadParameter(
                f"--only {', '.join(sorted(unknown))}: the runs are {', '.join(names)}"
            )
        found = measure(core, period * 1000, each, Path(folder), only or names)
    show(found.injected, found.whole, console)
    told = ", ".join(f"{n} {WORDS[cause]}" for cause, n in found.others.items() if n) or "none"
    console.print(
        f"unclear, left out: {found.unclear}\n"
        f"overruns that nobody injected: {told}; without a cause: {found.without_cause}\n"
        f"steal meanwhile {(steal_ticks() or 0) - before} ticks, load {os.getloadavg()[0]:.1f}"
    )
    verdict = judged(found, console)
    if as_json:
        as_json.write_text(json.dumps(as_message(found, verdict), indent=1))
    raise typer.Exit(
        0 if verdict == "holds" or (verdict == "too few for a verdict" and quick) else 1
    )


def shares(found: Found) -> dict[str, tuple[int, int]]:
    """Return how many own delays and stolen ones were named own work, how many others are right; and of how many."""
    own = [i for i in found.injected if i.cause == Cause.OWN]
    # where the host took as much at the same time, either is right
    stolen = [i for i in found.injected if i.cause == Cause.STOLEN]
    others = [i for i in found.injected if i.cause not in (Cause.OWN, Cause.STOLEN)]
    whole = sum(found.whole.values(), Counter())
    return {
        "own": (sum(i.is_right for i in own), len(own)),
        "stolen": (
            sum(i.told == Cause.OWN for i in stolen) + whole[Cause.OWN],
            len(stolen) + whole.total(),
        ),
        "others": (sum(i.is_right for i in others), len(others)),
    }


def judged(found: Found, console: Console) -> str:
    """Print the shares, return the verdict."""
    share = shares(found)
    (own, n_own), (stolen, n_stolen), (right, n_others) = share.values()
    console.print(
        f"own delays named own work: {own} of {n_own} (bar ≥ {100 * OWN_AT_LEAST:.0f} %)\n"
        f"stolen ones named own work: {stolen} of {n_stolen} (bar ≤ {100 * STOLEN_AT_MOST:.0f} %)\n"
        f"bus and late wakes right: {right} of {n_others} (bar: all)"
    )
    good = own >= OWN_AT_LEAST * n_own and stolen <= STOLEN_AT_MOST * n_stolen
    good = good and right == n_others and not found.without_cause
    enough = min(n_own, n_stolen) >= LEAST and n_others > 0
    verdict = "does not hold" if not good else "holds" if enough else "too few for a verdict"
    console.print(f"[bold]{verdict}[/]")
    return verdict


def as_message(found: Found, verdict: str) -> dict[str, Any]:
    """Return all figures as plain data."""
    return {
        "verdict": verdict,
        "injected": len(found.injected),
        "right": sum(injected.is_right for injected in found.injected),
        "shares": shares(found),
        "whole": {
            name: {WORDS[cause]: n for cause, n in told.items()}
            for name, told in found.whole.items()
        },
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
    typer.run(main)
