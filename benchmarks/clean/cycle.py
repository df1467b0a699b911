"""The process that clean_cycle.py looks into: the steering rig's loop, with counters around it; prints one JSON object.

Started with poison.c preloaded. Arguments: path of the signal table, seconds, the library of bad_block.c.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rigloop.compose.blocks import backends_of, compose_live
from rigloop.compose.bus import make_buses
from rigloop.compose.kernels import build_kernels
from rigloop.compose.wiring import load
from rt_core.block import BLOCK_ABI, BLOCK_CAPSULE
from rt_core.host.rights import acquire_rights
from rt_core.loop.loop import Loop
from rt_core.plan import Task, plan_table
from rt_core.signals.table import SignalTable

LOCKED = 8_000_000  # additions in one call that never lets go of the interpreter: a tenth of a second or more
PAUSE_S = 0.4
MS = 1_000_000

counter = ctypes.CDLL(None)
for name in ("poison_python", "poison_allocated", "poison_called"):
    getattr(counter, name).restype = ctypes.c_long
counter.poison_caught.restype = ctypes.c_char_p


class View(ctypes.Structure):
    """The content of a block's capsule: rt_core/block.pxd."""

    _fields_ = (
        ("abi", ctypes.c_int64),
        ("step", ctypes.c_void_p),
        ("self", ctypes.c_void_p),
        ("work", ctypes.c_void_p),
        ("bytes", ctypes.c_int64),
    )


class BadBlock:
    """Allocates, and takes the interpreter's lock, in its cycle."""

    name = "bad"
    reads: dict[str, str] = {}  # noqa: RUF012
    writes = {"count": "bad/count"}  # noqa: RUF012

    def __init__(self, library: str) -> None:
        self._library = ctypes.CDLL(library)
        self._state = (ctypes.c_void_p * 1)()
        step = ctypes.cast(self._library.step_bad, ctypes.c_void_p).value
        self._view = View(BLOCK_ABI, step, ctypes.addressof(self._state))
        self._kind = BLOCK_CAPSULE.encode()

    def bind(self, reads: list[int], writes: list[int]) -> None:
        """Take the address of the only cell."""
        self._state[0] = writes[0]

    def capsule(self) -> Any:
        """Return what the loop steps."""
        new = ctypes.pythonapi.PyCapsule_New
        new.restype = ctypes.py_object
        new.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self._view), self._kind, None)


def threads(table: SignalTable, tasks: Iterable[str], *, begins: bool) -> dict[str, dict[str, int]]:
    """Return the kernel's counters of each task's thread, and its cycles: a cycle that comes in between is counted.

    A cycle waits once: its stretch is counted before the waits at the begin, and after them at the end.
    """
    found = {}
    before = {name: int(table.value(f"loop/{name}/cycle")) for name in tasks}
    for folder in Path("/proc/self/task").iterdir():
        text = (folder / "stat").read_text()
        name = text.partition("(")[2].rpartition(")")[0]
        if not name.startswith("rt:"):
            continue
        fields = text.rpartition(")")[2].split()
        switches = {
            line.partition(":")[0]: int(line.partition(":")[2])
            for line in (folder / "status").read_text().splitlines()
            if "ctxt_switches" in line
        }
        found[name[3:]] = {
            "minor_faults": int(fields[7]),
            "major_faults": int(fields[9]),
            "waits": switches["voluntary_ctxt_switches"],
            "preempted": switches["nonvoluntary_ctxt_switches"],
        }
    for name, counts in found.items():
        counts["cycles"] = before[name] if begins else int(table.value(f"loop/{name}/cycle"))
    return found


def supervise(table: SignalTable, beat: int, seconds: float) -> int:
    """Do for a while what keeps the guard running; return the beat."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        beat += 1
        table.publish(
            {
                "supervisor/heartbeat": beat,
                "supervisor/enable": 1.0,
                "supervisor/arm": float(beat > 20),
            }
        )
        time.sleep(0.02)
    return beat


def watched(path: str, seconds: float) -> dict[str, Any]:
    """Run the rig and count."""
    loaded = load("steering_wheel")
    rights = acquire_rights(90)
    buses = make_buses(loaded.rig, backends_of(loaded.rig, "simulated"))
    composed = compose_live(loaded.rig, build_kernels(loaded), buses)
    with buses:
        buses.to_op()
        with SignalTable.create(path, composed.plan) as table:
            gc.freeze()
            gc.disable()
            jumps = counter.poison_python()
            with Loop(composed.plan, table, fifo=rights.fifo, safe=composed.safe) as loop:
                beat = supervise(table, 0, 1.5)
                state = table.value("guard/state")
                before = threads(table, loaded.rig.tasks, begins=True)
                allocated, called = counter.poison_allocated(1), counter.poison_called(1)
                locked = []
                until = time.monotonic() + seconds
                while time.monotonic() < until and not loop.stop_requested:
                    beat = supervise(table, beat, PAUSE_S)
                    begin = table.value("loop/estimation/cycle")
                    since = time.monotonic()
                    sum(range(LOCKED))
                    cycles = table.value("loop/estimation/cycle") - begin
                    locked.append([cycles, time.monotonic() - since])
                after = threads(table, loaded.rig.tasks, begins=False)
                allocated = counter.poison_allocated(1) - allocated
                called = counter.poison_called(1) - called
                caught = [counter.poison_caught(i) for i in range(called)]
            table.close(unlink=True)
    held = {right.name for right in rights.rights if right.held}
    return {
        "tasks": {
            name: {key: after[name][key] - n for key, n in counts.items()}
            for name, counts in before.items()
        },
        "allocations": allocated,
        "python_calls": called,
        "functions": [name.decode() for name in caught if name],
        "jumps": jumps,
        "locked": locked,
        "state": state,
        "memory_lock": "memory lock" in held,
        "fifo": rights.fifo,
        "elsewhere": {
            "allocations": counter.poison_allocated(0),
            "python_calls": counter.poison_called(0),
        },
    }


def control(path: str, library: str) -> dict[str, int]:
    """Run a loop whose block does what none may, and count what was seen of it."""
    bad = BadBlock(library)
    counter.poison_python()
    plan = plan_table([Task("bad", [bad], 10 * MS)])
    allocated, called = counter.poison_allocated(1), counter.poison_called(1)
    with SignalTable.create(path, plan) as table:
        with Loop(plan, table) as loop:
            loop.wait(0.3)
        cycles = int(table.value("bad/count"))
        table.close(unlink=True)
    return {
        "cycles": cycles,
        "allocations": counter.poison_allocated(1) - allocated,
        "python_calls": counter.poison_called(1) - called,
    }


if __name__ == "__main__":
    # a child of this process has no cycle of its own to be looked into
    os.environ.pop("LD_PRELOAD", None)
    found = watched(sys.argv[1], float(sys.argv[2]))
    print(json.dumps(found | {"control": control(sys.argv[1], sys.argv[3])}))
