"""A log of ten hours through filter and kernel: memory and pace, with a summary and no record.

    python benchmarks/logs/long_log.py [--hours 10] [--rate 1000] [--packed] [--folder FOLDER]

The log is a text of time, counts and torque, with some faults. The replay is the command itself, in a process of its
own; its peak memory is that of this process, and both its wall time and its CPU time are compared with the log's.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TextIO

import numpy as np

BLOCK = 50_000  # rows that are written at once
GAP_EVERY = 1_000_003  # rows
MAPPING = """name = "long"
title = "Ten hours"
header = ["time_s", "enc_count", "hand_Nm"]
[time]
column = "time_s"
unit = "s"
[angle]
column = "enc_count"
unit = "counts"
counts_per_rev = 4096.0
[[torque]]
name = "hand"
column = "hand_Nm"
unit = "nm"
"""


def write_log(path: Path, hours: float, rate_hz: float) -> int:
    """Write a log; return its rows."""
    n = round(hours * 3600 * rate_hz)
    with contextlib.ExitStack() as opened:
        file: TextIO
        if path.suffix == ".gz":
            file = opened.enter_context(gzip.open(path, "wt", 1))
        else:
            file = opened.enter_context(path.open("w"))
        file.write("time_s,enc_count,hand_Nm\n")
        for first in range(0, n, BLOCK):
            row = np.arange(first, min(n, first + BLOCK))
            # every now and then ten samples are missing
            t = (row + 10 * (row // GAP_EVERY)) / rate_hz
            angle = 2.0 * np.sin(0.7 * t) + 0.8 * np.sin(2.1 * t + 0.3)
            count = np.rint(angle * 4096 / (2.0 * np.pi)).astype(int)
            torque = 0.5 * np.sin(t)
            rows = zip(t.tolist(), count.tolist(), torque.tolist(), strict=True)
            file.writelines("%.4f,%d,%.3f\n" % one for one in rows)  # noqa: UP031
    return n


def main() -> int:
    """Print a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=1000.0, help="samples a second")
    parser.add_argument("--packed", action="store_true", help="the log is a .csv.gz")
    parser.add_argument("--folder", type=Path, help="gets the log; a temporary one if not given")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as made:
        log = Path(made) / f"long.csv{'.gz' if asked.packed else ''}"
        mapping = Path(made) / "long.toml"
        mapping.write_text(MAPPING)
        n = write_log(log, asked.hours, asked.rate)
        command = [sys.executable, "-m", "rigloop", "replay", str(log), "--mapping", str(mapping)]
        command += ["--json", "--keep", "summary", "--runs", f"{made}/runs"]
        begin = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout
            answer = json.loads(process.stdout.read())
            _, _, used = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - begin
        log_s = n / asked.rate
        cpu_s = used.ru_utime + used.ru_stime
        memory = f"{used.ru_maxrss / 1024:.0f} MiB at most"
        print(
            f"{n} rows, {log_s / 3600:.3g} h, {log.stat().st_size / 1e6:.0f} MB: {memory}; "
            f"{wall_s:.1f} s, {log_s / wall_s:.0f} x real time; {cpu_s:.1f} s of CPU, {log_s / cpu_s:.0f} x; "
            f"{'good' if answer['good'] else answer['reasons']}, {'; '.join(n[:40] for n in answer['notes'])}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
