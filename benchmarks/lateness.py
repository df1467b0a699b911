"""The lateness of cycles: ours beside Debian's cyclictest, under loads, with bars.

    python benchmarks/lateness.py [--quick] [--only SECTION]... [--json FILE] [--core 1]

A default run takes some ten minutes, --quick some two. Sections:

1ms, 100us         our loop without and with a spin, and cyclictest: same period, priority and core, memory locked.
                   Each on a quiet machine, with other processes busy (garbage collection in Python, a thousand
                   messages a second), and under stress-ng (cpu, vm, sock, hdd)
pairs              our 1 ms loop with a spin of 200 µs and cyclictest in turn, 30 pairs (--rounds): the median of the
                   pairs' ratios with its 95 % interval
python             a thread of the same process that holds Python's lock nearly always, against none
consumers          the recorder stopped, killed, or with its disk full, against one that drains; and whether every
                   cycle is accounted for
together           a 100 µs and a 1 ms task on cores of their own, together against each alone
instrumentation    the explanation of late cycles on against off, and what it takes itself

Every round runs all variants of a section in random order; a figure is the median over the rounds of each
round's percentile, a ratio that of two such medians. Kept are the rounds from whose runs the hypervisor took
least, and none from which it took more than 5 ticks (50 ms): what a host does to the tail is no property of either
program. For the same reason no maximum is judged. What a host takes and does not tell is still in there: "awake" is
our loop that sleeps for a tenth of its period only, and shows how late even that begins. Lateness below 0.1 µs
counts as 0.1 µs.

Needs FIFO priorities, and `sudo apt install rt-tests stress-ng`; a missing one is named and left out. Run it on a
machine that does nothing else: the load is printed at the beginning and the end.

Exit code 0: every bar holds. 1: one does not. 2: nothing fails, but something could not be measured.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import instrumentation
import typer
from rich.console import Console
from timing import consumers
from timing.bars import Row, compared, judged_rounds, show, skipped
from timing.fifo import need_fifo
from timing.loads import beside, hold_lock, load, missing
from timing.options import JsonFile
from timing.rounds import FLOOR_US, Lateness, Rounds, interleaved, median_interval
from timing.sleepers import cyclictest, missing_cyclictest, run_loop, task

from rt_core.host.facts import host_facts, steal_ticks

WIDTH = 120  # of the table, also where no terminal says its own
LOADS = ("quiet", "busy", "stress-ng")
SPIN_US = {1000: 200, 100: 40}
AWAKE = 0.85  # of the period: a loop takes no more, with its work
PAIRED = 0.3  # upper end of the interval
PAIRS = 30
NO_SPIN = {"p50": None, "p99": 1.2, "p99_9": 2.0}
SPIN = {1000: {"p50": None, "p99": 0.25, "p99_9": 0.5}, 100: {"p99": None, "p99_9": None}}


@dataclass(frozen=True)
class Bench:
    """The settings of a measurement: how, and where."""

    core: int
    rounds: int
    seconds: float
    """Lateness of one run."""
    folder: Path
    tell: Callable[[str], None]
    pairs: int = PAIRS

    def interleaved(self, section: str, **variants: Callable[[], Lateness]) -> Rounds:
        """Run variants side by side; `_` in their names stands for a space."""
        named = {name.replace("_", " "): run for name, run in variants.items()}
        rounds = self.pairs if section == "pairs" else self.rounds
        return interleaved(named, rounds, lambda text: self.tell(f"{section}: {text}"))

    def ours(self, period_us: int, spin_us: int, seconds: float) -> Lateness:
        """Run a task alone."""
        return run_loop([task(period_us, self.core, spin_us)], seconds, self.folder)[0]


def beside_cyclictest(period_us: int, bench: Bench) -> list[Row]:
    """Our loop without and with a spin beside cyclictest, under each load."""
    # a tenth of the period gives ten times the cycles: half the time is enough for its tail
    seconds = bench.seconds if period_us >= 1000 else bench.seconds / 2
    spin_us = SPIN_US[period_us]
    spin = f"spin {spin_us}"
    words = "1ms" if period_us == 1000 else f"{period_us}us"
    rows: list[Row] = []
    for name in LOADS:
        section = f"{words}, {name}"
        lacks = missing(name) or missing_cyclictest()
        if lacks:
            rows.append(skipped(section, "beside cyclictest", lacks))
            continue
        with load(name):
            rounds = bench.interleaved(
                section,
                cyclictest=partial(cyclictest, period_us, seconds, bench.core, bench.folder),
                no_spin=partial(bench.ours, period_us, 0, seconds),
                awake=partial(bench.ours, period_us, round(AWAKE * period_us), seconds),
                **{spin.replace(" ", "_"): partial(bench.ours, period_us, spin_us, seconds)},
            )
        rows += compared(section, "no spin / cyclictest", rounds, "no spin", "cyclictest", NO_SPIN)
        rows += compared(
            section, f"{spin} / cyclictest", rounds, spin, "cyclictest", SPIN[period_us]
        )
        shown = {"p99": None, "p99_9": None}
        rows += compared(section, "awake / cyclictest", rounds, "awake", "cyclictest", shown)
    return rows


def in_pairs(bench: Bench) -> list[Row]:
    """Our loop with a spin and cyclictest, pair by pair: the median ratio with its interval."""
    section = "pairs"
    lacks = missing_cyclictest()
    if lacks:
        return [skipped(section, "spin 200 / cyclictest", lacks)]
    rounds = bench.interleaved(
        section,
        cyclictest=partial(cyclictest, 1000, bench.seconds, bench.core, bench.folder),
        ours=partial(bench.ours, 1000, SPIN_US[1000], bench.seconds),
    )
    if not rounds.n:
        return [
            skipped(
                section, "spin 200 / cyclictest", f"all rounds dropped: {rounds.error or 'steal'}"
            )
        ]
    rows = []
    for figure, bar in (("p99", None), ("p99_9", PAIRED)):
        ours, other = (
            [max(FLOOR_US, getattr(run, figure)) for run in rounds.found[name]]
            for name in ("ours", "cyclictest")
        )
        low, middle, high = median_interval([a / b for a, b in zip(ours, other, strict=True)])
        rows.append(
            Row(
                section, f"spin 200 / cyclictest, {figure.replace('_', '.')}, {low:.3g} to {high:.3g}",
                f"{statistics.median(ours):.1f}", f"{statistics.median(other):.1f}", middle,
                "" if bar is None else f"≤ {bar:g}", None if bar is None else high <= bar, judged_rounds(rounds),
            )
        )  # fmt: skip
    return rows


def beside_python(bench: Bench) -> list[Row]:
    """A thread of Python in our process, and none."""

    def held() -> Lateness:
        with beside(hold_lock):
            return bench.ours(1000, 0, bench.seconds)

    rounds = bench.interleaved(
        "python", lock_held=held, alone=partial(bench.ours, 1000, 0, bench.seconds)
    )
    bars = {"p50": None, "p99": 1.4, "p99_9": None}
    return compared("python", "lock held / no thread", rounds, "lock held", "alone", bars)


def beside_consumers(bench: Bench) -> list[Row]:
    """Consumers that fail, and one that does not."""
    lacks = consumers.missing_small_disk()
    variants = [name for name in consumers.VARIANTS if not (lacks and name == "disk full")]
    rounds = bench.interleaved(
        "consumers",
        **{
            name.replace(" ", "_"): partial(
                consumers.run, name, 0.6 * bench.seconds, bench.core, bench.folder
            )
            for name in variants
        },
    )
    rows: list[Row] = [skipped("consumers", "disk full", lacks)] if lacks else []
    for name in variants[1:]:
        rows += compared("consumers", f"{name} / draining", rounds, name, "draining", {"p99": 1.25})
    runs = [lateness.facts for name in variants for lateness in rounds.found[name]]
    if not runs:
        return rows
    exact = sum(map(consumers.is_exact, runs))
    dropped = sum(facts["dropped"] for facts in runs)
    unwritten = sum(facts.get("unwritten", 0) for facts in runs)
    rows.append(
        Row(
            "consumers", "produced = consumed + dropped", f"{exact} of {len(runs)} runs",
            bar="all", holds=exact == len(runs),
            remark=f"{sum(f['produced'] for f in runs)} produced, {dropped} dropped, {unwritten} not written",
        )
    )  # fmt: skip
    return rows


def beside_each_other(bench: Bench) -> list[Row]:
    """Both tasks together, and each alone."""
    seconds = 0.6 * bench.seconds
    other = next(iter(sorted(os.sched_getaffinity(0) - {bench.core})), bench.core)
    fast = partial(task, 100, bench.core, work_us=10, priority=90)
    slow = partial(task, 1000, other, work_us=150)

    def both() -> Lateness:
        first, second = run_loop([fast(), slow()], seconds, bench.folder)
        first.facts["slow"] = second
        return first

    rounds = bench.interleaved(
        "together",
        both=both,
        fast_alone=lambda: run_loop([fast()], seconds, bench.folder)[0],
        slow_alone=lambda: run_loop([slow()], seconds, bench.folder)[0],
    )
    rounds.found["slow of both"] = rounds.facts("both", "slow")
    bars = {"p99": 1.5, "p99_9": None}
    rows = compared("together", "100 µs task, both / alone", rounds, "both", "fast alone", bars)
    rows += compared(
        "together", "1 ms task, both / alone", rounds, "slow of both", "slow alone", bars
    )
    if rounds.n:
        own = sum(rounds.facts("slow of both", "own"))
        rows.append(
            Row("together", "1 ms task, own overruns", str(own), bar="0", holds=own == 0)
        )  # fmt: skip
    return rows


def with_instruments(bench: Bench) -> list[Row]:
    """The explanation of late cycles, on and off; with the spin, where its cost is not lost in the wake."""

    def run(explains: bool) -> Lateness:
        table = bench.folder / "table"
        table.unlink(missing_ok=True)
        found = instrumentation.run(table, bench.core, True, explains, bench.seconds, 200_000)
        behind = found.percentiles
        return Lateness(*behind, n=0, facts={"late": found.late_p99, "itself": found.explain[2]})

    rounds = bench.interleaved("instrumentation", on=partial(run, True), off=partial(run, False))
    section = "instrumentation"
    rows = compared(section, "whole cycle, on / off", rounds, "on", "off", {"p50": None})
    if rounds.n:
        itself = statistics.median(rounds.facts("on", "itself"))
        late = [
            max(FLOOR_US, statistics.median(rounds.facts(name, "late"))) for name in rounds.found
        ]
        rows += [
            Row(
                section, "a cycle's explanation, p99.9", f"{itself:.2f}",
                bar="≤ 2 µs", holds=itself <= 2,
            ),
            Row(
                section, "late, on / off, p99", f"{late[0]:.1f}", f"{late[1]:.1f}", late[0] / late[1],
                "≤ 1.1", late[0] <= 1.1 * late[1],
            ),
        ]  # fmt: skip
    return rows


SECTIONS: dict[str, Callable[[Bench], list[Row]]] = {
    "1ms": partial(beside_cyclictest, 1000),
    "100us": partial(beside_cyclictest, 100),
    "pairs": in_pairs,
    "python": beside_python,
    "consumers": beside_consumers,
    "together": beside_each_other,
    "instrumentation": with_instruments,
}
Section = StrEnum("Section", {name: name for name in SECTIONS})


def main(
    quick: Annotated[
        bool, typer.Option("--quick", help="3 short rounds: a trial of the command")
    ] = False,
    only: Annotated[
        list[Section] | None, typer.Option(help="a part of the measurements; repeatable")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(help="5, or 3 with --quick; pairs: 30, or 3")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="of one run: 4, or 1.2 with --quick")
    ] = None,
    core: int = instrumentation.LAST_CORE,
    as_json: JsonFile = None,
) -> None:
    """Measure, print, judge."""
    console = Console()
    console.width = max(console.width, WIDTH)
    need_fifo(90, core, console)
    began, steal = time.monotonic(), steal_ticks() or 0
    host = host_facts()
    each = rounds or (3 if quick else 5)
    console.print(
        f"{host['cpus']} × {host['cpu']}, kernel {host['kernel']} {host['preemption']}, "
        f"core {core}, load {host['load'][0]:.1f}"
    )
    if host["load"][0] > 0.5:
        console.print("[yellow]others are busy on this machine: quiet is not quiet[/]")
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, console.status("") as status:
        bench = Bench(
            core,
            each,
            seconds or (1.2 if quick else 4.0),
            Path(folder),
            lambda text: status.update(f"{time.monotonic() - began:.0f} s  {text}"),
            rounds or (3 if quick else PAIRS),
        )
        for name in only or SECTIONS:
            try:
                found = SECTIONS[name](bench)
            except (OSError, RuntimeError, subprocess.SubprocessError) as error:
                found = [skipped(name, "", f"{type(error).__name__}: {error}")]
            rows += found
            status.stop()
            show(found, console)
            status.start()
    judged = [row for row in rows if row.holds is not None]
    bad = [row for row in judged if not row.holds]
    lacking = [row for row in rows if row.ours == "not measured"]
    console.print(
        f"{time.monotonic() - began:.0f} s, steal {(steal_ticks() or 0) - steal} ticks, "
        f"load {os.getloadavg()[0]:.1f}\n[bold]{len(judged) - len(bad)} of {len(judged)} bars hold[/]"
        + (f", {len(lacking)} not measured" if lacking else "")
    )
    for row in bad:
        figure = row.ours if row.ratio is None else f"{row.ratio:.3g}"
        console.print(
            f"  [red]does not hold[/]  {row.section}: {row.what}: {figure}, bar {row.bar}"
        )
    if as_json:
        message = {
            "host": host,
            "rounds": each,
            "seconds": bench.seconds,
            "rows": [row.as_dict() for row in rows],
        }
        as_json.write_text(json.dumps(message, indent=1, ensure_ascii=False))
    raise typer.Exit(1 if bad else 2 if lacking else 0)


if __name__ == "__main__":
    typer.run(main)
