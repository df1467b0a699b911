"""Random task sets on the real loop: what the analysis of `rt_core.timing.response` accepts is never late by itself.

    python benchmarks/live_task_sets.py [--sets 100] [--first 0] [--seed 15] [--json]

The sets are those of benchmarks/task_sets.py with a base of 1 ms. Each task is a thread of the loop at its priority, on
its core, with its spin, and takes its whole cost of processor time in every cycle, minus the time of the loop and of a
wake: measured first, with one task alone. `--first` leaves out the first sets of a seed, so that pieces add up.

A lost cycle is of the set's own making where the loop says so (cause `own`), or where its place in the common period is
lost in at least half of these: costs are constant and all tasks begin together, so that the schedule comes back, and a
task that waits for its neighbours does so at the same places, while the loop can only say that its core was taken. All
other lost cycles are counted by the loop's own causes. A set is accepted as by `rigloop check`: every response ends
before the next deadline, and no core is more than 95 % full. Exit codes: 0 no accepted set was late of its own making,
and at most a fifth was refused though it never was; 1 else; 2 no FIFO priority here.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from task_sets import MOST_REFUSED, task_set

from rigloop.display.tables import Table, figures, show, words
from rt_core.host.rights import acquire_rights
from rt_core.injection.load import BusyBlock
from rt_core.loop.loop import Loop
from rt_core.plan import Task, loop_signal, plan_table
from rt_core.signals.table import RingReader, SignalTable
from rt_core.timing.response import MOST_DUTY, Load, duties, fits

BASE_NS = 1_000_000
TIMES = 8  # common periods that are looked at, after a first one: this number at least ...
LEAST_NS = 400_000_000  # ... and for so long
SYSTEMATIC = 0.5  # of them
USUAL_OVERHEAD = 0.9  # of the cycles of a task alone take no more beside their block
CAUSES = ("own", "late_wake", "stolen", "bus", "untold")


@dataclass(frozen=True)
class Ran:
    """Lost cycles of a set: of its own making, and others by the loop's cause."""

    own: int
    others: Counter[str] = field(default_factory=Counter)
    cycles: int = 0


def run(
    path: Path, loads: Sequence[Load], overhead_ns: int, until_ns: int
) -> dict[str, NDArray[np.void]]:
    """Run the tasks of a set on the loop; return their rows."""
    cores = sorted(os.sched_getaffinity(0))
    tasks = [
        Task(
            load.name,
            [BusyBlock(f"{load.name}_work", max(0, load.cost_ns - overhead_ns), of_cpu=True)],
            load.period_ns,
            priority=load.priority,
            core=None if load.core is None else cores[load.core],
            spin_ns=load.spin_ns,
        )
        for load in loads
    ]
    plan = plan_table(tasks)
    parts: dict[str, list[NDArray[np.void]]] = {task.name: [] for task in tasks}
    with SignalTable.create(path, plan) as table:
        readers = {task.name: RingReader(table, task.name) for task in tasks}
        until = time.monotonic() + 1e-9 * until_ns
        with Loop(plan, table, fifo=True) as loop:
            while time.monotonic() < until:
                loop.wait(0.2)
                for name, reader in readers.items():
                    parts[name].append(reader.drain())
        for name, reader in readers.items():
            parts[name].append(reader.drain())
            reader.close()
        table.close(unlink=True)
    return {name: np.concatenate(found) for name, found in parts.items()}


def overhead(path: Path) -> int:
    """Measure what a cycle takes beside its block, its wake among it."""
    cost_ns = BASE_NS // 5
    rows = run(path, [Load("alone", BASE_NS, cost_ns, 80, 0)], 0, 2_000_000_000)["alone"]
    took = rows["loop/alone/late_ns"] % BASE_NS + rows["loop/alone/step_ns"]
    return int(np.quantile(took, USUAL_OVERHEAD) - cost_ns)


def times_of(loads: Sequence[Load]) -> int:
    """Return the number of common periods of a set that are looked at, after a first one."""
    return max(TIMES, -(-LEAST_NS // whole_of(loads)))


def whole_of(loads: Sequence[Load]) -> int:
    """Return the time after which a schedule comes back."""
    return math.lcm(*(load.period_ns for load in loads))


def judged(rows: dict[str, NDArray[np.void]], loads: Sequence[Load]) -> Ran:
    """Tell places of the common period that are lost again and again from single losses."""
    whole, times = whole_of(loads), times_of(loads)
    own, cycles, others = 0, 0, Counter[str]()
    for load in loads:
        places = whole // load.period_ns
        at = rows[load.name]["t_ns"].astype(np.int64) // load.period_ns
        seen = rows[load.name][(at >= places) & (at < (times + 1) * places)]
        ran = np.zeros(times * places, dtype=bool)
        ran[seen["t_ns"].astype(np.int64) // load.period_ns - places] = True
        lost = ~ran.reshape(times, places)
        is_own = np.mean(lost, axis=0) >= SYSTEMATIC
        cycles += lost.size
        by_cause = {
            cause: int(np.ptp(seen[loop_signal(load.name, f"overruns_{cause}")]))
            for cause in CAUSES
            if len(seen)
        }
        own += int(np.sum(is_own)) + by_cause.pop("own", 0)
        if not np.any(is_own):
            others += Counter(by_cause)
    return Ran(own, others, cycles)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="sets of the seed that are left out")
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not acquire_rights(80, set()).fifo:
        print("this process may not have real-time priorities: `rigloop doctor`", file=sys.stderr)
        return 2
    chosen = random.Random(options.seed)
    for _ in range(options.first):
        task_set(chosen, (BASE_NS,))
    accepted = late = refused = fitting = cycles = 0
    lost = Counter[str]()
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = Path(folder) / "table"
        beside = overhead(path)
        for number in range(options.sets):
            loads = task_set(chosen, (BASE_NS,))
            until_ns = (times_of(loads) + 1) * whole_of(loads) + 100_000_000
            ran = judged(run(path, loads, beside, until_ns), loads)
            is_accepted = fits(loads, 8) and max(duties(loads).values()) <= MOST_DUTY
            accepted += is_accepted
            refused += not is_accepted
            if is_accepted and ran.own:
                told = f"set {options.first + number}: {ran.own} cycles late of its own making: {loads}"
                print(told, file=sys.stderr)
            late += is_accepted and ran.own > 0
            fitting += not is_accepted and ran.own == 0
            if is_accepted:
                lost, cycles = lost + ran.others, cycles + ran.cycles
    if options.json:
        facts = {"accepted": accepted, "late": late, "refused": refused, "fitting": fitting}
        print(json.dumps(facts | {"cycles": cycles, "lost": lost, "overhead_ns": beside}))
        return int(late > 0 or fitting > MOST_REFUSED * options.sets)
    heads = [*words(""), *figures("sets")]
    rows = [
        ["accepted", str(accepted)],
        ["accepted, and late of its own making", str(late)],
        ["refused", str(refused)],
        ["refused, and never late of its own making", str(fitting)],
    ]
    show(Table(heads, rows), Console())
    told = ", ".join(f"{n} {cause}" for cause, n in lost.items() if n) or "none"
    print(f"a cycle takes {beside / 1000:.0f} µs beside its block")
    print(f"other lost cycles of {cycles} of accepted sets, by the loop's cause: {told}")
    return int(late > 0 or fitting > MOST_REFUSED * options.sets)


if __name__ == "__main__":
    sys.exit(main())
