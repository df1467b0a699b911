"""The scope at full rate: 200 signals at 1 kHz and 20 at 5 kHz, captured one after the other, compared with the record.

    python benchmarks/service/scope.py [--seconds 600] [--hour] [--page] [--json]

A rig of 220 sines runs in processes of its own; a scope with the trigger `now` in the mode `normal` cuts its cycles
into captures of two seconds, each of which is made into a message for a page, every point or the smallest and largest
of each stretch. Cycles of the record that are in no capture are lost; periods that the loop skipped were never there.
With `--page` it is the scope of a page in headless Chromium, with a plot for each signal, and it has to draw them all.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
from serving.figures import show_figures

sys.path.append(str(Path(__file__).parents[2] / "tests" / "parts"))

from chromium import Chromium

from rigloop import Rig
from rigloop.api.recorded_run import RecordedRun
from rigloop.scope.capture import Capture
from rigloop.scope.message import message
from rigloop.scope.opened import open_any
from rigloop.scope.rows import cycle_path, picked
from rigloop.scope.scope import scope_on
from rigloop.scope.setup import Setup

N_FAST, N_SLOW = 20, 200
EACH_S = 2.0
LOOK_S = 0.02
HOUR_S = 3600.0
BARS = {
    "lost_samples": 0.0,
    "undrawn_samples": 0.0,
    "missed_captures": 0.0,
    "differing_captures": 0.0,
    "cpu_percent": 50.0,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--hour", action="store_true")
    parser.add_argument("--page", action="store_true", help="drawn in a browser")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    seconds = HOUR_S if options.hour else options.seconds
    with tempfile.TemporaryDirectory() as folder:
        found = (drawn if options.page else watched)(Path(folder), seconds)
    return show_figures(found, BARS, as_json=options.json)


def watched(folder: Path, seconds: float) -> dict[str, float]:
    """Capture all signals of a run for some seconds; compare with its record once it has ended."""
    (folder / "many.toml").write_text(rig_of_sines(N_FAST, N_SLOW))
    fast = tuple(f"f{i}/y" for i in range(N_FAST))
    slow = tuple(f"s{i}/y" for i in range(N_SLOW))
    setup = Setup(signals=(*fast, *slow), pre_s=0.0, post_s=EACH_S, mode="normal")
    pieces: list[dict[str, tuple[int, int, int, int]]] = []
    sent = skipped = lost_seen = 0
    with Rig(folder / "many.toml").start(runs=folder / "runs") as rig:
        opened = open_any(str(rig.folder))
        scope = scope_on(opened, setup)
        began_s, began_cpu_s = time.monotonic(), time.process_time()
        while time.monotonic() - began_s < seconds:
            for capture in scope.poll():
                sent += len(message(capture))
                lost_seen += capture.lost
                skipped += sum(gap.skipped for gaps in capture.gaps.values() for gap in gaps)
                pieces.append(sums_of(capture))
            time.sleep(LOOK_S)
        cpu_s = time.process_time() - began_cpu_s
        took_s = time.monotonic() - began_s
        scope.close()
    lost, differing, samples = compared(pieces, rig.record)
    return {
        "seconds": took_s,
        "captures": float(len(pieces)),
        "samples": float(samples),
        "lost_samples": float(lost),
        "lost_cycles_seen": float(lost_seen),
        "differing_captures": float(differing),
        "skipped_periods": float(skipped),
        "cpu_percent": 100.0 * cpu_s / took_s,
        "message_mb_a_second": 1e-6 * sent / took_s,
    }


def drawn(folder: Path, seconds: float) -> dict[str, float]:
    """Capture all signals of a run for some seconds by a page; compare what it has drawn with the record."""
    from page import cpu_s, monitored

    (folder / "many.toml").write_text(rig_of_sines(N_FAST, N_SLOW))
    names = {"fast": [f"f{i}/y" for i in range(N_FAST)], "slow": [f"s{i}/y" for i in range(N_SLOW)]}
    setup = {
        "do": "capture",
        "signals": [*names["fast"], *names["slow"]],
        "trigger": "now",
        "pre_s": 0,
    }
    setup |= {"post_s": EACH_S, "mode": "normal", "pixels": 1000}
    with (
        Rig(folder / "many.toml").start(runs=folder / "runs") as rig,
        Chromium(1400, 1000) as browser,
        monitored(str(rig.folder)) as (server, url),
    ):
        browser.open(url)
        browser.until("rigloop.strips.live.nowS > 0")
        began_s, began_cpu_s = time.monotonic(), cpu_s(server.pid)
        browser.run(f"rigloop.send({json.dumps(setup)})")
        while time.monotonic() - began_s < seconds:
            time.sleep(min(5.0, seconds))
            browser.run("rigloop.scope.captures")  # a browser that does not answer is noticed here
        found = browser.run(
            "(({seen, cycles, missed, lost, captures, plots}) => ({...seen, cycles, missed, lost, captures, "
            "drawn: plots.drawn}))(rigloop.scope)"
        )
        cpu, took_s = cpu_s(server.pid) - began_cpu_s, time.monotonic() - began_s
    there = 0
    for task, paths in names.items():
        t_ns = rig.record.records[task]["t_ns"]
        low, high = np.searchsorted(t_ns, [round(found[k] * 1e9) for k in ("first", "endS")])
        there += int(high - low) * len(paths)
    return {
        "seconds": took_s,
        "captures": float(found["captures"]),
        "captures_drawn": float(found["drawn"]),
        "missed_captures": float(found["missed"]),
        "samples": float(there),
        "undrawn_samples": float(abs(there - found["cycles"])),
        "lost_cycles_seen": float(found["lost"]),
        "cpu_percent": 100.0 * cpu / took_s,
    }


def sums_of(capture: Capture) -> dict[str, tuple[int, int, int, int]]:
    """Return first and last time of each task's rows, their number, and a sum over all of their bits."""
    return {
        group.name: (
            int(group.rows["t_ns"][0]),
            int(group.rows["t_ns"][-1]),
            len(group),
            zlib.crc32(group.rows.tobytes()),
        )
        for group in capture.groups
        if len(group)
    }


def compared(
    pieces: list[dict[str, tuple[int, int, int, int]]], run: RecordedRun
) -> tuple[int, int, int]:
    """Return lost samples, captures whose bits are not those of the record, and all samples of the record."""
    lost = differing = samples = 0
    for task, n_signals in (("fast", N_FAST), ("slow", N_SLOW)):
        record = run.records[task]
        t_ns = np.array(record["t_ns"])
        paths = [cycle_path(task), *(f"{task[0]}{i}/y" for i in range(n_signals))]
        sums = [piece[task] for piece in pieces if task in piece]
        first, end = np.searchsorted(t_ns, [sums[0][0], sums[-1][1] + 1])
        there = sum(n for _, _, n, _ in sums)
        lost += (int(end - first) - there) * n_signals
        samples += int(end - first) * n_signals
        for begin_ns, end_ns, _, total in sums:
            low, high = np.searchsorted(t_ns, [begin_ns, end_ns + 1])
            differing += zlib.crc32(picked(record[low:high], paths).tobytes()) != total
    return lost, differing, samples


def rig_of_sines(n_fast: int, n_slow: int) -> str:
    """Return a rig file with as many sines at 5 kHz and at 1 kHz, without a bus."""
    names = {"fast": [f"f{i}" for i in range(n_fast)], "slow": [f"s{i}" for i in range(n_slow)]}
    lines = ['title = "Many signals"']
    for task, period_us in (("fast", 200), ("slow", 1000)):
        lines += [f"[tasks.{task}]", f"period_us = {period_us}", "stall_cycles = 5000"]
        lines.append(f"blocks = {json.dumps(names[task])}")
    for task, blocks in names.items():
        for i, name in enumerate(blocks):
            hz = 5.0 + i if task == "fast" else 1.0 + 0.1 * i
            lines += [f"[blocks.{name}]", 'kind = "sine"', 'unit = "1"', "amplitude = 1.0"]
            lines.append(f"frequency_hz = {hz:.3f}")
    lines += ["[verdict]", "max_overrun_percent = 100.0", "[show]", 'signals = ["f0/y", "s0/y"]']
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
