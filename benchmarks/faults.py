"""Every fault that can be injected, again and again: found, met as stated, at zero torque in time, nothing left?

    python benchmarks/faults.py [--repeats 50] [--rig fault_bench] [--only sensor-nan,link-down] [--json FILE]

Each repeat runs all rows in random order, each in live processes of its own (`rigloop.bench.fault_trials`).
Printed is a row a fault: how often it was found as stated, met as stated, was at zero within its bound;
the worst cycles to zero beside the bound; and what was left behind.
A row that was not as stated is printed with the reason and keeps its run folder.
Interrupted, it prints what it has.

Real time: needs FIFO priorities and a core for each task. A host that takes the machine away for longer than the
rig's limits ends a run before its fault began: such a fault is tried again, and counted as spoilt. Once a fault has
begun nothing is dropped, whatever the host did.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from timing.options import JsonFile

from rigloop.bench.fault_trials import (
    Tried,
    attempt,
    ends_at_zero,
    rigs_for,
    sweep,
    trials,
    warm_up,
)
from rigloop.compose.wiring import load
from rigloop.inject.faults import FAULTS
from rigloop.inject.limits import limits_of
from rigloop.run_folder.manifest import Injected
from rt_core.host.facts import steal_ticks

TRIES = 4


@dataclass
class Row:
    """The outcome of one fault over all repeats."""

    name: str
    stated: str = ""
    repeats: int = 0
    found: int = 0
    met: int = 0
    in_time: int = 0
    good: int = 0
    worst_to_find: int = 0
    to_find_bound: int = 0
    worst_to_zero: int | None = None
    worst_back_s: float | None = None
    to_zero_bound: int | None = None
    left: int = 0
    spoilt: int = 0  # ended before the fault began; tried again
    why: dict[str, int] = field(default_factory=dict)

    def add(self, injected: Injected, left: int) -> None:
        """Count one repeat."""
        self.repeats += 1
        self.stated = injected.stated
        self.good += injected.good and not left
        self.found += injected.began is not None and (
            injected.to_find is None or injected.to_find <= injected.to_find_bound
        )
        self.met += injected.reaction == injected.stated
        self.left += left
        self.to_find_bound, self.to_zero_bound = injected.to_find_bound, injected.to_zero_bound
        if injected.to_find is not None:
            self.worst_to_find = max(self.worst_to_find, injected.to_find)
        if injected.back_s is not None:
            self.worst_back_s = max(self.worst_back_s or 0.0, injected.back_s)
        if ends_at_zero(injected):
            zero, bound = injected.to_zero, injected.to_zero_bound
            self.in_time += zero is not None and bound is not None and zero <= bound
            if zero is not None:
                self.worst_to_zero = max(self.worst_to_zero or 0, zero)
        else:
            self.in_time += injected.good
        for words in injected.why:
            self.why[words] = self.why.get(words, 0) + 1


def show(rows: dict[str, Row], seconds: float, steal: int) -> None:
    """Print the table."""
    head = (
        "fault",
        "stated",
        "repeats",
        "found",
        "reaction",
        "in time",
        "to find",
        "bound",
        "to zero",
        "bound",
        "left",
        "spoilt",
    )
    line = "{:18} {:7} {:>7} {:>7} {:>8} {:>8} {:>8} {:>6} {:>8} {:>6} {:>5} {:>7}"
    print(line.format(*head))
    for row in rows.values():
        zero = "-" if row.worst_to_zero is None else str(row.worst_to_zero)
        bound = "-" if row.to_zero_bound is None else str(row.to_zero_bound)
        print(
            line.format(
                row.name, row.stated, row.repeats, row.found, row.met, row.in_time, row.worst_to_find,
                row.to_find_bound, zero, bound, row.left, row.spoilt,
            )
        )  # fmt: skip
    for row in rows.values():
        if row.worst_back_s is not None:
            print(f"{row.name}: in OP again {row.worst_back_s:.2f} s after the cable at worst")
    bad = {row.name: row.why for row in rows.values() if row.good < row.repeats}
    for name, why in bad.items():
        for words, n in sorted(why.items(), key=lambda item: -item[1]):
            print(f"{name}: {n} × {words}")
    n = sum(row.repeats for row in rows.values())
    good = sum(row.good for row in rows.values())
    machine = f"{steal} ticks stolen, load {os.getloadavg()[0]:.1f}"
    print(f"{good} of {n} as stated, {len(rows)} rows, {seconds:.0f} s, {machine}")


def main(
    repeats: int = 50,
    rig: str = "fault_bench",
    only: Annotated[str | None, typer.Option(help="names, with commas between them")] = None,
    as_json: JsonFile = None,
    runs: Annotated[
        Path | None, typer.Option(help="folder for the runs; those as stated are taken away")
    ] = None,
) -> None:
    """Run the benchmark; 0 when every repeat of every row was as stated."""
    names = only.split(",") if only else list(FAULTS)
    unknown = sorted(set(names) - set(FAULTS))
    if unknown:
        raise typer.BadParameter(f"no fault {', '.join(unknown)}; `rigloop faults` lists them")
    bench = load(rig)
    rigs = rigs_for(bench)
    for loaded in rigs.values():
        warm_up(loaded)
    limits = limits_of(bench.rig)
    rows = {name: Row(name) for name in names}
    begin, steal = time.monotonic(), steal_ticks() or 0
    with tempfile.TemporaryDirectory(prefix="faults-") as scratch:
        folder = runs or Path(scratch)
        try:
            for repeat in range(repeats):
                left = names
                for _ in range(TRIES):
                    todo = trials(left, limits)
                    random.shuffle(todo)
                    left = [
                        name
                        for trial in todo
                        for name in take(attempt(rigs[trial.needs], trial, folder), rows, repeat)
                    ]
                if as_json:
                    as_json.write_text(json.dumps([asdict(row) for row in rows.values()], indent=1))
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
        show(rows, time.monotonic() - begin, (steal_ticks() or 0) - steal)
    raise typer.Exit(int(any(row.good < row.repeats for row in rows.values())))


def take(tried: Tried, rows: dict[str, Row], repeat: int) -> list[str]:
    """Count a trial; keep the folder of one that was not as stated. Return the faults that did not begin."""
    again = []
    for name, injected in tried.faults:
        if not injected.good and not injected.tried:
            rows[name].spoilt += 1
            again.append(name)
            continue
        rows[name].add(injected, len(tried.left))
        if not injected.good or tried.left:
            words = "; ".join([*injected.why, *(f"left: {line[:120]}" for line in tried.left)])
            print(
                f"repeat {repeat}: {injected.asked}: {words} ({tried.folder})",
                file=sys.stderr,
                flush=True,
            )
    if all(injected.good for _, injected in tried.faults) and not tried.left:
        sweep(tried.folder)
    return again


if __name__ == "__main__":
    typer.run(main)
