"""Time, accuracy and size of generated kernels, beside other programs that do the same work.

    python benchmarks/kernels.py [--rounds 7] [--quick] [--json FILE] [--core 1]

Every program is measured in the same run, in interleaved rounds on one pinned core; the table has
the median and the least round. `error` is the largest one against the exact motion, over ten
seconds (five for slider-crank and steering); where a program needs a smaller step than 1 ms for it,
`us/ms` says what a millisecond of motion costs. `limit` is what this machine allows, from its own
speed in the same run: the larger of operation slots times an independent multiply-add, and critical
path times a dependent one. `tail` is p99.9 over p50 of single steps, under FIFO where the system
lets us.

Peers that are not installed are skipped with a line that says how to install them:
pip install "rigloop[bench]" brings MuJoCo, Exudyn and Pinocchio.

Real time: no; a benchmark. Needs gcc (g++ for Eigen).
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from peers import (
    eigen_llt,
    exudyn_models,
    exudyn_steering,
    mujoco_models,
    mujoco_steering,
    ours,
    pinocchio_models,
)
from peers.row import Row
from peers.sizes import Size, exponent, measured_sizes
from peers.timer import TIMER, compiled, machine_ns
from peers.works import guided_rows, slider_crank, steering, swing
from rich.console import Console
from timing.options import JsonFile

from rigloop.display import tables
from rigloop.display.tables import Table, Tone

CHAINS = (1, 10, 40)


def rows(timer: ctypes.CDLL, folder: Path, console: Console) -> list[Row]:
    """Everything that this machine can run."""
    made = [steering(timer), *guided_rows(timer, folder)]

    def add(what: str, install: str, make: Callable[[], list[Row]]) -> None:
        try:
            made.extend(make())
        except ImportError:
            console.print(f"{what}: not installed, skipped ({install})", style="yellow")

    add(
        "Eigen",
        eigen_llt.INSTALL,
        lambda: [eigen_llt.row("steering_26, guided", "steering_26", swing, folder)],
    )
    made += [ours.chain(n, timer, folder) for n in CHAINS]
    made.append(slider_crank(timer, folder))
    for name, peer, sizes, steered in (
        ("MuJoCo", mujoco_models, CHAINS, [lambda: mujoco_steering.row(folder)]),
        ("Exudyn", exudyn_models, CHAINS, [exudyn_steering.row]),
        ("pinocchio", pinocchio_models, (), []),
    ):
        add(
            name,
            peer.INSTALL,
            lambda p=peer, s=sizes, more=steered: [
                *(make() for make in more), *(p.chain(n) for n in s), p.slider_crank()
            ],
        )  # fmt: skip
    order = {work: k for k, work in enumerate(dict.fromkeys(row.work for row in made))}
    return sorted(made, key=lambda row: order[row.work])


def measured(found: list[Row], timer: ctypes.CDLL, rounds: int, console: Console) -> list[dict]:
    """Each row's figures, from interleaved rounds."""
    times: list[list[float]] = [[] for _ in found]
    speeds = []
    for _ in range(rounds):
        speeds.append(machine_ns(timer))
        for row, mine in zip(found, times, strict=True):
            mine.append(row.run(row.steps) / row.steps * 1e6)
    latency, throughput = (statistics.median(s) for s in zip(*speeds, strict=True))
    console.print(
        f"multiply-add: {latency:.2f} ns dependent, {throughput:.3f} ns independent (medians)"
    )
    figures = []
    for row, mine in zip(found, times, strict=True):
        made = {
            "work": row.work,
            "who": row.who,
            "us": statistics.median(mine),
            "least_us": min(mine),
            "us_per_ms": statistics.median(mine) * row.per_ms,
            "bar_us": row.bar_us,
        }
        if row.error is not None:
            made |= {"error": row.error(), "unit": row.unit}
        if row.singles is not None:
            single = row.singles(20_000)
            made["tail"] = float(np.percentile(single, 99.9) / np.percentile(single, 50))
            # path is counted in cycles of a machine whose multiply-add takes four
            limit = max(row.slots * throughput, row.path_cycles / 4.0 * latency) * 1e-3
            made |= {"slots": row.slots, "path_cycles": row.path_cycles, "limit_us": limit}
        figures.append(made)
    return figures


def table(figures: list[dict]) -> Table:
    heads = ("us", "least", "us/ms", "bar", "vs", "error", "tail", "slots", "path", "limit", "x")
    columns = [
        *tables.words("work", "program", whole=True),
        *tables.figures(*heads, whole=True),
    ]
    rows: list[tables.Row] = []
    best = {}
    for f in figures:
        best.setdefault(f["work"], f["us_per_ms"])  # a kernel of ours stands first

    def number(value: float | None, form: str) -> str:
        return "" if value is None else format(value, form)

    before = None
    for f in figures:
        limit = f.get("limit_us")
        error = f"{f['error']:.1e} {f['unit']}" if "error" in f else ""
        bar = f["bar_us"]
        tone = Tone.STRONG if f["who"].startswith("rigloop") else Tone.PLAIN
        cells = [
            f["work"] if f["work"] != before else "", f["who"],
            f"{f['us']:.3g}", f"{f['least_us']:.3g}", f"{f['us_per_ms']:.3g}",
            number(bar, ".3g"), f"{f['us_per_ms'] / best[f['work']]:.3g}", error,
            number(f.get("tail"), ".2f"), number(f.get("slots"), "d"),
            number(f.get("path_cycles"), "d"), number(limit, ".3f"),
            number(f["us"] / limit if limit else None, ".2f"),
        ]  # fmt: skip
        rows.append(tables.Row(cells, tone))
        before = f["work"]
    title = "one step of 1 ms; of slider-crank 0.125 ms, peers 0.1 ms, pinocchio 1 ms"
    return Table(columns, rows, title)


def size_table(found: list[Size]) -> Table:
    rows = [
        [
            str(s.n), str(s.coordinates), f"{s.us:.3g}", f"{s.us * 1e3 / s.coordinates:.1f}",
            str(s.slots), f"{s.build_s:.1f}", str(s.text_kb),
        ]
        for s in found
    ]  # fmt: skip
    heads = ("N", "coordinates", "us a step", "ns a coordinate", "slots", "build s", "text kB")
    return Table(tables.figures(*heads), rows, "N four-bar of any size")


def builds(console: Console) -> dict[str, float]:
    """Seconds of a cold and of a warm build of the steering kernel, in processes of their own."""
    found = {}
    script = (
        "import time; b = time.perf_counter(); from codegen.kernels.build import build_kernel;"
        "build_kernel('steering_26'); print(time.perf_counter() - b)"
    )
    with tempfile.TemporaryDirectory() as cache:
        for name in ("cold", "warm"):
            done = subprocess.run(
                [sys.executable, "-c", script], capture_output=True, text=True, check=True,
                env=os.environ | {"XDG_CACHE_HOME": cache}, timeout=300,
            )  # fmt: skip
            found[name] = float(done.stdout)
    console.print(
        f"generate, compile and verify steering_26: cold {found['cold']:.2f} s (bar 6), "
        f"warm {found['warm']:.3f} s (bar 0.1, with imports)"
    )
    return found


def pinned(core: int | None, console: Console) -> None:
    """One core, FIFO if we may; say how busy the machine is."""
    cores = sorted(os.sched_getaffinity(0))
    chosen = core if core is not None else cores[-1]
    os.sched_setaffinity(0, {chosen})
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        kind = "FIFO"
    except OSError:
        kind = "ordinary scheduling, FIFO is not allowed here"
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    console.print(
        f"{platform.machine()}, {len(cores)} cores, load {load}; on core {chosen}, {kind}"
    )
    if os.getloadavg()[0] > 0.5 * len(cores):
        console.print("the machine is busy: compare ratios and least values", style="yellow")


def main(
    rounds: int = 7,
    quick: Annotated[
        bool, typer.Option("--quick", help="fewer rounds, N up to 100, no builds")
    ] = False,
    as_json: JsonFile = None,
    core: Annotated[int | None, typer.Option(help="which one; default: the last")] = None,
) -> None:
    console = Console(width=None if sys.stdout.isatty() else 150)
    made: dict = {"builds": {} if quick else builds(console)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        timer = compiled(folder, "timer.c", TIMER)
        found = rows(timer, folder, console)
        sizes = (10, 40, 100) if quick else (10, 40, 100, 200, 500, 1000)
        stepped = measured_sizes(sizes, timer, folder)
        pinned(core, console)
        figures = measured(found, timer, 3 if quick else rounds, console)
        tables.show(table(figures), console)
        grown = stepped(3 if quick else rounds)
        tables.show(size_table(grown), console)
        slope = exponent(grown)
        console.print(
            f"cost exponent from N = {sizes[0]} to {sizes[-1]}: {slope:.3f} (bar 1.0 +- 0.1)"
        )
    made |= {"rows": figures, "sizes": [vars(s) for s in grown], "exponent": slope}
    face = {f["who"]: f["least_us"] for f in figures if f["work"] == "steering_26, guided"}
    if ours.ALONE in face:
        ratio = face["rigloop"] / face[ours.ALONE]
        console.print(
            f"Cython kernel over the same C compiled alone: {ratio:.3f} (bar 1.03, least)"
        )
        made["face"] = ratio
    if as_json:
        as_json.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    typer.run(main)
