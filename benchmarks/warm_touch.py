"""Holes in the cycle with and without the touch of its pages during the spin.

    python benchmarks/warm_touch.py [--rounds 12] [--seconds 4] [--pages 64] [--core 1] [--json FILE]

A 1 ms task with a spin of 200 µs and a block that writes one word of each of 64 locked pages a cycle. In each round
all variants run, in random order: `warm` as the product does; `cold` with Task.warm_touch off; and two tasks without a
spin, `asleep`, which touches nothing before, and `woken`, which touches the pages once it is awake. A hole is a cycle
whose time from begin to end is 50 µs or more; the block itself needs a few.

Exit code 0: warm has at most a fifth of the holes of cold. 1: it has more. 2: cold has fewer than 30 holes, so that
nothing can be said; or there is no FIFO priority here.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from timing.fifo import need_fifo
from timing.options import JsonFile

from rigloop.display.tables import Table, figures, show
from rt_core.host.facts import host_facts, steal_ticks
from rt_core.injection.delays import PageBlock
from rt_core.lateness.histogram import Histogram
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import SignalTable

LAST_CORE = max(os.sched_getaffinity(0))
HOLE_NS = 50_000
BAR = 0.2
LEAST = 30  # holes of the control
WARM_UP_S = 0.3
PERIOD_NS, SPIN_NS = 1_000_000, 200_000
# spin, touch during the spin, touch at the begin of the cycle
VARIANTS = {
    "warm": (SPIN_NS, True, False),
    "cold": (SPIN_NS, False, False),
    "asleep": (0, False, False),
    "woken": (0, False, True),
}


def run(path: Path, variant: str, pages: int, core: int, seconds: float) -> dict[str, float]:
    """Run one variant; return its holes, cycles, and the percentiles of what a cycle takes, µs."""
    spin_ns, warm, touched_first = VARIANTS[variant]
    block = PageBlock("pages", pages, touched_first=touched_first)
    task = Task("t", [block], PERIOD_NS, priority=80, core=core, spin_ns=spin_ns, warm_touch=warm)
    plan = plan_table([task])
    with SignalTable.create(path, plan) as table:
        with Loop(plan, table, fifo=True) as loop:
            loop.wait(WARM_UP_S)
            before = table.histograms("t")
            loop.wait(seconds)
            after = table.histograms("t")
        table.close(unlink=True)
    total: Histogram = after["total"] - before["total"]
    late = after["late"] - before["late"]
    return {
        "holes": int(total.counts[np.asarray(total.edges_ns[:-1]) >= HOLE_NS].sum()),
        "cycles": total.n,
        "total_p50": float(total.percentile(50)) / 1e3,
        "late_p99_9": float(late.percentile(99.9)) / 1e3,
    }


def main(
    rounds: int = 12,
    seconds: Annotated[float, typer.Option(help="of one run")] = 4.0,
    pages: Annotated[int, typer.Option(help="that a cycle writes to")] = 64,
    core: int = LAST_CORE,
    as_json: JsonFile = None,
) -> None:
    """Measure, print, judge."""
    console = Console()
    need_fifo(80, core, console)
    steal = steal_ticks() or 0
    found: list[dict[str, dict[str, float]]] = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for _ in range(rounds):
            order = list(VARIANTS)
            random.shuffle(order)
            now = {name: run(Path(folder) / "table", name, pages, core, seconds) for name in order}
            found.append(now)
    holes = Counter({name: int(sum(r[name]["holes"] for r in found)) for name in VARIANTS})
    rows = [
        [
            name,
            str(holes[name]),
            str(int(sum(r[name]["cycles"] for r in found))),
            f"{np.median([r[name]['total_p50'] for r in found]):.1f}",
            f"{np.median([r[name]['late_p99_9'] for r in found]):.1f}",
        ]
        for name in VARIANTS
    ]
    heads = figures("", "holes ≥ 50 µs", "cycles", "a cycle, p50 µs", "late p99.9, median µs")
    show(Table(heads, rows), console)
    ratio = holes["warm"] / max(1, holes["cold"])
    verdict = (
        f"too few for a verdict: {holes['cold']} in the control, {LEAST} needed"
        if holes["cold"] < LEAST
        else "holds"
        if ratio <= BAR
        else "does not hold"
    )
    console.print(
        f"warm / cold: {ratio:.3f} (bar ≤ {BAR}): [bold]{verdict}[/]; {len(found)} rounds, steal "
        f"{(steal_ticks() or 0) - steal} ticks, load {os.getloadavg()[0]:.1f}"
    )
    if as_json:
        message: dict[str, Any] = {"host": host_facts(), "rounds": found, "verdict": verdict}
        as_json.write_text(json.dumps(message, indent=1))
    raise typer.Exit({"holds": 0, "does not hold": 1}.get(verdict, 2))


if __name__ == "__main__":
    typer.run(main)
