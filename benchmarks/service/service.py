"""A service beside none: lateness with clients that read, round trips of commands, and hours of service in minutes.

    python benchmarks/service/service.py [--quick] [--only lateness|trips|soak|restarts]... [--json]

lateness    one rig runs; in pairs of windows, five clients have 200 of its signals pushed 100 times a second, or they
            and the service stand still (SIGSTOP), which takes nothing at all. The ratio of the p99 of lateness of each
            pair, its median with a 95 % interval; lateness below 0.1 µs counts as 0.1 µs, and pairs from which the host
            took least are kept, as in lateness.py. 45 s where the host takes nothing, three times as long at most
trips       a client sends commands to the service of a rig that runs: status, a read of one signal, and a change of a
            live value, which the supervisor publishes for the next cycle, and which is written into all journals; and
            the cycles that began after a change without it. 30 s
soak        clients connect, ask, and leave or vanish; one changes a live value; the recorder is killed and followed by
            another one. Memory and descriptors of service, supervisor and loop, shared memory, the rows of the record,
            the journal of the changes. A minute or two
restarts    the service is killed while its rig runs, and another one started, eight times: the loop has ended at rest,
            no row and no change is lost, nothing is left behind, and the new service is idle. A minute

Needs FIFO priorities for `lateness`. Progress goes to stderr. Exit code 0: every bar holds; 1: one does not.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from serving.changes import first_cycles
from serving.figures import show_figures
from serving.restarts import restarts
from serving.served import Served, Tell, home, served
from serving.soak import soak

sys.path.append(str(Path(__file__).parents[1]))

from timing.rounds import FLOOR_US, Lateness, interleaved, median_interval

from rigloop import open_run
from rigloop.live.supervise import MOST_RECORDERS
from rigloop.protocol import requests as asked
from rigloop.protocol.client import ServiceClient
from rt_core.lateness.histogram import Histogram
from rt_core.signals.table import SignalTable

RIG = "pedals_and_wheel"
CHANGED, CHANGED_TASK, CHANGED_NS = "live_bench", "fast", 1_000_000  # has live values
CLIENTS, SIGNALS, RATE_HZ = 5, 200, 100.0
SETTLE_S = 0.2
WINDOW_S = 0.5
PARTS = ("lateness", "trips", "soak", "restarts")
BARS = {
    "lateness_ratio": 1.1,
    "trip_status_p99_ms": 2.0,
    "trip_read_p99_ms": 2.0,
    "trip_change_p99_ms": 2.0,
    "cycles_without": 0.0,
    "soak_service_memory_kb": 2048.0,
    "soak_supervisor_memory_kb": 2048.0,
    "soak_cycle_memory_kb": 0.0,
    "soak_descriptors": 0.0,
    "soak_shared_memory": 0.0,
    "soak_lost_rows": 0.0,
    "soak_lost_changes": 0.0,
    "restart_lost_rows": 0.0,
    "restart_lost_changes": 0.0,
    "restart_armed": 0.0,
    "restart_left_behind": 0.0,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a trial of the command")
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("--pairs", type=int, default=30, help="of windows, for lateness")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--reader", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reader:
        read_for_ever(options.reader)
    began, quick, found = time.monotonic(), options.quick, {}

    def tell(text: str) -> None:
        sys.stderr.write(f"{time.monotonic() - began:4.0f} s  {text}\n")

    parts = {
        "lateness": (RIG, partial(lateness, pairs=6 if quick else options.pairs)),
        "trips": (CHANGED, partial(trips, n=300 if quick else 3000)),
        "soak": (
            CHANGED,
            partial(soak, connections=500, changes=50, restarts=1)
            if quick
            else partial(soak, connections=10_000, changes=1000, restarts=MOST_RECORDERS),
        ),
    }
    chosen = options.only or PARTS
    for name in [one for one in parts if one in chosen]:
        rig, part = parts[name]
        with home() as folder, served(rig, folder, tell) as service:
            found |= part(service, tell=tell)
    if "restarts" in chosen:
        with home() as folder:
            found |= restarts(CHANGED, folder, 1 if quick else 8, tell)
    return show_figures(found, BARS, as_json=options.json)


def lateness(service: Served, pairs: int, tell: Tell) -> dict[str, Any]:
    """Measure pairs of windows in random order."""
    table = SignalTable.attach(service.status().table)
    tasks = list(open_run(service.status().folder).tasks)
    command = [sys.executable, __file__, "--reader", service.rig]
    readers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(CLIENTS)]
    try:
        for reader in readers:
            assert reader.stdout is not None
            reader.stdout.readline()

        def window(reads: bool) -> Lateness:
            seen = _window(service, readers, table, tasks, reads=reads)
            each = {task: Lateness.of(found) for task, found in seen.items()}
            return Lateness.of(seen[tasks[0]], **each)

        variants = {"with": partial(window, True), "without": partial(window, False)}
        done = interleaved(variants, pairs, tell)
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()
        table.close()
    found: dict[str, Any] = {"lateness_pairs": done.n, "lateness_left_out": done.dropped}
    found["lateness_stolen_ticks"] = done.stolen
    worst = 0.0
    for task in tasks:
        ours, alone = (
            [max(FLOOR_US, one.p99) for one in done.facts(variant, task)] for variant in variants
        )
        ratios = [ours[i] / alone[i] for i in range(done.n)]
        low, median, high = median_interval(ratios)
        worst = max(worst, median)
        found |= {f"ratio_{task}": median, f"ratio_{task}_low": low, f"ratio_{task}_high": high}
        found[f"p99_{task}_with_us"] = statistics.median(ours)
        found[f"p99_{task}_without_us"] = statistics.median(alone)
    return found | {"lateness_ratio": worst}


def _window(
    service: Served,
    readers: list[subprocess.Popen[bytes]],
    table: SignalTable,
    tasks: list[str],
    *,
    reads: bool,
) -> dict[str, Histogram]:
    for one in (*readers, service.process):
        one.send_signal(signal.SIGCONT if reads else signal.SIGSTOP)
    time.sleep(SETTLE_S)
    before = {task: table.histograms(task)["late"] for task in tasks}
    time.sleep(WINDOW_S)
    found = {task: table.histograms(task)["late"] - before[task] for task in tasks}
    service.process.send_signal(signal.SIGCONT)
    return found


def read_for_ever(name: str) -> None:
    """Subscribe and take in values, in a process of its own."""
    with ServiceClient(name, "reader") as client:
        paths = [row.path for row in client.ask(asked.Signals)][:SIGNALS]
        assert len(paths) == SIGNALS
        client.ask(asked.Subscribe, paths=paths, rate_hz=RATE_HZ)
        print("ready", flush=True)
        while True:
            client.values(1.0)


def trips(service: Served, n: int, tell: Tell) -> dict[str, Any]:
    """Time commands; then look which cycles had the changes."""
    client = service.client
    path = client.ask(asked.Signals)[0].path
    commands = {
        "status": lambda i: client.ask(asked.Status),
        "read": lambda i: client.ask(asked.Read, paths=[path]),
        "change": service.change,
    }
    found = {}
    for name, command in commands.items():
        tell(f"trips: {n} times {name}")
        taken = []
        for i in range(n):
            began = time.perf_counter()
            command(i)
            taken.append(1e3 * (time.perf_counter() - began))
            time.sleep(0.001)
        p50, p99 = np.percentile(taken, (50, 99))
        found |= {f"trip_{name}_p50_ms": float(p50), f"trip_{name}_p99_ms": float(p99)}
    waited_us, without = first_cycles(open_run(service.stop()), CHANGED_TASK, CHANGED_NS)
    for percent in (50, 99, 100):
        found[f"next_cycle_p{percent}_us"] = float(np.percentile(waited_us, percent))
    return found | {"changes": len(waited_us), "cycles_without": float(without)}


if __name__ == "__main__":
    sys.exit(main())
