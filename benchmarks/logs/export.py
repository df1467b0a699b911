"""The time and memory that an export takes, each format in a process of its own.

    python benchmarks/logs/export.py [--minutes 10] [--signals 200] [--to mdf mcap ...] [--folder FOLDER]

The run has one task at 1 kHz whose signals are noise, which no format can pack. Beside each figure stands the time of
a plain copy of the record, synced to the disk as the export is, just before it.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from io_bridge.exports.write import FORMS
from io_bridge.recording.record import RecordWriter
from rigloop.run_folder.clocks import ClockPair
from rigloop.run_folder.manifest import Manifest, Named, TaskFacts, write_manifest

PERIOD_NS = 1_000_000
PART = 20_000
TAKES = """
import resource, sys, time
from pathlib import Path
from io_bridge.exports.write import write_export
from rigloop.api.recorded_run import open_run
from rigloop.export.measured_run import measured_run
begin = time.perf_counter()
measured = measured_run(open_run(sys.argv[1]))
write_export(measured, sys.argv[2], Path(sys.argv[3]))
wall_s = time.perf_counter() - begin
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
used = resource.getrusage(resource.RUSAGE_SELF)
print(wall_s, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, int(status["RssFile"].split()[0]) / 1024)
"""


def make_run(folder: Path, minutes: float, n_signals: int) -> Path:
    """Write a run of noise."""
    folder.mkdir()
    n_rows = round(minutes * 60_000)
    random = np.random.default_rng(0)
    paths = [f"block{k // 10}/signal{k}_rad" for k in range(n_signals)]
    with RecordWriter(folder / "loop.npy", paths) as writer:
        for first in range(0, n_rows, PART):
            n = min(PART, n_rows - first)
            table = random.standard_normal((n, 1 + n_signals))
            rows = table.view(writer.dtype).reshape(n)
            rows["t_ns"] = np.arange(first, first + n) * PERIOD_NS
            writer.append(rows)
    manifest = Manifest(
        kind="live",
        rig=Named("noise", "0" * 64),
        kernels=(),
        started="2026-01-02T03:04:05Z",
        duration_s=n_rows * 1e-3,
        verdict="good",
        reasons=(),
        tasks={"loop": TaskFacts(PERIOD_NS, "loop.npy", cycles=n_rows)},
        versions={},
        host={},
        first_cycle_ns=1,
        clocks=(ClockPair(1_790_000_000_000_000_000, 1, 10),),
    )
    write_manifest(folder, manifest)
    return folder


def copied_s(record: Path, to: Path) -> float:
    """Return how long a copy takes until it is on the disk."""
    begin = time.perf_counter()
    shutil.copyfile(record, to)
    with to.open("rb+") as file:
        os.fsync(file.fileno())
    took = time.perf_counter() - begin
    to.unlink()
    return took


def main() -> int:
    """Print a line a format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--signals", type=int, default=200)
    parser.add_argument("--to", nargs="+", default=["mdf", "mcap"], choices=sorted(FORMS))
    parser.add_argument("--folder", type=Path, help="gets the files; a temporary one if not given")
    asked = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory(dir=asked.folder) as made:
        base = Path(made)
        run = make_run(base / "run", asked.minutes, asked.signals)
        print(f"{asked.minutes:g} min, {asked.signals} signals at 1 kHz")
        print(
            "format     wall    CPU    copy    size   peak memory, and what of it is the mapped record"
        )
        for to in asked.to:
            copy_s = copied_s(run / "loop.npy", base / "copy")
            out = base / f"out{FORMS[to].ending}"
            done = subprocess.run(
                [sys.executable, "-c", TAKES, run, to, out],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            wall_s, cpu_s, peak, mapped = map(float, done.stdout.split())
            size = out.stat().st_size / 1e6
            figures = f"{wall_s:5.1f} s {cpu_s:4.1f} s {copy_s:5.1f} s {size:5.0f} MB"
            print(f"{to:8} {figures}   {peak:.0f} MiB, {mapped:.0f} MiB")
            out.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
