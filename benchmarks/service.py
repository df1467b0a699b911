"""A service beside none: lateness with clients that read, round trips of commands, and a soak in short.

    python benchmarks/service.py [--quick] [--only lateness|trips|soak]... [--json]

lateness    one rig runs; in pairs of windows, five clients have 200 of its signals pushed 100 times a second, or they
            and the service stand still (SIGSTOP), which takes nothing at all. The ratio of the p99 of lateness of each
            pair, its median with a 95 % interval; pairs from which the host took more than 5 ticks are left out
trips       a client sends commands to the service of a rig that runs: status, a read of one signal, and a change of a
            live value, which the supervisor publishes for the next cycle, and which is written into all journals
soak        clients connect, ask, and leave or vanish; one changes a live value; the recorder is killed and followed by
            another one. Memory and descriptors of the service, the rows of the record, the journal of the changes

Needs FIFO priorities for `lateness`. Exit code 0: every bar holds; 1: one does not.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from timing.rounds import MOST_STEAL, median_interval

from rigloop import open_run
from rigloop.live_values.journal import read_journal
from rigloop.protocol import requests as asked
from rigloop.protocol.answers import Phase
from rigloop.protocol.client import ServiceClient, ServiceError
from rt_core.host.facts import steal_ticks
from rt_core.lateness.histogram import Histogram
from rt_core.signals.table import SignalTable

RIG = "pedals_and_wheel"
CHANGED = "live_bench"  # has live values
CLIENTS, SIGNALS, RATE_HZ = 5, 200, 100.0
START_TIMEOUT_S = 120.0
SETTLE_S = 0.2
BARS = {
    "lateness_ratio": 1.1,
    "trip_status_p99_ms": 2.0,
    "trip_read_p99_ms": 2.0,
    "trip_change_p99_ms": 2.0,
    "soak_memory_kb": 2048.0,
    "soak_descriptors": 0.0,
    "soak_lost_rows": 0.0,
    "soak_lost_changes": 0.0,
}
SOAKED_FIRST = (
    0.2  # of the connections, before memory is looked at: libraries keep what they once had
)


@dataclass(frozen=True)
class Served:
    """A service whose rig runs, and a client that is in control."""

    process: subprocess.Popen[bytes]
    client: ServiceClient
    token: str

    def status(self) -> Any:
        """Return the state of the rig."""
        return self.client.status()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", choices=("lateness", "trips", "soak"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--reader", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reader:
        read_for_ever(options.reader)
    parts = options.only or ["lateness", "trips", "soak"]
    found: dict[str, Any] = {}
    if "lateness" in parts:
        with served(RIG) as service:
            found |= lateness(service, 6 if options.quick else 30, 1.0)
    if "trips" in parts:
        with served(CHANGED) as service:
            found |= trips(service, 300 if options.quick else 3000)
    if "soak" in parts:
        with served(CHANGED) as service:
            found |= soak(service, 500 if options.quick else 10_000, 50 if options.quick else 1000)
    judged = {name: bar for name, bar in BARS.items() if name in found}
    good = all(found[name] <= bar for name, bar in judged.items())
    if options.json:
        print(json.dumps({"good": good, "bars": judged, **found}))
    else:
        for name, value in found.items():
            shown = f"{value:10.3f}" if isinstance(value, float) else f"{value!s:>10}"
            print(f"{name:24} {shown}" + (f"   bar {BARS[name]:g}" if name in BARS else ""))
    return 0 if good else 1


@contextlib.contextmanager
def served(rig: str) -> Iterator[Served]:
    """Start a service and arm its rig; end both."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _served(rig, Path(folder))


def _served(rig: str, folder: Path) -> Iterator[Served]:
    for kind in ("RUNTIME_DIR", "STATE_HOME", "CONFIG_HOME"):
        os.environ[f"XDG_{kind}"] = str(folder / kind)
        (folder / kind).mkdir()
    command = [sys.executable, "-P", "-m", "rigloop", "serve", rig, "--no-report"]
    process = subprocess.Popen(
        [*command, "--runs", str(folder / "runs")], stdout=subprocess.DEVNULL
    )
    try:
        client = _connected(rig, process)
        token = client.ask(asked.Take).token
        client.ask(asked.Arm, token=token)
        until = time.monotonic() + START_TIMEOUT_S
        while client.status().phase != Phase.ARMED and time.monotonic() < until:
            time.sleep(0.05)
        yield Served(process, client, token)
    finally:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        process.wait()


def lateness(service: Served, pairs: int, window_s: float) -> dict[str, Any]:
    """Measure pairs of windows in random order."""
    table = SignalTable.attach(service.status().table)
    tasks = list(open_run(service.status().folder).tasks)
    command = [sys.executable, __file__, "--reader", RIG]
    readers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(CLIENTS)]
    try:
        for reader in readers:
            assert reader.stdout is not None
            reader.stdout.readline()
        ratios: dict[str, list[float]] = {task: [] for task in tasks}
        left_out = 0
        for _ in range(pairs):
            seen: dict[bool, dict[str, Histogram]] = {}
            before = steal_ticks() or 0
            for reads in random.sample((True, False), 2):
                seen[reads] = _window(service, readers, table, tasks, window_s, reads=reads)
            if (steal_ticks() or 0) - before > MOST_STEAL:
                left_out += 1
                continue
            for task in tasks:
                pair = (seen[reads][task].percentile(99) for reads in (True, False))
                ratios[task].append(next(pair) / next(pair))
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()
        table.close()
    found: dict[str, Any] = {"lateness_pairs": pairs - left_out, "lateness_left_out": left_out}
    for task in tasks:
        low, median, high = median_interval(ratios[task])
        found |= {f"ratio_{task}": median, f"ratio_{task}_low": low, f"ratio_{task}_high": high}
    return found | {"lateness_ratio": max(statistics.median(ratios[task]) for task in tasks)}


def _window(
    service: Served,
    readers: list[subprocess.Popen[bytes]],
    table: SignalTable,
    tasks: list[str],
    window_s: float,
    *,
    reads: bool,
) -> dict[str, Histogram]:
    for one in (*readers, service.process):
        one.send_signal(signal.SIGCONT if reads else signal.SIGSTOP)
    time.sleep(SETTLE_S)
    before = {task: table.histograms(task)["late"] for task in tasks}
    time.sleep(window_s)
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


def trips(service: Served, n: int) -> dict[str, Any]:
    """Time commands."""
    client, token = service.client, service.token
    path = client.ask(asked.Signals)[0].path
    commands = {
        "status": lambda i: client.ask(asked.Status),
        "read": lambda i: client.ask(asked.Read, paths=[path]),
        "change": lambda i: client.ask(asked.Write, token=token, values=_change(i)),
    }
    found = {}
    for name, command in commands.items():
        taken = []
        for i in range(n):
            began = time.perf_counter()
            command(i)
            taken.append(1e3 * (time.perf_counter() - began))
            time.sleep(0.001)
        p50, p99 = np.percentile(taken, (50, 99))
        found |= {f"trip_{name}_p50_ms": float(p50), f"trip_{name}_p99_ms": float(p99)}
    return found


def _change(i: int) -> dict[str, float]:
    return {"assistance": 1.0 + 0.5 * (i % 2)}


def soak(service: Served, connections: int, changes: int) -> dict[str, Any]:
    """Connect often, change, kill what may be killed; then end the run and count."""
    folder = Path(service.status().folder)
    every, killed, changed = connections // changes, 0, 0
    before_kb = before_files = 0
    for number in range(connections):
        if number == round(SOAKED_FIRST * connections):
            before_kb, before_files = _memory_kb(service.process.pid), _files(service.process.pid)
        client = ServiceClient(CHANGED, f"soak {number}")
        client.ask(asked.Status)
        if number % every == 0:
            changed += 1
            service.client.ask(asked.Write, token=service.token, values=_change(number))
        if number % 10 == 0:
            client._caller._context.destroy(linger=0)  # as a process that was killed
        else:
            client.close()
        if number in (connections // 3, 2 * connections // 3):
            killed += _kill_recorder(folder)
    time.sleep(10.0)  # clients that have vanished are swept
    grown_kb = _memory_kb(service.process.pid) - before_kb
    grown_files = _files(service.process.pid) - before_files
    service.client.ask(asked.Stop, token=service.token)
    until = time.monotonic() + START_TIMEOUT_S
    while service.status().phase != Phase.IDLE and time.monotonic() < until:
        time.sleep(0.05)
    lost = 0
    run = open_run(folder)
    for task in run.tasks:
        cycles = run.records[task][f"loop/{task}/cycle"]
        lost += int(cycles[-1] - cycles[0]) + 1 - len(cycles)
    kept = sum(entry.sequence > 0 for entry in read_journal(folder))
    return {
        "soak_connections": connections,
        "soak_changes": changed,
        "soak_recorders_killed": killed,
        "soak_memory_kb": float(max(0, grown_kb)),
        "soak_descriptors": float(max(0, grown_files)),
        "soak_lost_rows": float(lost),
        "soak_lost_changes": float(changed - kept),
    }


def _kill_recorder(folder: Path) -> int:
    """Kill the recorder of a run, whichever it is now."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if b"io_bridge.recording.recorder" in words and os.fsencode(folder) in words:
                os.kill(int(entry.name), signal.SIGKILL)
                return 1
    return 0


def _memory_kb(pid: int) -> int:
    (line,) = (
        row for row in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmRSS" in row
    )
    return int(line.split()[1])


def _files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def _connected(rig: str, process: subprocess.Popen[bytes]) -> ServiceClient:
    until = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            return ServiceClient(rig, "benchmark")
        except ServiceError:
            if process.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main())
