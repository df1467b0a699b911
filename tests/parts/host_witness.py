"""Stretches in which the host took a processor away, seen by a process on each processor that only wants to wake up.

Tests of what runs live state laws of a rig that runs. While the host of a virtual machine lets a processor stand still,
no rig can keep them, and such a test says nothing. The witness tells those cases from real failures.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass

PERIOD_S = 0.002
STOLEN_S = 0.005
ONLY_WAKE = """
import os, sys, time
cpu, period_s, stolen_s, parent = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
os.sched_setaffinity(0, {cpu})
try:  # the least priority that is ahead of whatever has none; live loops stay ahead of it
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
except PermissionError:
    pass
then = time.monotonic()
while os.getppid() == parent:
    time.sleep(period_s)
    now = time.monotonic()
    if now - then > period_s + stolen_s:
        os.write(1, f"[{then}, {now}, {cpu}]\\n".encode())  # at once: others write to this file too
    then = now
"""


@dataclass(frozen=True)
class Stolen:
    """A stretch in which a processor did not wake its witness."""

    began_s: float
    ended_s: float
    cpu: int

    @property
    def lasted_s(self):
        """How long it was."""
        return self.ended_s - self.began_s

    def __str__(self):
        return f"processor {self.cpu} stood still for {1e3 * self.lasted_s:.0f} ms"


class HostWitness:
    """Watches every processor of this process until it is closed.

    Parameters
    ----------
    path : pathlib.Path
        A file for what is seen.
    """

    def __init__(self, path):
        self._processes = []
        with path.open("a") as seen:
            for cpu in sorted(os.sched_getaffinity(0)):
                words = (cpu, PERIOD_S, STOLEN_S, os.getpid())
                command = [sys.executable, "-S", "-c", ONLY_WAKE, *map(str, words)]
                self._processes.append(subprocess.Popen(command, stdout=seen))

    @property
    def pids(self):
        """Processes that watch."""
        return [process.pid for process in self._processes]

    def close(self):
        """End the processes."""
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()


def worst_since(path, began_s):
    """Return the longest stretch that ended after a time of the monotonic clock, or None."""
    time.sleep(5 * PERIOD_S)  # a stretch is told of at its end
    lines = path.read_text().splitlines(keepends=True)
    seen = [Stolen(*json.loads(line)) for line in lines if line.endswith("\n")]
    late = [one for one in seen if one.ended_s >= began_s]
    return max(late, key=lambda one: one.lasted_s, default=None)
