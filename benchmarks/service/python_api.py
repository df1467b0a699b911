"""The Python interface beside what it stands on: a batch of steps beside the kernel, reads of signals, imports.

    python benchmarks/service/python_api.py [--rounds 40] [--json]

A four-bar with a torque on its crank is stepped 10 000 times with a series of inputs: through `rigloop.mechanism`, and
by the same compiled kernel with arrays made before, in turn; the ratio is of the medians. Signals are read from a
table with 240 signals that nobody writes meanwhile. Imports and `--help` are processes of their own, less nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

import rigloop
from rt_core.injection.load import BusyBlock
from rt_core.plan import Task, plan_table
from rt_core.signals.reading import SignalReader
from rt_core.signals.table import SignalTable

STEPS = 10_000
TORQUE = "input/force/motor/torque_nm"
DRIVEN = '\n[force.motor]\nangle = "crank"\ntorque_nm = { input = 0.0 }\n\n[outputs]'
READS = 20_000
SIGNALS = 200
BARS = {
    "step_ratio": 1.2,
    "read_one_us": 1.0,
    "read_200_us": 20.0,
    "import_s": 0.15,
    "help_s": 0.15,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = (
            batch(Path(folder), options.rounds) | reads(Path(folder)) | starts(options.rounds // 4)
        )
    good = all(found[name] <= bar for name, bar in BARS.items())
    if options.json:
        print(json.dumps({"good": good, "bars": BARS, **found}))
    else:
        for name, value in found.items():
            print(f"{name:18} {value:10.3f}" + (f"   bar {BARS[name]:g}" if name in BARS else ""))
    return 0 if good else 1


def batch(folder: Path, rounds: int) -> dict[str, float]:
    """Step the same kernel by both ways in turn."""
    shipped = Path(rigloop.__file__).parents[1] / "rig_configs" / "mechanisms" / "four_bar.toml"
    source = folder / "driven_four_bar.toml"
    text = shipped.read_text().replace('name = "four_bar"', 'name = "driven_four_bar"')
    source.write_text(text.replace("\n[outputs]", DRIVEN))
    mechanism = rigloop.mechanism(source)
    torque = np.random.default_rng(1).normal(0.0, 5.0, STEPS)
    begun = mechanism.save()
    module, state = mechanism._module, mechanism.copy()._state
    first = state.copy()
    guide, signals = np.empty((STEPS, 0)), np.ascontiguousarray(torque[:, None])
    outputs = np.empty((STEPS, len(mechanism.outputs)))
    ours, theirs = [], []
    for _ in range(rounds):
        mechanism.restore(begun)
        state[:] = first
        ours.append(_seconds(lambda: mechanism.run({TORQUE: torque})))
        theirs.append(_seconds(lambda: module.run(state, guide, outputs, STEPS, signals)))
    each_us = 1e6 * float(np.median(ours)) / STEPS
    ratio = float(np.median(ours) / np.median(theirs))
    return {"step_us": each_us, "kernel_step_us": each_us / ratio, "step_ratio": ratio}


def reads(folder: Path) -> dict[str, float]:
    """Read newest values of a table as large as that of a rig with three axes."""
    blocks = [BusyBlock(f"busy{i}", 0) for i in range(4)]
    extra = tuple(f"log/signal{i}" for i in range(SIGNALS))
    plan = plan_table([Task("fast", blocks, 1_000_000, inputs=extra)], ("supervisor/arm",))
    with SignalTable.create(folder / "table", plan) as table, SignalReader(table) as signals:
        paths = tuple(signals)[:SIGNALS]
        assert len(paths) == SIGNALS
        one = paths[len(paths) // 2]
        one_s = _seconds(lambda: [signals[one] for _ in range(READS)])
        many_s = _seconds(lambda: [signals.read(paths) for _ in range(READS // 10)])
    return {"read_one_us": 1e6 * one_s / READS, "read_200_us": 1e7 * many_s / READS}


def starts(rounds: int) -> dict[str, float]:
    """Start processes that import the package, and that print the help."""
    commands = {
        "python_s": [sys.executable, "-c", "pass"],
        "import_s": [sys.executable, "-c", "import rigloop"],
        "help_s": [sys.executable, "-m", "rigloop", "--help"],
    }
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(max(3, rounds)):
        for name, command in commands.items():
            taken[name].append(
                _seconds(partial(subprocess.run, command, capture_output=True, check=True))
            )
    return {name: float(np.median(seconds)) for name, seconds in taken.items()}


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
