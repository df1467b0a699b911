"""SIGKILL at random moments of a live run, to its supervisor, its loop, its recorder, or all at once: what is lost?

    python benchmarks/kills.py --kills 100 --json

Each run is a `rigloop run` of its own, killed at a random moment from the first line of its manifest to its last cycle;
then `rigloop report` has to rebuild verdict and report, and to leave nothing in shared memory. *Lost* is the time from
the newest cycle in the record, of the task that lacks most, to the last one that was stepped, or to the kill where the
loop was killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rigloop.display.tables import Table, figures, words
from rigloop.display.tables import show as show_table
from rigloop.run_folder.last_state import record_of
from rigloop.run_folder.manifest import Manifest, ManifestError, read_manifest
from rigloop.run_folder.process_state import Process
from rigloop.run_folder.tables import is_orphan

VICTIMS = ("all", "supervisor", "cycle", "recorder")
COMMAND = (sys.executable, "-P", "-m", "rigloop")
MOST_LOST_MS = 50.0
TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Kill:
    """One run that was killed.

    Attributes
    ----------
    victim : str
    state : str
        Of the manifest, at the kill.
    rebuilt : bool
        The report is there, and the verdict is one, and not good.
    lost_ms : float or None
        None: no cycle had been stepped.
    left : list of str
        Tables and processes of the run that were still there after the report.
    words : str
        What the report said first.
    """

    victim: str
    state: str
    rebuilt: bool
    lost_ms: float | None
    left: list[str]
    words: str


def main(
    kills: int = 100,
    rig: str = "steering_wheel",
    seconds: Annotated[float, typer.Option(help="how long each run would be")] = 1.5,
    seed: int = 1,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Kill, report, judge; 0: every report was rebuilt, and not more was lost than the bar allows."""
    rng = random.Random(seed)
    console = Console(stderr=True)
    found = []
    with tempfile.TemporaryDirectory() as runs:
        for number in range(kills):
            victim = VICTIMS[number % len(VICTIMS)]
            found.append(kill_one(rig, victim, seconds, Path(runs) / str(number), rng))
            console.print(
                f"{number + 1:4d}  {found[-1]}", highlight=False, soft_wrap=True, markup=False
            )
    summary = summarise(found)
    if as_json:
        print(
            json.dumps(
                {"load": os.getloadavg(), "kills": [asdict(k) for k in found], **summary}, indent=2
            )
        )
    else:
        show(found)
    raise typer.Exit(int(not summary["good"]))


def kill_one(rig: str, victim: str, seconds: float, runs: Path, rng: random.Random) -> Kill:
    """Start a run, kill, wait for the end of what is left, report."""
    command = [*COMMAND, "run", rig, "--for", str(seconds), "--runs", str(runs), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    folder = wait_for_folder(runs, process)
    # a tenth of them while the run starts, the others once there is a record
    if rng.random() < 0.1:
        time.sleep(rng.uniform(0.0, 0.5))
    else:
        wait_for(
            lambda: record_of(folder / "simulation.npy").size > 0 or process.poll() is not None
        )
        time.sleep(rng.uniform(0.0, seconds))
    # a victim that has not begun cannot be killed
    wait_for(lambda: is_there(folder, victim) or process.poll() is not None)
    before = read_manifest(folder)
    killed_ns = kill(before, victim)
    process.wait(TIMEOUT_S)
    wait_for(lambda: not living(before))
    done = subprocess.run(
        [*COMMAND, "report", str(folder), "--json"], capture_output=True, text=True
    )
    rebuilt, words = False, done.stderr.strip()[-200:]
    try:
        after = read_manifest(folder)
        rebuilt = (
            done.returncode == 1
            and after.verdict == "bad"
            and after.state in ("interrupted", "ended", "not started")
            and (folder / "report.html").exists()
        )
        words = after.reasons[0] if after.reasons else words
        lost = lost_ms(folder, after, killed_ns if victim in ("all", "cycle") else None)
    except ManifestError as error:
        lost, words = None, str(error)
    left = [before.table] if before.table and is_orphan(before.table) else []
    left += [f"{role} {pid}" for role, pid in living(before).items()]
    return Kill(victim, before.state, rebuilt, lost, left, words)


def is_there(folder: Path, victim: str) -> bool:
    """Tell whether the process that is to be killed has begun."""
    return victim == "all" or victim in read_manifest(folder).processes


def wait_for_folder(runs: Path, process: subprocess.Popen[bytes]) -> Path:
    """Wait for the manifest of a run."""
    wait_for(lambda: any(runs.glob("*/manifest.json")) or process.poll() is not None)
    return next(runs.glob("*/manifest.json")).parent


def wait_for(condition: object) -> None:
    """Poll until it is true."""
    until = time.monotonic() + TIMEOUT_S
    while not condition():  # type: ignore[operator]
        if time.monotonic() > until:
            raise TimeoutError("nothing happened")
        time.sleep(0.002)


def kill(manifest: Manifest, victim: str) -> int:
    """Kill one process or all of a run; return when, by CLOCK_MONOTONIC."""
    roles = manifest.processes if victim == "all" else (victim,)
    targets = [manifest.processes[role].pid for role in roles if role in manifest.processes]
    at = time.monotonic_ns()
    if victim == "all":
        # what is started between two kills is not to survive
        for pid in targets:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
    for pid in targets:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return at


def living(manifest: Manifest) -> dict[str, int]:
    """Return the processes of a run that still live."""
    return {
        role: p.pid for role, p in manifest.processes.items() if Process(p.pid, p.start_ticks).lives
    }


def lost_ms(folder: Path, manifest: Manifest, killed_ns: int | None) -> float | None:
    """Return how much time of the run is in no record."""
    worst = None
    for facts in manifest.tasks.values():
        record = record_of(folder / facts.record)
        cycles = max(facts.cycles, len(record))
        if not cycles:
            continue
        lost = (cycles - len(record)) * facts.period_ns * 1e-6
        first = first_cycle_ns(folder)
        if killed_ns is not None and first and len(record):
            lost = max(lost, (killed_ns - first - int(record["t_ns"][-1])) * 1e-6)
        worst = max(worst or 0.0, lost)
    return worst


def first_cycle_ns(folder: Path) -> int:
    """Return the moment of t_ns = 0."""
    try:
        return int(json.loads((folder / "cycle.json").read_text())["first_cycle_ns"])
    except (OSError, ValueError, KeyError):
        return 0


def summarise(kills: list[Kill]) -> dict[str, object]:
    """Return the figures of all kills together."""
    lost = [kill.lost_ms for kill in kills if kill.lost_ms is not None]
    rebuilt = sum(kill.rebuilt for kill in kills)
    left = sum(bool(kill.left) for kill in kills)
    return {
        "n": len(kills),
        "rebuilt": rebuilt,
        "lost_median_ms": statistics.median(lost) if lost else None,
        "lost_worst_ms": max(lost, default=None),
        "with_leftovers": left,
        "good": rebuilt == len(kills) and not left and max(lost, default=0.0) <= MOST_LOST_MS,
    }


def show(kills: list[Kill]) -> None:
    """Print the table: a row a victim, and all."""
    rows = []
    for victim in (*VICTIMS, "together"):
        part = [kill for kill in kills if victim in ("together", kill.victim)]
        found = summarise(part)
        lost = [found[name] for name in ("lost_median_ms", "lost_worst_ms")]
        cells = ["–" if value is None else f"{value:.1f}" for value in lost]
        rows.append(
            [victim, str(len(part)), str(found["rebuilt"]), *cells, str(found["with_leftovers"])]
        )
    heads = figures("runs", "rebuilt", "lost median, ms", "lost worst, ms", "leftovers")
    title = f"load {os.getloadavg()[0]:.1f}, bar: all rebuilt, lost ≤ {MOST_LOST_MS:g} ms"
    show_table(Table([*words("killed"), *heads], rows, title), Console())


if __name__ == "__main__":
    typer.run(main)
