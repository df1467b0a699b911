"""Three axes beside one: step, cycle and lateness of the fast and the slow task, on this machine.

    python benchmarks/axes.py [--seconds 3] [--rounds 12] [--most-s 600] [--spin] [--json FILE]

Runs `pedals_and_wheel` (three drives and mechanisms), `steering_wheel` (one of each) and `steering_wheel` once more, in
random order each round, at 5 kHz + 1 kHz. Judged are three axes against one: p50 of the step and of the
cycle (step and exchange) at most 3.2 times, lateness of the wake-up p99 at most 1.2 times. "again" is one axis against
itself: the difference that this machine makes by itself.
"done" is shown without a bar: the lateness of a cycle's end, which is that of its wake-up and its own work.

A figure of lateness is the percentile of all cycles of all rounds together; its ratio has a 95 % interval, by drawing
rounds again and again. A percentile of one short run lies among the holes that a host makes, and a median of a few of
these says nothing.

The tasks sleep to their deadlines (`spin_us = 0`): with the spin of the rigs a wake-up is on time to the nanosecond, or
as late as a hole of the host, and p99 asks which of the two the hundredth cycle had. `--spin` measures that.

A bar holds if the upper end of the interval does, and fails if the lower end is beyond it; between them it is open, and
more rounds are needed. Exit code 0: every bar holds. 1: one fails. 2: none fails, and one is open. Run it on a machine
that does nothing else.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from timing.options import JsonFile
from timing.rounds import MOST_STEAL, median_interval

from io_bridge.recording.record import open_record
from rig_configs.load import find_rig
from rt_core.host.facts import steal_ticks
from rt_core.lateness.histogram import Histogram

VARIANTS = {"one": "steering_wheel", "three": "pedals_and_wheel", "again": "steering_wheel"}
TASKS = ("estimation", "simulation")
STEP_LIMIT, LATE_LIMIT = 3.2, 1.2
FLOOR_NS = 1000.0  # lateness below it is that of the clock's reading
FIRST_S = 0.5  # of each run: the start
DRAWS = 2000
LEAST_ROUNDS = 6  # below them an interval is none


@dataclass(frozen=True)
class Run:
    """One run's figures of a task."""

    step_ns: float
    """Median of the blocks' time without the exchange."""
    cycle_ns: float
    """Median of the blocks' time with the exchange."""
    late: Histogram
    done: Histogram
    """Lateness of the end of a cycle, from its deadline."""


def measure(rig: Path, seconds: float, runs: Path) -> dict[str, Run]:
    """Return the figures of each task of a run."""
    command = [sys.executable, "-m", "rigloop", "run", str(rig), "--for", str(seconds)]
    done = subprocess.run(
        [*command, "--runs", str(runs), "--json"], capture_output=True, text=True, check=False
    )
    if not done.stdout:
        sys.exit(f"{rig.stem}: {done.stderr}")
    folder = Path(json.loads(done.stdout)["folder"])
    timing = json.loads((folder / "manifest.json").read_text())["timing"]
    found = {}
    for task in TASKS:
        record = open_record(folder / f"{task}.npy")
        rows = record[record["t_ns"] > FIRST_S * 1e9]
        late = rows[f"loop/{task}/late_ns"]
        busy = rows[f"loop/{task}/step_ns"] + rows[f"loop/{task}/bus_ns"]
        step_ns, cycle_ns = timing[task]["step"]["p50"], float(np.median(busy))
        found[task] = Run(step_ns, cycle_ns, Histogram.of(late), Histogram.of(late + busy))
    return found


def rigs_of(folder: Path, spin: bool) -> dict[str, Path]:
    """Write the rigs of the variants, without their spin if it is not wanted."""
    rigs = {}
    for name in set(VARIANTS.values()):
        text = find_rig(name).read_text()
        rigs[name] = folder / f"{name}.toml"
        rigs[name].write_text(text if spin else re.sub(r"(?m)^spin_us.*", "spin_us = 0", text))
    return rigs


def rounds_of(
    rigs: dict[str, Path], rounds: int, seconds: float, until: float
) -> list[dict[str, dict[str, Run]]]:
    """Return the rounds from which the host took little, none of them begun after a moment."""
    found: list[dict[str, dict[str, Run]]] = []
    for number in range(rounds):
        if time.monotonic() > until:
            break
        now, worst = {}, 0
        for variant in random.sample(list(VARIANTS), len(VARIANTS)):
            before = steal_ticks() or 0
            with tempfile.TemporaryDirectory() as runs:
                now[variant] = measure(rigs[VARIANTS[variant]], seconds, Path(runs))
            worst = max(worst, (steal_ticks() or 0) - before)
        if worst <= MOST_STEAL:
            found.append(now)
        print(f"round {number + 1} of {rounds}, {worst} ticks stolen", file=sys.stderr)
    if not found:
        sys.exit("the host took too much of every round")
    return found


def together(histograms: list[Histogram]) -> Histogram:
    """Return the histogram of all."""
    most_ns = max(one.max_ns for one in histograms)
    return Histogram(np.sum([one.counts for one in histograms], axis=0), max_ns=most_ns)


def ratio_of(pairs: list[tuple[Histogram, Histogram]], p: float) -> tuple[float, float, float]:
    """Return a percentile's ratio, first to second of all pairs together, with its interval, by drawing pairs again."""

    def ratio(drawn: list[tuple[Histogram, Histogram]]) -> float:
        first, second = (together(list(side)).percentile(p) for side in zip(*drawn, strict=True))
        return max(first, FLOOR_NS) / max(second, FLOOR_NS)

    drawn = [ratio(random.choices(pairs, k=len(pairs))) for _ in range(DRAWS)]
    low, high = np.percentile(drawn, (2.5, 97.5))
    return float(low), ratio(pairs), float(high)


def judged(n: int, low: float, high: float, limit: float) -> str:
    """Return what an interval of n rounds says of a bar."""
    if n < LEAST_ROUNDS or low <= limit < high:
        return "open"
    return "holds" if high <= limit else "fails"


def table(found: list[dict[str, dict[str, Run]]]) -> list[dict[str, object]]:
    """Return a row a task, figure and variant."""
    rows: list[dict[str, object]] = []
    for task in TASKS:
        for variant in ("three", "again"):
            runs = [(now[variant][task], now["one"][task]) for now in found]
            late = [(a.late, b.late) for a, b in runs]
            done = [(a.done, b.done) for a, b in runs]
            for figure, ratios, limit in (
                ("step p50", median_interval([a.step_ns / b.step_ns for a, b in runs]), STEP_LIMIT),
                (
                    "cycle p50",
                    median_interval([a.cycle_ns / b.cycle_ns for a, b in runs]),
                    STEP_LIMIT,
                ),
                ("late p99", ratio_of(late, 99), LATE_LIMIT),
                ("late p99.9", ratio_of(late, 99.9), None),
                ("done p99", ratio_of(done, 99), None),
            ):
                low, middle, high = ratios
                bar = limit if variant == "three" else None
                rows.append(
                    {"task": task, "figure": figure, "variant": variant, "ratio": middle, "low": low, "high": high,
                     "limit": bar, "said": "" if bar is None else judged(len(found), low, high, bar)}
                )  # fmt: skip
    return rows


def main(
    seconds: Annotated[float, typer.Option(help="of each run")] = 3.0,
    rounds: int = 12,
    most_s: Annotated[float, typer.Option(help="begin no round after so long")] = 600.0,
    spin: Annotated[bool, typer.Option("--spin", help="with the spin of the rigs")] = False,
    as_json: JsonFile = None,
) -> None:
    """Measure, print the table, and judge."""
    with tempfile.TemporaryDirectory() as folder:
        rigs = rigs_of(Path(folder), spin)
        found = rounds_of(rigs, rounds, seconds, time.monotonic() + most_s)
    rows = table(found)
    if as_json:
        as_json.write_text(json.dumps({"rounds": len(found), "rows": rows}, indent=1))
    for task in TASKS:
        for variant in VARIANTS:
            runs = [now[variant][task] for now in found]
            late, done = (together([getattr(r, n) for r in runs]) for n in ("late", "done"))
            step = sorted(r.step_ns for r in runs)[len(runs) // 2]
            print(
                f"{task:11} {variant:6} step p50 {step / 1e3:6.2f} us   late p50 {late.percentile(50) / 1e3:6.2f}, p99 "
                f"{late.percentile(99) / 1e3:6.2f}, p99.9 {late.percentile(99.9) / 1e3:7.2f} us   done p99 "
                f"{done.percentile(99) / 1e3:6.2f} us"
            )
    print(f"\n{'task':11} {'to one':6} {'figure':10} {'ratio':>6}  95 % interval  limit")
    for row in rows:
        limit = "" if row["limit"] is None else f"{row['limit']:.1f}"
        print(
            f"{row['task']:11} {row['variant']:6} {row['figure']:10} {row['ratio']:6.2f}  {row['low']:5.2f} – "
            f"{row['high']:5.2f}  {limit:>5} {row['said']}"
        )
    said = {row["said"] for row in rows}
    raise typer.Exit(1 if "fails" in said else 2 if "open" in said else 0)


if __name__ == "__main__":
    typer.run(main)
