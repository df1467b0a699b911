"""One run of what wakes up periodically: Debian's cyclictest, and our loop."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from rt_core.injection.load import BusyBlock
from rt_core.lateness.cause import Cause, signal_of
from rt_core.lateness.histogram import Histogram
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import SignalTable
from timing.rounds import Lateness

PRIORITY = 80  # of both
WARM_UP_S = 0.3
END_S = 30.0
MOST_US = 100_000  # bins of cyclictest's histogram; what is later counts there


def missing_cyclictest() -> str:
    """Return how to get it, empty if it is there."""
    if shutil.which("cyclictest") is None:
        return "cyclictest is not installed: sudo apt install rt-tests"
    return ""


def cyclictest(period_us: int, seconds: float, core: int, folder: Path) -> Lateness:
    """Run cyclictest with our period, priority and core; memory locked, as ours is."""
    report = folder / "cyclictest.json"
    loops = int(seconds * 1e6 / period_us)
    command = (
        f"cyclictest -m -q -t1 -p{PRIORITY} -a{core} -i{period_us} -l{loops} -h{MOST_US} "
        f"--histfile=/dev/null --json={report}"
    )
    subprocess.run(
        command.split(), check=True, stdout=subprocess.DEVNULL, timeout=10 * seconds + 60
    )
    thread = json.loads(report.read_text())["thread"]["0"]
    late_us = np.array([int(us) for us in thread["histogram"]])
    count = np.array(list(thread["histogram"].values()))
    # it tells whole µs, rounded down
    values = np.append((late_us + 0.5), MOST_US)
    count = np.append(count, thread["cycles"] - count.sum())
    reached = np.cumsum(count) / count.sum()
    p50, p99, p99_9 = (float(values[np.searchsorted(reached, p)]) for p in (0.5, 0.99, 0.999))
    return Lateness(p50, p99, p99_9, int(count.sum()))


def task(period_us: int, core: int, spin_us: int = 0, work_us: int = 0, **more: int) -> Task:
    """Return a task with one block, which burns `work_us`; more of it by the names of `Task`."""
    name = f"t{period_us}"
    return Task(
        name,
        [BusyBlock(f"{name}_work", 1000 * work_us)],
        1000 * period_us,
        priority=more.pop("priority", PRIORITY),
        core=core,
        spin_ns=1000 * spin_us,
        **more,
    )


def run_loop(
    tasks: Sequence[Task],
    seconds: float,
    folder: Path,
    meanwhile: Callable[[SignalTable], None] = lambda table: None,
    afterwards: Callable[[SignalTable], None] = lambda table: None,
) -> list[Lateness]:
    """Run tasks as the product does, explanations included; return how late each was.

    `meanwhile` is called once the loop runs, before lateness counts; `afterwards` when it has ended. Facts: `own`,
    overruns of its own making, and `cycles`, all of them.
    """
    plan = plan_table(tasks)
    names = [task.name for task in tasks]
    own = signal_of(Cause.OWN)

    def snapshot(table: SignalTable) -> dict[str, tuple[Histogram, float]]:
        return {
            name: (table.histograms(name)["late"], table.value(f"loop/{name}/{own}"))
            for name in names
        }

    path = folder / "table"
    path.unlink(missing_ok=True)  # of a run that did not come to its end
    with SignalTable.create(path, plan) as table:
        loop = Loop(plan, table, fifo=True)
        loop.start()
        try:
            loop.wait(WARM_UP_S)
            meanwhile(table)
            before = snapshot(table)
            loop.wait(seconds)
            after = snapshot(table)
        finally:
            # a core that others have for seconds ends no benchmark
            loop.finish(END_S)
        found = []
        for name in names:
            (late, n_own), (late_before, n_own_before) = after[name], before[name]
            found.append(
                Lateness.of(
                    late - late_before,
                    own=int(n_own - n_own_before),
                    cycles=int(table.value(f"loop/{name}/cycle")),
                )
            )
        afterwards(table)
    return found
