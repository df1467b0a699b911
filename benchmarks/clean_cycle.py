"""Nothing in the cycle faults a page, allocates, calls Python, or blocks but to wait: counted on the steering rig.

    python benchmarks/clean_cycle.py [--seconds 60] [--json FILE]

The loop runs in a process of its own with a preloaded library (clean/poison.c) that counts what the task
threads allocate and every function of Python's C interface that they call, from whatever module, kernels
included. Page faults and context switches of each thread are the kernel's counts. Meanwhile the process
holds the interpreter's lock for long stretches: a cycle that needed it would stand still.

At the end a control runs: a block that allocates and takes the lock on purpose, all of which has to be seen.

Exit code 0: all zero, and the control was seen. 1: not so. Needs gcc, and x86-64 for the calls of Python.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from timing.options import JsonFile

from rigloop.display.tables import Table, figures, words
from rigloop.display.tables import show as show_table

PARTS = Path(__file__).parent / "clean"


def look(seconds: float) -> dict[str, Any]:
    """Run the loop for so long; return what was counted (see clean/cycle.py)."""
    # the table in memory: a disk's file system takes its pages back to write them out
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        for name in ("poison", "bad_block"):
            source = str(PARTS / f"{name}.c")
            library = f"{folder}/{name}.so"
            subprocess.run(
                ["gcc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True
            )
        done = subprocess.run(
            [
                sys.executable, "-P", str(PARTS / "cycle.py"),
                f"{folder}/table", str(seconds), f"{folder}/bad_block.so",
            ],
            capture_output=True,
            text=True,
            timeout=seconds + 240,
            env=os.environ | {"LD_PRELOAD": f"{folder}/poison.so", "MALLOC_ARENA_MAX": "1"},
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(
            f"the loop's process ended with {done.returncode}: {done.stderr[-2000:]}"
        )
    return json.loads(done.stdout.splitlines()[-1])


def faults(found: dict[str, Any]) -> list[str]:
    """Return everything that is not as it must be."""
    wrong = []
    for task, counts in found["tasks"].items():
        if counts["cycles"] < 500:
            wrong.append(f"{task}: only {counts['cycles']} cycles")
        for name in ("minor_faults", "major_faults"):
            if counts[name]:
                wrong.append(f"{task}: {counts[name]} {name.replace('_', ' ')}")
        # counters are read while cycles go on
        if counts["waits"] > counts["cycles"] + 3:
            wrong.append(f"{task}: {counts['waits']} waits in {counts['cycles']} cycles")
    if found["allocations"]:
        wrong.append(f"{found['allocations']} allocations")
    if found["python_calls"]:
        wrong.append(f"{found['python_calls']} calls of Python: {', '.join(found['functions'])}")
    for cycles, seconds in found["locked"]:
        if cycles <= 0.1 * seconds / 200e-6:
            wrong.append(f"{cycles} cycles in {seconds:.2f} s of a locked interpreter")
    control = found["control"]
    if control["allocations"] < 2 * control["cycles"] or not control["cycles"]:
        wrong.append("allocations of the control were not seen")
    if found["jumps"] < 0:
        wrong.append("calls of Python cannot be seen on this processor")
    elif control["python_calls"] < 2 * control["cycles"]:
        wrong.append("calls of the control were not seen")
    if not found["memory_lock"]:
        wrong.append("memory could not be locked: page faults mean nothing")
    return wrong


def show(found: dict[str, Any], console: Console) -> None:
    """Print the counters."""
    counted = ("cycles", "minor faults", "major faults", "waits", "preempted")
    rows = [
        [task, *(str(counts[name.replace(" ", "_")]) for name in counted)]
        for task, counts in found["tasks"].items()
    ]
    show_table(Table([*words(""), *figures(*counted)], rows), console)
    elsewhere, control = found["elsewhere"], found["control"]
    longest = max(seconds for _, seconds in found["locked"])
    console.print(
        f"allocations in the cycle: {found['allocations']} ({elsewhere['allocations']} elsewhere)\n"
        f"calls of Python in the cycle: {found['python_calls']} ({elsewhere['python_calls']} elsewhere, "
        f"{found['jumps']} jumps watched)\n"
        f"interpreter held {len(found['locked'])} times, up to {longest:.2f} s\n"
        f"control, {control['cycles']} cycles: {control['allocations']} allocations and "
        f"{control['python_calls']} calls seen"
    )


def main(
    seconds: float = 60.0,
    as_json: JsonFile = None,
) -> None:
    """Run, print, judge."""
    console = Console()
    found = look(seconds)
    wrong = faults(found)
    show(found, console)
    for line in wrong:
        console.print(f"[red]{line}[/]", highlight=False)
    verdict = "does not hold" if wrong else "holds"
    console.print(f"bar: 0, 0, 0 over {seconds:g} s: [bold]{verdict}[/]")
    if as_json:
        message = found | {"seconds": seconds, "wrong": wrong}
        as_json.write_text(json.dumps(message, indent=1))
    raise typer.Exit(1 if wrong else 0)


if __name__ == "__main__":
    typer.run(main)
