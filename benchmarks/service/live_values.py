"""Live values: how soon a change is in the loop, how long a write takes, and what a value costs in a cycle.

    python benchmarks/service/live_values.py [--writes 400] [--rounds 60] [--json]

A program writes at random moments to the rig `live_bench`; journal and records say which cycle was the first to begin
after each change, and whether it had it. The cost of a value, and of a stimulus that does not run, is that of ten of
them beside a task without any, stepped in turn by the same code without threads.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from serving.changes import first_cycles
from serving.figures import show_figures

from rig_configs.live import CHANGES, live_path
from rigloop import Rig
from rigloop.blocks.compiled.kind import library
from rigloop.blocks.kinds.stimulus_step import Stimulus
from rt_core.block import Block
from rt_core.loop.offline import Offline
from rt_core.plan import Task, plan_table

EACH = 10
CYCLES = 20_000
MS = 1_000_000
BARS = {"cycles_without": 0.0, "write_p99_ms": 2.0}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--writes", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = written(Path(folder), options.writes) | costs(options.rounds)
    return show_figures(found, BARS, as_json=options.json)


def written(folder: Path, writes: int) -> dict[str, float]:
    """Write at random moments; count the cycles that began after a change and had it not."""
    rng = np.random.default_rng(1)
    took_s = []
    with Rig("live_bench").start(runs=folder) as rig:
        for _ in range(writes):
            time.sleep(rng.uniform(0.001, 0.008))
            began = time.perf_counter()
            rig.write(stiffness=rng.uniform(5.0, 20.0), preload=rng.uniform(-1.0, 1.0))
            took_s.append(time.perf_counter() - began)
    waited_us, without = first_cycles(rig.record, "fast", MS)
    write_ms = 1e3 * np.percentile(took_s, [50, 99, 100])
    wait_us = np.percentile(waited_us, [50, 99, 100])
    return {
        "changes": float(len(waited_us)),
        "cycles_without": float(without),
        "next_cycle_p50_us": float(wait_us[0]),
        "next_cycle_p99_us": float(wait_us[1]),
        "next_cycle_max_us": float(wait_us[2]),
        "write_p50_ms": float(write_ms[0]),
        "write_p99_ms": float(write_ms[1]),
        "write_max_ms": float(write_ms[2]),
    }


def costs(rounds: int) -> dict[str, float]:
    """Step ten gains with constants, with live values, and behind idle stimuli, in turn; ns each."""
    ways = {name: offline(name) for name in ("plain", "live", "stimuli")}
    took: dict[str, list[float]] = {name: [] for name in ways}
    for i in range(rounds):
        t_ns = np.arange(i * CYCLES, (i + 1) * CYCLES) * MS
        for name, way in ways.items():
            way.run("t", t_ns)
            took[name].append(way.wall_s * 1e9 / CYCLES)
    plain = np.array(took["plain"])
    found = {"cycle_plain_ns": float(np.median(plain))}
    for name in ("live", "stimuli"):
        found[f"{name}_ns_each"] = float(np.median(np.array(took[name]) - plain)) / EACH
    return found


def offline(way: str) -> Offline:
    """Return ten gains of a sine in one of three ways."""
    kinds = library(("sine", "gain", "live_value"))
    sine = kinds["sine"].make("sine", {"frequency_hz": 1.0, "unit": "1"}, {}, period_s=1e-3)
    blocks: list[Block] = [sine]
    inputs = [CHANGES]
    limits = {"unit": "1", "lower": 0.0, "upper": 5.0, "rate": 10.0, "start": 1.0}
    for i in range(EACH):
        reads = {"u": "sine/y"}
        inputs.append(live_path(f"v{i}"))
        if way == "live":
            wanted = {"wanted": inputs[-1], "changes": CHANGES}
            blocks.append(kinds["live_value"].make(f"v{i}", limits, wanted, period_s=1e-3))
            reads["gain"] = f"v{i}/value"
        elif way == "stimuli":
            signal = kinds["sine"].make(
                f"v{i}", {"frequency_hz": 3.0, "unit": "1"}, {}, period_s=1e-3
            )
            wires = {"number": inputs[-1], "before": "sine/y"}
            blocks.append(Stimulus(f"v{i}", signal, wires, limit=1.0))
            reads["u"] = f"v{i}/value"
        table = {"gain": 1.0, "unit": "1"}
        blocks.append(kinds["gain"].make(f"gain{i}", table, reads, period_s=1e-3))
    return Offline(plan_table([Task("t", blocks, MS)], (), inputs))


if __name__ == "__main__":
    sys.exit(main())
